package sqlite_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/sqltest"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

func TestShared(t *testing.T) {
	sqltest.Run(t, storetest.Trouble("sqlite"), func(t *testing.T) sqltest.Database {
		path := file(t)
		return sqltest.Database{
			Open: func(layout sqlstore.Layout) sqltest.Store {
				s, err := sqlite.Open(path, sqlite.Options{Layout: layout})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				return s
			},
			Execute:   func(statements ...string) { execute(t, path, statements...) },
			Count:     func(query string) int { return count(t, path, query) },
			DropIndex: func(_, index string) string { return "DROP INDEX " + index },
		}
	})
}

func TestLayouts(t *testing.T) {
	layouts := sqltest.Layouts()
	layouts["times as found"] = sqlite.Layout{Times: sqlstore.FoundTimes, UpdatedAt: "updatedAt"}
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) core.Store { return open(t, ":memory:", layout) })
		})
	}
}

func TestCosts(t *testing.T) {
	handle, err := sql.Open("sqlite", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = handle.Close() }()
	db, n := sqltest.Count(sqltest.Connector{DSN: sqlite.DSN(file(t)), Of: handle.Driver()})
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	s, err := sqlite.New(db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sqltest.Costs(t, s, n)
}

// TestPlans examines the query plan of every statement of the store.
func TestPlans(t *testing.T) {
	for name, layout := range map[string]sqlite.Layout{
		"default": {}, "drizzle": sqlite.Drizzle(), "d1": sqlite.D1(), "prisma": sqlite.Prisma(),
		"integer ids": {IDs: sqlstore.IntegerIDs},
	} {
		path := file(t)
		s := open(t, path, layout)
		db, err := sql.Open("sqlite", sqlite.DSN(path))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		for _, query := range s.Queries() {
			for _, step := range plan(t, db, query) {
				// "expired" is the result of another step, which is only counted
				if strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "CONSTANT ROW") && step != "SCAN expired" {
					t.Errorf("%s: %s: %s", name, query, step)
				}
			}
		}
	}
}

func plan(t *testing.T, db *sql.DB, query string) (steps []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}

func TestSchema(t *testing.T) {
	path := file(t)
	execute(t, path, sqlite.Schema())
	storetest.Run(t, func(t *testing.T) core.Store {
		path := file(t)
		execute(t, path, sqlite.Schema())
		s, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s // without Migrate
	})
	if err := open(t, path).Migrate(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNewRefuses(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for name, layout := range map[string]sqlite.Layout{
		"a name with a quote":       {Users: `us"ers`},
		"a name that begins with 1": {Prefix: "1"},
		"one table twice":           {Users: "x", Accounts: "x"},
		"the table of versions":     {Users: "latchkey_schema"},
		"a column that is none":     {Columns: map[string]string{"users.nmae": "n"}},
		"a column with a space":     {Columns: map[string]string{"users.name": "n n"}},
		"an id for users":           {RecordIDs: []string{"users"}},
		"a member with a dot":       {UserMembers: []string{"a.b"}},
		"times of another kind":     {Times: 99},
	} {
		_, err := sqlite.New(db, sqlite.Options{Layout: layout})
		if err == nil || !strings.HasPrefix(err.Error(), "sqlite: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := sqlite.New(nil, sqlite.Options{}); err == nil {
		t.Error("a nil handle was taken")
	}
}

func BenchmarkSession(b *testing.B) {
	sqltest.Bench(b, func(b *testing.B) sqltest.Store { return open(b, file(b)) })
}

func BenchmarkScale(b *testing.B) {
	at := file(b)
	dbtest.Scale(b, open(b, at), func(letter string) {
		execute(b, at, sqltest.Doubled(func(name string) string { return `"` + name + `"` }, letter)...)
	})
}

// TestLayoutIsTheStoresOwn checks that changes to an application's map and lists after New do not affect the store.
func TestLayoutIsTheStoresOwn(t *testing.T) {
	layout := sqlite.Layout{
		Columns: map[string]string{"users.emailVerified": "email_verified"}, RecordIDs: []string{"accounts"},
	}
	s, err := sqlite.Open(file(t), sqlite.Options{Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	before := s.Schema()
	layout.Columns["users.emailVerified"], layout.RecordIDs[0] = "another", "sessions"
	if after := s.Schema(); after != before {
		t.Errorf("the schema was\n%s\nand is\n%s", before, after)
	}
}
