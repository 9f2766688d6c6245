package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/sqltest"
	"github.com/latchkey-go/latchkey/storage/mysql"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

func TestShared(t *testing.T) {
	sqltest.Run(t, storetest.Trouble("mysql"), func(t *testing.T) sqltest.Database {
		dsn := engines.MariaDBDatabase(t)
		return sqltest.Database{
			Open: func(layout sqlstore.Layout) sqltest.Store {
				s, err := mysql.Open(dsn, mysql.Options{Layout: layout})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				return s
			},
			Execute:   func(statements ...string) { execute(t, dsn, statements...) },
			Count:     func(query string) int { return count(t, dsn, query) },
			DropIndex: func(table, index string) string { return "DROP INDEX " + index + " ON " + table },
		}
	})
}

func TestLayouts(t *testing.T) {
	for name, layout := range sqltest.Layouts() {
		t.Run(name, func(t *testing.T) {
			dsn := engines.MariaDBDatabase(t)
			storetest.Run(t, emptied(t, dsn, open(t, dsn, layout)))
		})
	}
}

func TestCosts(t *testing.T) {
	config, err := driver.ParseDSN(engines.MariaDBDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	connector, err := driver.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db, n := sqltest.Count(connector)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	s, err := mysql.New(db, mysql.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sqltest.Costs(t, s, n)
}

// TestPlans examines the query plan of every statement of the store, on tables of some size.
func TestPlans(t *testing.T) {
	for name, layout := range map[string]mysql.Layout{
		"default": {}, "milliseconds": {Times: sqlstore.MillisTimes}, "drizzle": mysql.Drizzle(),
	} {
		t.Run(name, func(t *testing.T) {
			dsn := engines.MariaDBDatabase(t)
			if name == "drizzle" {
				execute(t, dsn, statements(t, "testdata/drizzle.sql")...)
			}
			s := open(t, dsn, layout)
			if name != "drizzle" {
				sqltest.Fill(t, s, 2000)
			}
			db, err := sql.Open("mysql", dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			for _, query := range s.Queries() {
				if strings.Contains(query, "`expires` <") && name != "default" {
					continue // this statement compares a time with a text here
				}
				for _, step := range explain(t, db, query) {
					found := strings.HasPrefix(step["table"], "<derived") // the rows of another step, which this one counts
					if !found && (step["type"] == "ALL" || step["type"] == "index") {
						t.Errorf("%s\n%v", query, step)
					}
				}
			}
		})
	}
}

func explain(t *testing.T, db *sql.DB, query string) (steps []map[string]string) {
	t.Helper()
	if strings.HasPrefix(query, "INSERT") && strings.Contains(query, "VALUES") {
		return nil // it reads no rows
	}
	args := make([]any, strings.Count(query, "?"))
	for i := range args {
		args[i] = "2000-01-02 03:04:05"
	}
	rows, err := db.QueryContext(t.Context(), "EXPLAIN "+query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		step := map[string]string{}
		for i, name := range columns {
			step[name] = values[i].String
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}

func TestSchema(t *testing.T) {
	dsn := engines.MariaDBDatabase(t)
	execute(t, dsn, strings.Split(strings.TrimSuffix(mysql.Schema(), ";\n"), ";\n")...)
	s, err := mysql.Open(dsn, mysql.Options{}) // without Migrate
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	storetest.Run(t, emptied(t, dsn, s))
}

// TestStrictMode uses a server that would truncate texts that are too long.
func TestStrictMode(t *testing.T) {
	config, err := driver.ParseDSN(engines.MariaDBDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	config.Params = map[string]string{"sql_mode": "''"}
	s, err := mysql.Open(config.FormatDSN(), mysql.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "strict") {
		t.Errorf("error %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	_, err := mysql.Open("app:hunter22@tcp(localhost/app", mysql.Options{})
	if err == nil || strings.Contains(err.Error(), "hunter22") {
		t.Errorf("error %v", err)
	}
	if _, err := mysql.Open("tcp(localhost)/app", mysql.Options{Layout: mysql.Layout{Users: "a b"}}); err == nil {
		t.Error("a layout with a space was taken")
	}
	s, err := mysql.Open(withoutDatabase(t), mysql.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "database") {
		t.Errorf("error %v", err)
	}
}

// withoutDatabase returns a data source name without a database.
func withoutDatabase(t *testing.T) string {
	t.Helper()
	config, err := driver.ParseDSN(engines.MariaDBDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	config.DBName = ""
	return config.FormatDSN()
}

// TestDeadlocks makes transactions wait for each other. A statement outside a transaction must be retried.
func TestDeadlocks(t *testing.T) {
	s := open(t, engines.MariaDBDatabase(t))
	sqltest.Fill(t, s, 200)
	errs := make(chan error, 100)
	for i := range cap(errs) {
		go func() {
			ctx := context.WithoutCancel(t.Context())
			if _, err := s.DeleteSessions(ctx, fmt.Sprint("u", i%20)); err != nil {
				errs <- err
				return
			}
			token, user := core.Secret(fmt.Sprint("new", i)), fmt.Sprint("u", (i+1)%20)
			session := &store.Session{Token: token, UserID: user, Expires: dbtest.ExistingTime}
			err := s.CreateSession(ctx, session)
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkSession(b *testing.B) {
	sqltest.Bench(b, func(b *testing.B) sqltest.Store { return open(b, engines.MariaDBDatabase(b)) })
}

func BenchmarkScale(b *testing.B) {
	at := engines.MariaDBDatabase(b)
	dbtest.Scale(b, open(b, at), func(letter string) {
		execute(b, at, sqltest.Doubled(func(name string) string { return "`" + name + "`" }, letter)...)
	})
}

func TestNewRefuses(t *testing.T) {
	_, err := mysql.Open("root@tcp(127.0.0.1:1)/none", mysql.Options{Layout: mysql.Layout{Times: sqlstore.FoundTimes}})
	if err == nil || !strings.Contains(err.Error(), "FoundTimes") {
		t.Errorf("times in either form, in a column that has a type: error %v", err)
	}
}
