package postgres_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/sqltest"
	"github.com/latchkey-go/latchkey/storage/postgres"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// execute runs statements on its own connection.
func execute(t testing.TB, dsn string, statements ...string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // for cleanups too
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// count returns the number that a query selects.
func count(t testing.TB, dsn, query string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// open opens and migrates a store until the test ends. At most one layout is used.
func open(t testing.TB, dsn string, layout ...postgres.Layout) *postgres.Store {
	t.Helper()
	var options postgres.Options
	for _, options.Layout = range layout {
	}
	s, err := postgres.Open(dsn, options)
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
// schema takes ten times as long as most cases.
func emptied(t *testing.T, dsn string, s core.Store) func(t *testing.T) core.Store {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	var empty string // referenced tables are last
	err = conn.QueryRow(t.Context(), `
		SELECT string_agg(format('DELETE FROM %I', relname), ';' ORDER BY EXISTS
			(SELECT 1 FROM pg_constraint WHERE contype = 'f' AND confrelid = c.oid))
		FROM pg_class c WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
			AND relname <> 'latchkey_schema'`).Scan(&empty)
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T) core.Store {
		t.Helper()
		if _, err := conn.Exec(t.Context(), empty); err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestLarge(t *testing.T) { storetest.Large(t, open(t, engines.PostgresSchema(t)), 100_000, 1000) }

// TestLinguisticOrder: in an index with a linguistic order the addresses with a prefix are not next to each other.
func TestLinguisticOrder(t *testing.T) {
	for collation, supported := range map[string]bool{"C": true, "ucs_basic": true, "en-x-icu": false, "de-x-icu": false} {
		t.Run(collation, func(t *testing.T) {
			dsn := engines.PostgresSchema(t)
			s := open(t, dsn)
			if count(t, dsn, "SELECT COUNT(*) FROM pg_collation WHERE collname = '"+collation+"'") == 0 {
				t.Fatal("the server does not have this collation: build PostgreSQL with ICU")
			}
			execute(t, dsn, `ALTER TABLE users ALTER COLUMN email TYPE text COLLATE "`+collation+`"`)
			for _, email := range []string{"ada@example.com", "Ada@example.com", "b@example.com"} {
				if _, err := s.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: email}); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 { // the second time from memory
				users, _, err := s.ListUsersByEmail(t.Context(), "ada", "", 10)
				switch {
				case !supported && !errors.Is(err, store.ErrUnsupported), supported && err != nil:
					t.Errorf("error %v", err)
				case supported && (len(users) != 1 || users[0].Email != "ada@example.com"):
					t.Errorf("%d users", len(users))
				}
			}
		})
	}
}

func TestContract(t *testing.T) {
	dsn := engines.PostgresSchema(t)
	storetest.Run(t, emptied(t, dsn, open(t, dsn)))
	t.Logf("postgres: %d cases", storetest.Count())
}

func TestContractFromPool(t *testing.T) {
	dsn := engines.PostgresSchema(t)
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s, err := postgres.NewFromPool(pool, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.Run(t, emptied(t, dsn, s))
}

func TestSealed(t *testing.T) { dbtest.Sealed(t, (*postgres.Store)(nil)) }

// TestConnectionsAreKept uses all connections of a pool concurrently. Later requests must find them open.
func TestConnectionsAreKept(t *testing.T) {
	dsn := engines.PostgresSchema(t) + "&application_name=kept"
	sqltest.AtOnce(t, open(t, dsn), 8)
	const query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'kept' AND pid <> pg_backend_pid()"
	if n := count(t, dsn, query); n != 8 {
		t.Errorf("%d connections are left, want 8", n)
	}
}
