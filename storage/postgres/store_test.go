package postgres_test

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/postgres"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// schema makes an empty schema for one test and returns a data source name whose tables stand in it.
func schema(t testing.TB) string {
	t.Helper()
	dsn := engines.Postgres(t)
	name := "t" + strings.ToLower(rand.Text())
	execute(t, dsn, "CREATE SCHEMA "+name)
	t.Cleanup(func() { execute(t, dsn, "DROP SCHEMA "+name+" CASCADE") })
	separator := "?"
	if strings.Contains(dsn, "?") {
		separator = "&"
	}
	return dsn + separator + "search_path=" + name
}

// execute runs statements on a connection of its own.
func execute(t testing.TB, dsn string, statements ...string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // also in a cleanup
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

// open opens and migrates a store for the length of a test.
func open(t testing.TB, dsn string, layout ...postgres.Layout) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(dsn, layout...)
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
	storetest.Run(t, func(t *testing.T) core.Store { return open(t, schema(t)) })
	t.Logf("postgres: %d cases", storetest.Count())
}

func TestContractFromPool(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store {
		pool, err := pgxpool.New(t.Context(), schema(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		s, err := postgres.NewFromPool(pool)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		if err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s
	})
}

func TestSealed(t *testing.T) { storetest.Sealed(t, (*postgres.Store)(nil)) }
