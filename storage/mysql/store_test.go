package mysql_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"os"
	"strings"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/mysql"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// database makes an empty database for one test and returns its data source name.
func database(t testing.TB) string {
	t.Helper()
	dsn := engines.MariaDB(t)
	config, err := driver.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	name := "t" + strings.ToLower(rand.Text())
	execute(t, dsn, "CREATE DATABASE "+name)
	t.Cleanup(func() { execute(t, dsn, "DROP DATABASE "+name) })
	config.DBName = name
	return config.FormatDSN()
}

// execute runs statements on a connection of its own.
func execute(t testing.TB, dsn string, statements ...string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	ctx := context.WithoutCancel(t.Context()) // also in a cleanup
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// open opens and migrates a store for the length of a test.
func open(t testing.TB, dsn string, layout ...mysql.Layout) *mysql.Store {
	t.Helper()
	s, err := mysql.Open(dsn, layout...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store { return open(t, database(t)) })
	t.Logf("mysql: %d cases", storetest.Count())
}

// TestContractOwnHandle is a handle with settings that an application may have: another time zone, parsed times, rows
// counted when they change.
func TestContractOwnHandle(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store {
		config, err := driver.ParseDSN(database(t))
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
		s, err := mysql.New(db)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s
	})
}

func TestSealed(t *testing.T) { storetest.Sealed(t, (*mysql.Store)(nil)) }
