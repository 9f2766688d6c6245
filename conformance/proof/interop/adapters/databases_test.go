package adapters_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/mongodb"
	"github.com/latchkey-go/latchkey/storage/mysql"
	"github.com/latchkey-go/latchkey/storage/postgres"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// database is an empty database that both sides use.
type database struct {
	settings settings
	// open opens the store without a migration.
	open func(t *testing.T) fullStore
	// execute runs statements as another program.
	execute func(t *testing.T, statements ...string)
}

// fullStore has the interfaces that all stores implement.
type fullStore interface {
	store.SessionStore
	core.Store
	store.VerificationTokenStore
	store.AccountStore
	store.UserDeleter
	store.Cleaner
	Migrate(ctx context.Context) error
}

// ddl returns the statements of an adapter's documentation or tool that create its tables.
func ddl(t *testing.T, engine, adapter string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "storage", engine, "testdata", adapter+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(strings.TrimSpace(string(text)), ";"), ";\n")
}

func executeOn(t *testing.T, driver, dsn string, statements ...string) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		if _, err := db.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil { // also runs in a cleanup
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// opened closes a SQL store at the end of its test.
func opened(t *testing.T, s interface {
	fullStore
	Close() error
}, err error) fullStore {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func onSQLite(layout sqlite.Layout) func(t *testing.T) database {
	return func(t *testing.T) database {
		path := filepath.Join(t.TempDir(), "app.db")
		executeOn(t, "sqlite", sqlite.DSN(path)) // with a write-ahead log from the start
		return database{
			settings: settings{URL: "file:" + path},
			open: func(t *testing.T) fullStore {
				s, err := sqlite.Open(path, sqlite.Options{Layout: layout})
				return opened(t, s, err)
			},
			execute: func(t *testing.T, statements ...string) { executeOn(t, "sqlite", sqlite.DSN(path), statements...) },
		}
	}
}

func onPostgres(layout postgres.Layout) func(t *testing.T) database {
	return func(t *testing.T) database {
		u, err := url.Parse(engines.PostgresSchema(t))
		if err != nil {
			t.Fatal(err)
		}
		return database{
			settings: settings{URL: engines.Postgres(t), Name: u.Query().Get("search_path")},
			open: func(t *testing.T) fullStore {
				s, err := postgres.Open(u.String(), postgres.Options{Layout: layout})
				return opened(t, s, err)
			},
			execute: func(t *testing.T, statements ...string) { executeOn(t, "pgx", u.String(), statements...) },
		}
	}
}

func onMariaDB(layout mysql.Layout) func(t *testing.T) database {
	return func(t *testing.T) database {
		config, err := driver.ParseDSN(engines.MariaDBDatabase(t))
		if err != nil {
			t.Fatal(err)
		}
		u := url.URL{
			Scheme: "mysql", User: url.UserPassword(config.User, config.Passwd),
			Host: config.Addr, Path: config.DBName,
		}
		return database{
			settings: settings{URL: u.String()},
			open: func(t *testing.T) fullStore {
				s, err := mysql.Open(config.FormatDSN(), mysql.Options{Layout: layout})
				return opened(t, s, err)
			},
			execute: func(t *testing.T, statements ...string) { executeOn(t, "mysql", config.FormatDSN(), statements...) },
		}
	}
}

func onMongoDB(t *testing.T) database {
	address := engines.MongoDB(t)
	client, err := mongo.Connect(options.Client().ApplyURI(address))
	if err != nil {
		t.Fatal(err)
	}
	db := client.Database("t" + strings.ToLower(rand.Text()))
	t.Cleanup(func() {
		_ = db.Drop(context.WithoutCancel(t.Context()))
		_ = client.Disconnect(context.WithoutCancel(t.Context()))
	})
	return database{
		settings: settings{URL: address, Name: db.Name()},
		open: func(t *testing.T) fullStore {
			s, err := mongodb.New(db, mongodb.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
}
