package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/postgres"
)

// asked counts the session lookup statements.
type asked struct{ n atomic.Int32 }

func (a *asked) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.HasPrefix(data.SQL, "SELECT") && strings.Contains(data.SQL, `WHERE s."sessionToken"`) {
		a.n.Add(1)
	}
	return ctx
}

func (*asked) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// crowd runs lookups on a pool of two connections. Lookups may use one of them, and a lock blocks the first lookup.
type crowd struct {
	dsn      string
	store    *postgres.Store
	asked    *asked
	expires  time.Time
	unlock   func()
	sessions []*store.Session // the results
	users    []*core.User
	errs     []error
	all      sync.WaitGroup
}

// plain does not change a pool.
func plain(*pgxpool.Config) {}

// newCrowd creates sessions and starts lookups.
func newCrowd(t *testing.T, prepare func(*pgxpool.Config), tokens ...string) *crowd {
	t.Helper()
	c := newSessions(t, prepare, tokens...)
	c.ask(t, tokens...)
	return c
}

// newSessions creates sessions on a pool.
func newSessions(t *testing.T, prepare func(*pgxpool.Config), tokens ...string) *crowd {
	t.Helper()
	c := &crowd{
		dsn: engines.PostgresSchema(t) + "&application_name=crowd" + strings.ToLower(t.Name()), asked: &asked{},
		expires: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	config, err := pgxpool.ParseConfig(c.dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns, config.ConnConfig.Tracer = 2, c.asked
	prepare(config)
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if c.store, err = postgres.NewFromPool(pool, postgres.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := c.store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, token := range tokens {
		u, err := c.store.CreateUser(t.Context(), &core.User{ID: "u-" + token, Name: "Name of " + token})
		if errors.Is(err, store.ErrConflict) {
			continue // two lookups of one session
		}
		if err != nil {
			t.Fatal(err)
		}
		s := &store.Session{Token: store.Secret(token), UserID: u.ID, Expires: c.expires}
		if err := c.store.CreateSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// ask starts lookups of sessions, and returns when all of them wait.
func (c *crowd) ask(t *testing.T, tokens ...string) {
	t.Helper()
	c.sessions, c.users = make([]*store.Session, len(tokens)), make([]*core.User, len(tokens))
	c.errs = make([]error, len(tokens))
	c.lock(t)
	for i, token := range tokens {
		waiting := make(chan struct{})
		ctx := dbtest.Waits(t.Context(), func() { close(waiting) })
		c.all.Go(func() { c.sessions[i], c.users[i], c.errs[i] = c.store.SessionAndUser(ctx, token) })
		<-waiting
		if i == 0 {
			eventually(t, func() bool { return c.asked.n.Load() == 1 })
		}
	}
}

// lock blocks lookups until unlock.
func (c *crowd) lock(t *testing.T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"BEGIN", "LOCK TABLE sessions"} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	c.unlock = sync.OnceFunc(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	t.Cleanup(c.unlock)
}

// TestLookUpsTogether checks that lookups that wait for a connection share one statement.
func TestLookUpsTogether(t *testing.T) {
	var tokens []string
	for i := range 17 { // a first one, and a full group
		tokens = append(tokens, fmt.Sprintf("token-%02d", i/2)) // two lookups for each session
	}
	c := newCrowd(t, plain, tokens...)
	c.unlock()
	c.all.Wait()
	if n := c.asked.n.Load(); n != 2 {
		t.Errorf("%d statements", n)
	}
	own := map[*core.User]bool{}
	for i, token := range tokens {
		s, u, err := c.sessions[i], c.users[i], c.errs[i]
		if err != nil {
			t.Fatal(err)
		}
		if string(s.Token) != token || s.UserID != "u-"+token || !s.Expires.Equal(c.expires) ||
			u.ID != "u-"+token || u.Name != "Name of "+token || own[u] {
			t.Errorf("%s got a session of %s with %v, user shared: %v", token, s.UserID, u, own[u])
		}
		own[u] = true
	}
}

// TestLookUpsFailTogether checks that a broken connection is ErrUnavailable for all lookups of the statement, and that
// no message contains a token.
func TestLookUpsFailTogether(t *testing.T) {
	c := newCrowd(t, plain, "token-alone", "token-first", "token-second")
	const backends = "FROM pg_stat_activity WHERE application_name = 'crowdtestlookupsfailtogether' " +
		"AND wait_event_type = 'Lock'"
	for n := int32(1); n <= 2; n++ { // the first lookup, then those that waited for it
		eventually(t, func() bool {
			return c.asked.n.Load() == n && count(t, c.dsn, "SELECT COUNT(*) "+backends) == 1
		})
		execute(t, c.dsn, "SELECT pg_terminate_backend(pid) "+backends)
	}
	c.all.Wait()
	for i, err := range c.errs {
		if !errors.Is(err, store.ErrUnavailable) || !strings.HasPrefix(err.Error(), "postgres: read session") ||
			strings.Contains(err.Error(), "token-") {
			t.Errorf("%d: %v", i, err)
		}
	}
	c.unlock()
	if _, _, err := c.store.SessionAndUser(t.Context(), "token-first"); err != nil {
		t.Error(err)
	}
}

// TestLookUpsOfAbsentSessions checks that an impossible token is not found immediately, and does not affect other
// lookups.
func TestLookUpsOfAbsentSessions(t *testing.T) {
	c := newCrowd(t, plain, "token-0", "token-1")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	_, _, err := c.store.SessionAndUser(dbtest.Waits(ctx, leave), "token-1\x00")
	if !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a token with a NUL byte: %v", err)
	}
	c.unlock()
	c.all.Wait()
	if err := errors.Join(c.errs...); err != nil {
		t.Error(err)
	}
}

// TestLookUpsOfOne checks that a token that the database rejects fails only its own lookup.
func TestLookUpsOfOne(t *testing.T) {
	const first, second = "7f1c1b2e-6a53-4b65-9a0e-0f6f9a8f2a11", "7f1c1b2e-6a53-4b65-9a0e-0f6f9a8f2a12"
	c := newSessions(t, plain, first, second)
	execute(t, c.dsn, `ALTER TABLE sessions ALTER COLUMN "sessionToken" TYPE uuid USING "sessionToken"::uuid`)
	c.ask(t, first, "a stranger's", second, first)
	c.unlock()
	c.all.Wait()
	for i, err := range c.errs {
		if refused := i == 1; refused == (err == nil) || !refused && c.sessions[i].UserID != c.users[i].ID {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestLookUpsLeave checks that a lookup with a cancelled context returns immediately, and does not block the others.
func TestLookUpsLeave(t *testing.T) {
	c := newCrowd(t, plain, "token-0", "token-1", "token-2")
	ctx, leave := context.WithCancel(t.Context())
	_, _, err := c.store.SessionAndUser(dbtest.Waits(ctx, leave), "token-1")
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "postgres: read session: ") ||
		strings.Count(err.Error(), "postgres: ") != 1 {
		t.Errorf("who left got %v", err)
	}
	c.unlock()
	c.all.Wait()
	for i, err := range c.errs {
		if err != nil || c.users[i].ID != fmt.Sprint("u-token-", i) {
			t.Errorf("%d: %v, %v", i, c.users[i], err)
		}
	}
}

// TestLookUpsOfPoolsThatLook checks that lookups are not combined on a pool that prepares a connection for each
// request, because it may show each request other rows.
func TestLookUpsOfPoolsThatLook(t *testing.T) {
	for name, prepare := range map[string]func(*pgxpool.Config){
		"PrepareConn": func(c *pgxpool.Config) {
			c.PrepareConn = func(context.Context, *pgx.Conn) (bool, error) { return true, nil }
		},
		"BeforeAcquire": func(c *pgxpool.Config) {
			//lint:ignore SA1019 pools still have it
			c.BeforeAcquire = func(context.Context, *pgx.Conn) bool { return true } //nolint:staticcheck // the same
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(t, prepare, "token-0", "token-1", "token-2", "token-3")
			c.unlock()
			c.all.Wait()
			if n := c.asked.n.Load(); n != 4 {
				t.Errorf("%d statements for 4 visitors", n)
			}
			if err := errors.Join(c.errs...); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLookUpsInTransactions checks that lookups in a transaction see its uncommitted rows and are not combined with
// others.
func TestLookUpsInTransactions(t *testing.T) {
	s := open(t, engines.PostgresSchema(t))
	u, err := s.CreateUser(t.Context(), &core.User{ID: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.InTransaction(t.Context(), func(ctx context.Context, tx store.Store) error {
		sessions := tx.(store.SessionStore)
		if err := sessions.CreateSession(ctx, &store.Session{Token: "token", UserID: u.ID, Expires: time.Now()}); err != nil {
			return err
		}
		if _, _, err := s.SessionAndUser(t.Context(), "token"); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("a lookup outside of the transaction finds it: %v", err)
		}
		_, _, err := sessions.SessionAndUser(ctx, "token")
		return err
	}); err != nil {
		t.Error(err)
	}
}
