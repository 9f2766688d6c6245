package postgres_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/sqltest"
	"github.com/latchkey-go/latchkey/storage/postgres"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

func TestShared(t *testing.T) {
	sqltest.Run(t, storetest.Trouble("postgres"), func(t *testing.T) sqltest.Database {
		dsn := engines.PostgresSchema(t)
		return sqltest.Database{
			Open: func(layout sqlstore.Layout) sqltest.Store {
				s, err := postgres.Open(dsn, postgres.Options{Layout: layout})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				return s
			},
			Execute:   func(statements ...string) { execute(t, dsn, statements...) },
			Count:     func(query string) int { return count(t, dsn, query) },
			DropIndex: func(_, index string) string { return "DROP INDEX " + index },
		}
	})
}

func TestLayouts(t *testing.T) {
	for name, layout := range sqltest.Layouts() {
		t.Run(name, func(t *testing.T) {
			dsn := engines.PostgresSchema(t)
			storetest.Run(t, emptied(t, dsn, open(t, dsn, layout)))
		})
	}
}

func TestCosts(t *testing.T) {
	config, err := pgx.ParseConfig(engines.PostgresSchema(t))
	if err != nil {
		t.Fatal(err)
	}
	// The driver prepares statements below the counter. A statement that is not cached would appear as an additional round
	// trip in a benchmark.
	db, n := sqltest.Count(stdlib.GetConnector(*config))
	t.Cleanup(func() { _ = db.Close() })
	s, err := postgres.New(db, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sqltest.Costs(t, s, n)
	var prepared int
	db.SetMaxOpenConns(1)
	count := "SELECT COUNT(*) FROM pg_prepared_statements WHERE statement LIKE '%sessionToken%'"
	if err := db.QueryRowContext(t.Context(), count).Scan(&prepared); err != nil {
		t.Fatal(err)
	}
	if prepared == 0 || prepared > 5 {
		t.Errorf("the driver keeps %d statements about sessions", prepared)
	}
}

var placeholder = regexp.MustCompile(`\$\d+`)

// TestPlans examines the query plan of every statement of the store, on tables of some size.
func TestPlans(t *testing.T) {
	for name, layout := range map[string]postgres.Layout{
		"default": {}, "uuids and text times": {IDs: sqlstore.UUIDs, Times: sqlstore.ISOTimes},
		"integer ids": {IDs: sqlstore.IntegerIDs},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := engines.PostgresSchema(t)
			s := open(t, dsn, layout)
			id := map[sqlstore.IDs]string{
				sqlstore.TextIDs: "'u' || n", sqlstore.IntegerIDs: "n", sqlstore.UUIDs: "md5(n::text)::uuid",
			}[layout.IDs]
			at := map[sqlstore.Times]string{
				sqlstore.NativeTimes: "now()", sqlstore.ISOTimes: "'2030-01-02T03:04:05.678Z' || n",
			}[layout.Times]
			const series = " FROM generate_series(1, 10000) AS n"
			execute(t, dsn,
				"INSERT INTO users (id, email) SELECT "+id+", 'u' || n || '@example.com'"+series,
				`INSERT INTO accounts ("userId", type, provider, "providerAccountId") SELECT `+id+`, 'oidc', 'p', n`+series,
				`INSERT INTO sessions ("sessionToken", "userId", expires) SELECT 's' || n, `+id+`, `+at+series,
				`INSERT INTO verification_token (identifier, token, expires) SELECT 'u' || n || '@example.com', n, `+at+series,
				"INSERT INTO latchkey_records SELECT 'note', 'k' || n, "+id+", '1', 1, "+at+series,
				`INSERT INTO authenticators SELECT 'c' || n, `+id+`, 'c', 'k', 0, 'singleDevice', true`+series,
				"ANALYZE",
			)
			conn, err := pgx.Connect(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close(t.Context()) }()
			for i, query := range s.Queries() {
				plan := explain(t, conn, i, query)
				if strings.Contains(plan, "Seq Scan") ||
					strings.Contains(query, `"expires" <`) && !strings.Contains(plan, "_expires") {
					t.Errorf("%s\n%s", query, plan)
				}
			}
		})
	}
}

// explain returns the generic plan of a statement.
func explain(t *testing.T, conn *pgx.Conn, i int, query string) string {
	t.Helper()
	name := fmt.Sprint("p", i)
	for _, statement := range []string{"SET plan_cache_mode = force_generic_plan", "PREPARE " + name + " AS " + query} {
		if _, err := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	execute := "EXPLAIN EXECUTE " + name
	if n := len(placeholder.FindAllString(query, -1)); n > 0 {
		execute += "(" + strings.TrimSuffix(strings.Repeat("NULL, ", n), ", ") + ")"
	}
	rows, err := conn.Query(t.Context(), execute, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return strings.Join(lines, "\n")
}

func TestSchema(t *testing.T) {
	dsn := engines.PostgresSchema(t)
	execute(t, dsn, postgres.Schema())
	s, err := postgres.Open(dsn, postgres.Options{}) // without Migrate
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	storetest.Run(t, emptied(t, dsn, s))
	dsn = engines.PostgresSchema(t)
	execute(t, dsn, postgres.Schema())
	if err := open(t, dsn).Migrate(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, dsn := range map[string]string{
		"no URL": "postgres://app:hunter22@:x/", "a port": "host=localhost port=x password=hunter22",
	} {
		_, err := postgres.Open(dsn, postgres.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "postgres: open: ") || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := postgres.NewFromPool(nil, postgres.Options{}); err == nil {
		t.Error("a nil pool was taken")
	}
	if _, err := postgres.Open("host=localhost", postgres.Options{Layout: postgres.Layout{Users: "a b"}}); err == nil {
		t.Error("a layout with a space was taken")
	}
}

// TestContractPooled uses the settings for a transaction pooler that does not support prepared statements.
func TestContractPooled(t *testing.T) {
	for _, mode := range []string{"exec", "simple_protocol", "describe_exec"} {
		t.Run(mode, func(t *testing.T) {
			for name, layout := range map[string]postgres.Layout{"default": {}, "integer ids": postgres.AuthJS()} {
				t.Run(name, func(t *testing.T) {
					dsn := engines.PostgresSchema(t)
					storetest.Run(t, emptied(t, dsn, open(t, dsn+"&default_query_exec_mode="+mode, layout)))
				})
			}
		})
	}
}

func BenchmarkSession(b *testing.B) {
	sqltest.Bench(b, func(b *testing.B) sqltest.Store { return open(b, engines.PostgresSchema(b)) })
}

func BenchmarkScale(b *testing.B) {
	at := engines.PostgresSchema(b)
	dbtest.Scale(b, open(b, at), func(letter string) {
		execute(b, at, sqltest.Doubled(func(name string) string { return `"` + name + `"` }, letter)...)
	})
}

func TestNewRefuses(t *testing.T) {
	found := postgres.Layout{Times: sqlstore.FoundTimes}
	_, err := postgres.Open("postgres://127.0.0.1/none", postgres.Options{Layout: found})
	if err == nil || !strings.Contains(err.Error(), "FoundTimes") {
		t.Errorf("times in either form, in a column that has a type: error %v", err)
	}
}
