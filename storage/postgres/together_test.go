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

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/postgres"
)

// asked counts the statements that look sessions up.
type asked struct{ n atomic.Int32 }

func (a *asked) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.HasPrefix(data.SQL, "SELECT") && strings.Contains(data.SQL, `WHERE s."sessionToken"`) {
		a.n.Add(1)
	}
	return ctx
}

func (*asked) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// crowd is visitors on a pool of two connections, of which one may look sessions up. A lock keeps the first of them.
type crowd struct {
	dsn      string
	store    *postgres.Store
	asked    *asked
	expires  time.Time
	unlock   func()
	sessions []*store.Session // what each got
	users    []*core.User
	errs     []error
	all      sync.WaitGroup
}

// plain leaves a pool as it is.
func plain(*pgxpool.Config) {}

// newCrowd makes sessions and has visitors ask for them.
func newCrowd(t *testing.T, prepare func(*pgxpool.Config), tokens ...string) *crowd {
	t.Helper()
	c := newSessions(t, prepare, tokens...)
	c.ask(t, tokens...)
	return c
}

// newSessions makes sessions on a pool.
func newSessions(t *testing.T, prepare func(*pgxpool.Config), tokens ...string) *crowd {
	t.Helper()
	c := &crowd{
		dsn: schema(t) + "&application_name=crowd" + strings.ToLower(t.Name()), asked: &asked{},
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
	if c.store, err = postgres.NewFromPool(pool); err != nil {
		t.Fatal(err)
	}
	if err := c.store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, token := range tokens {
		u, err := c.store.CreateUser(t.Context(), &core.User{ID: "u-" + token, Name: "Name of " + token})
		if errors.Is(err, store.ErrConflict) {
			continue // two visitors with one session
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

// ask has visitors ask for sessions, and returns when all of them wait.
func (c *crowd) ask(t *testing.T, tokens ...string) {
	t.Helper()
	c.sessions, c.users = make([]*store.Session, len(tokens)), make([]*core.User, len(tokens))
	c.errs = make([]error, len(tokens))
	c.lock(t)
	for i, token := range tokens {
		waiting := make(chan struct{})
		ctx := storetest.Waits(t.Context(), func() { close(waiting) })
		c.all.Go(func() { c.sessions[i], c.users[i], c.errs[i] = c.store.SessionAndUser(ctx, token) })
		<-waiting
		if i == 0 {
			eventually(t, func() bool { return c.asked.n.Load() == 1 })
		}
	}
}

// lock keeps look-ups from an answer until unlock.
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

// TestLookUpsTogether: who would have to wait for a connection asks in one statement with all who wait.
func TestLookUpsTogether(t *testing.T) {
	var tokens []string
	for i := range 17 { // one, and as many as there are in a group
		tokens = append(tokens, fmt.Sprintf("token-%02d", i/2)) // the browsers have two tabs each
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

// TestLookUpsFailTogether: a connection that breaks is an outage for all whose statement was on it, and no message
// holds a token.
func TestLookUpsFailTogether(t *testing.T) {
	c := newCrowd(t, plain, "token-alone", "token-first", "token-second")
	const backends = "FROM pg_stat_activity WHERE application_name = 'crowdtestlookupsfailtogether' " +
		"AND wait_event_type = 'Lock'"
	for n := int32(1); n <= 2; n++ { // the first one, and those who waited for it
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

// TestLookUpsOfNobody: what cannot be a token is no session at once, and fails for nobody else.
func TestLookUpsOfNobody(t *testing.T) {
	c := newCrowd(t, plain, "token-0", "token-1")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	_, _, err := c.store.SessionAndUser(storetest.Waits(ctx, leave), "token-1\x00")
	if !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a token with a NUL byte: %v", err)
	}
	c.unlock()
	c.all.Wait()
	if err := errors.Join(c.errs...); err != nil {
		t.Error(err)
	}
}

// TestLookUpsOfOne: what the engine refuses of one visitor fails for that one alone.
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

// TestLookUpsLeave: a visitor who leaves is told so at once, and keeps nobody from an answer.
func TestLookUpsLeave(t *testing.T) {
	c := newCrowd(t, plain, "token-0", "token-1", "token-2")
	ctx, leave := context.WithCancel(t.Context())
	_, _, err := c.store.SessionAndUser(storetest.Waits(ctx, leave), "token-1")
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

// TestLookUpsOfPoolsThatLook: a pool that prepares a connection for whoever acquires it may show each request other
// rows. There nobody asks for another.
func TestLookUpsOfPoolsThatLook(t *testing.T) {
	for name, prepare := range map[string]func(*pgxpool.Config){
		"PrepareConn": func(c *pgxpool.Config) {
			c.PrepareConn = func(context.Context, *pgx.Conn) (bool, error) { return true, nil }
		},
		"BeforeAcquire": func(c *pgxpool.Config) {
			//lint:ignore SA1019 pools still have it
			c.BeforeAcquire = func(context.Context, *pgx.Conn) bool { return true } //nolint:staticcheck // likewise
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

// TestLookUpsInTransactions are the transaction's own: it finds what nobody else does yet.
func TestLookUpsInTransactions(t *testing.T) {
	s := open(t, schema(t))
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
			t.Errorf("somebody else finds it: %v", err)
		}
		_, _, err := sessions.SessionAndUser(ctx, "token")
		return err
	}); err != nil {
		t.Error(err)
	}
}
