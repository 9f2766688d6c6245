package mysql_test

import (
	"context"
	"database/sql"
	"os"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/sqltest"
	"github.com/latchkey-go/latchkey/storage/mysql"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// execute runs statements on its own connection.
func execute(t testing.TB, dsn string, statements ...string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	ctx := context.WithoutCancel(t.Context()) // for cleanups too
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// count returns the number that a query selects.
func count(t testing.TB, dsn, query string) (n int) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// open opens and migrates a store until the test ends. At most one layout is used.
func open(t testing.TB, dsn string, layout ...mysql.Layout) *mysql.Store {
	t.Helper()
	var options mysql.Options
	for _, options.Layout = range layout {
	}
	s, err := mysql.Open(dsn, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// emptied returns one store for all cases of a contract, and empties its tables before each case, because creating a
// database takes longer than most cases.
func emptied(t *testing.T, dsn string, s core.Store) func(t *testing.T) core.Store {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1) // the setting applies to one connection
	rows, err := db.QueryContext(t.Context(), "SELECT table_name FROM information_schema.tables "+
		"WHERE table_schema = DATABASE() AND table_name <> 'latchkey_schema'")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	statements := []string{"SET FOREIGN_KEY_CHECKS = 0"}
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			t.Fatal(err)
		}
		statements = append(statements, "DELETE FROM `"+table+"`")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T) core.Store {
		t.Helper()
		for _, statement := range statements {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		return s
	}
}

func TestLarge(t *testing.T) { storetest.Large(t, open(t, engines.MariaDBDatabase(t)), 100_000, 1000) }

func TestContract(t *testing.T) {
	dsn := engines.MariaDBDatabase(t)
	storetest.Run(t, emptied(t, dsn, open(t, dsn)))
	t.Logf("mysql: %d cases", storetest.Count())
}

// TestContractOwnHandle uses a handle with an application's settings: another time zone, parsed times, and rows counted
// only when they change.
func TestContractOwnHandle(t *testing.T) {
	dsn := engines.MariaDBDatabase(t)
	config, err := driver.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.ParseTime = true
	config.Params = map[string]string{"time_zone": "'+05:00'"}
	if config.Loc, err = time.LoadLocation("Asia/Karachi"); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s, err := mysql.New(db, mysql.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.Run(t, emptied(t, dsn, s))
}

func TestSealed(t *testing.T) { dbtest.Sealed(t, (*mysql.Store)(nil)) }

// TestConnectionsAreKept uses all connections of a pool concurrently. Later requests must find them open.
func TestConnectionsAreKept(t *testing.T) {
	dsn := engines.MariaDBDatabase(t)
	sqltest.AtOnce(t, open(t, dsn), 20)
	const query = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID()"
	if n := count(t, dsn, query); n != 20 {
		t.Errorf("%d connections are left, want 20", n)
	}
}
