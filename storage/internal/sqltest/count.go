package sqltest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// Counts are the numbers of calls from a handle to its driver.
type Counts struct{ Prepared, Queries, Executions atomic.Int64 }

// Count returns a handle that counts its calls to the driver.
func Count(c driver.Connector) (*sql.DB, *Counts) {
	n := &Counts{}
	return sql.OpenDB(connector{c, n}), n
}

// Connector is a [driver.Connector] for a driver that has only data source names.
type Connector struct {
	DSN string
	Of  driver.Driver
}

// Connect implements [driver.Connector].
func (c Connector) Connect(context.Context) (driver.Conn, error) { return c.Of.Open(c.DSN) }

// Driver implements [driver.Connector].
func (c Connector) Driver() driver.Driver { return c.Of }

type connector struct {
	driver.Connector
	n *Counts
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	return &conn{inner, c.n}, err
}

// conn passes on the optional interfaces that the stores use.
type conn struct {
	driver.Conn
	n *Counts
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.n.Prepared.Add(1)
	inner, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	return &stmt{inner, c.n}, err
}

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
	if !errors.Is(err, driver.ErrSkip) { // after ErrSkip database/sql prepares a statement instead
		c.n.Queries.Add(1)
	}
	return rows, err
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	if !errors.Is(err, driver.ErrSkip) {
		c.n.Executions.Add(1)
	}
	return result, err
}

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

type stmt struct {
	driver.Stmt
	n *Counts
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.n.Queries.Add(1)
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.n.Executions.Add(1)
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

// Costs checks that reading a session with its user is one query, that extending it is one write, that no call prepares
// a statement, and that Migrate on a complete database is two queries.
func Costs(t *testing.T, s Store, n *Counts) {
	t.Helper()
	ctx := t.Context()
	must(t, s.Migrate(ctx))
	_, err := s.CreateUser(ctx, &store.User{ID: "u1"})
	must(t, err)
	expires := time.UnixMilli(1893553445678)
	must(t, s.CreateSession(ctx, &store.Session{Token: "s1", UserID: "u1", Expires: expires}))
	calls := func(i int) {
		_, _, err := s.SessionAndUser(ctx, "s1")
		must(t, err)
		must(t, s.UpdateSession(ctx, "s1", expires.Add(time.Duration(i)*time.Minute)))
	}
	calls(0)
	const rounds = 50
	prepared, queries, executions := n.Prepared.Load(), n.Queries.Load(), n.Executions.Load()
	for i := range rounds {
		calls(i + 1)
	}
	got := fmt.Sprintf("%d prepared, %d queries, %d executions",
		n.Prepared.Load()-prepared, n.Queries.Load()-queries, n.Executions.Load()-executions)
	if want := fmt.Sprintf("0 prepared, %d queries, %d executions", rounds, rounds); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	queries, executions = n.Queries.Load(), n.Executions.Load()
	must(t, s.Migrate(ctx))
	if n.Queries.Load()-queries != 2 || n.Executions.Load() != executions {
		t.Errorf("migrating again took %d queries and %d executions, want 2 and 0",
			n.Queries.Load()-queries, n.Executions.Load()-executions)
	}
}

// Fill creates n sessions, named s0, s1, …, which expire a second apart. Each user has ten.
func Fill(b testing.TB, s Store, n int) {
	b.Helper()
	err := s.InTransaction(b.Context(), func(ctx context.Context, tx store.Store) error {
		for i := range n {
			user := fmt.Sprint("u", i/10)
			if i%10 == 0 {
				u := &store.User{ID: user, Email: user + "@example.com", Name: "Name of " + user}
				if _, err := tx.CreateUser(ctx, u); err != nil {
					return err
				}
				if err := tx.LinkAccount(ctx, &store.Account{UserID: user, Provider: "p", ProviderAccountID: user}); err != nil {
					return err
				}
			}
			at := time.UnixMilli(1893553445678).Add(time.Duration(i) * time.Second)
			session := &store.Session{Token: store.Secret(fmt.Sprint("s", i)), UserID: user, Expires: at}
			if err := tx.(store.SessionStore).CreateSession(ctx, session); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// Bench measures the calls of every request, with two database sizes.
func Bench(b *testing.B, open func(b *testing.B) Store) {
	for _, n := range []int{1e3, 1e5} {
		s := open(b)
		Fill(b, s, n)
		token := fmt.Sprint("s", n/2)
		b.Run(fmt.Sprintf("%d sessions/read", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.SessionAndUser(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d sessions/extend", n), func(b *testing.B) {
			b.ReportAllocs()
			at := time.UnixMilli(1893553445678)
			for b.Loop() {
				at = at.Add(time.Millisecond)
				if err := s.UpdateSession(b.Context(), token, at); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d sessions/read in parallel", n), func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, _, err := s.SessionAndUser(b.Context(), token); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// Doubled returns the statements that duplicate every user in a database, as dbtest.Scale expects. Names in the
// copies end with the suffix. quote quotes a name for the database.
func Doubled(quote func(name string) string, letter string) (list []string) {
	for _, t := range []struct {
		table       string
		names, rest []string
	}{
		{"users", []string{"id", "email"}, []string{"name"}},
		{"accounts", []string{"userId", "providerAccountId"}, []string{"type", "provider"}},
		{"sessions", []string{"userId", "sessionToken"}, []string{"expires"}},
	} {
		var columns, values []string
		for _, name := range t.names {
			columns, values = append(columns, quote(name)), append(values, "CONCAT("+quote(name)+", '"+letter+"')")
		}
		for _, name := range t.rest {
			columns, values = append(columns, quote(name)), append(values, quote(name))
		}
		list = append(list, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %[1]s",
			t.table, strings.Join(columns, ", "), strings.Join(values, ", ")))
	}
	return list
}
