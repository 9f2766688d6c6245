package engines

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"strings"
	"testing"
)

// PostgresSchema returns the URL of a new empty schema on [Postgres]. The test program must contain pgx's driver for
// database/sql. A database instead of a schema would take a tenth of a second, because it has 300 files.
func PostgresSchema(t testing.TB) string {
	t.Helper()
	address, err := url.Parse(Postgres(t))
	check(t, err)
	name := newName()
	create(t, postgres, "pgx", address.String(), "SCHEMA "+name, "CASCADE")
	query := address.Query()
	query.Set("search_path", name)
	address.RawQuery = query.Encode()
	return address.String()
}

// MariaDBDatabase returns the data source name of a new empty database on [MariaDB]. The test program must contain
// go-sql-driver/mysql.
func MariaDBDatabase(t testing.TB) string {
	t.Helper()
	source, name := MariaDB(t), newName()
	create(t, mariadb, "mysql", source, "DATABASE "+name, "")
	database := strings.LastIndex(source, "/") + 1
	if options := strings.IndexByte(source[database:], '?'); options >= 0 {
		name += source[database+options:]
	}
	return source[:database] + name
}

func newName() string { return "t" + strings.ToLower(rand.Text()) }

// create creates a schema or database. On a server that an environment variable names, it drops it when the test ends.
func create(t testing.TB, s spec, driver, source, object, cascade string) {
	t.Helper()
	execute := func(statement string) {
		db, err := sql.Open(driver, source)
		check(t, err)
		defer func() { _ = db.Close() }()
		_, err = db.ExecContext(context.WithoutCancel(t.Context()), statement)
		check(t, err)
	}
	execute("CREATE " + object)
	if os.Getenv(s.variable) != "" {
		t.Cleanup(func() { execute("DROP " + object + " " + cascade) })
	}
}
