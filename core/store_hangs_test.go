package core_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// hanging is a store with a database that does not respond while it is stopped.
type hanging struct {
	*people
	stopped bool
}

func (h *hanging) wait(ctx context.Context) error {
	if !h.stopped {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (h *hanging) InTransaction(ctx context.Context, do func(context.Context, core.Store) error) error {
	if err := h.wait(ctx); err != nil {
		return err
	}
	return do(ctx, h.people)
}

func (h *hanging) SessionAndUser(ctx context.Context, token string) (*store.Session, *core.User, error) {
	if err := h.wait(ctx); err != nil {
		return nil, nil, err
	}
	return h.people.SessionAndUser(ctx, token)
}

func (h *hanging) CreateSession(ctx context.Context, s *store.Session) error {
	if err := h.wait(ctx); err != nil {
		return err
	}
	return h.people.CreateSession(ctx, s)
}

func (h *hanging) User(ctx context.Context, id string) (*core.User, error) {
	if err := h.wait(ctx); err != nil {
		return nil, err
	}
	return h.people.User(ctx, id)
}

func (h *hanging) UserByEmail(ctx context.Context, email string) (*core.User, error) {
	if err := h.wait(ctx); err != nil {
		return nil, err
	}
	return h.people.UserByEmail(ctx, email)
}

// TestStoreHangs stops the database while requests arrive. Each request fails with 503 after five seconds, no session
// is lost, and everything works again when the database responds.
func TestStoreHangs(t *testing.T) {
	t.Parallel()
	for name, visitor := range map[string]struct {
		asks func(b *browser) *core.Response
		page bool
	}{
		"reads a session": {asks: func(b *browser) *core.Response { return b.get("/auth/session") }},
		"updates a session": {asks: func(b *browser) *core.Response {
			return b.submit("/auth/session", url.Values{"data": {"1"}})
		}},
		"asks for a guarded page": {page: true, asks: func(b *browser) *core.Response {
			_, response := b.auth.Visit(b.t.Context(), b.pageRequest()).Require()
			return response
		}},
		"signs in": {page: true, asks: func(b *browser) *core.Response {
			b.header.Set("Accept", "text/html")
			fields := url.Values{"email": {"ada@example.com"}, "password": {"engine"}}
			return b.submit("/auth/callback/credentials", fields)
		}},
		"signs in by a script": {asks: func(b *browser) *core.Response {
			b.header.Set("X-Auth-Return-Redirect", "1")
			fields := url.Values{"email": {"ada@example.com"}, "password": {"engine"}}
			return b.submit("/auth/callback/credentials", fields)
		}},
		"asks for a link": {page: true, asks: func(b *browser) *core.Response {
			b.header.Set("Accept", "text/html")
			return b.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &hanging{people: newPeople()}
				if _, err := s.CreateUser(t.Context(), &core.User{ID: "1", Email: "ada@example.com"}); err != nil {
					t.Fatal(err)
				}
				mail := &core.EmailProvider{Send: func(context.Context, core.Email) error { return nil }}
				a := newApp(t, core.Config{Store: s, Providers: []core.Provider{passwords(), mail}})
				b := visit(t, a)
				signIn(t, b)
				before := b.cookies[sessionCookie]

				s.stopped = true
				began := time.Now()
				r := visitor.asks(b)
				if took := time.Since(began); took != 5*time.Second {
					t.Errorf("took %v, want 5 s", took)
				}
				body := string(r.Body)
				if r.Status != 503 || r.Header.Get("Retry-After") == "" || strings.Contains(body, "configuration") {
					t.Errorf("status %d, Retry-After %q: %s", r.Status, r.Header.Get("Retry-After"), body)
				}
				if page := strings.Contains(body, "load this page in time"); page != visitor.page {
					t.Errorf("page: %v: %s", page, body)
				}
				if b.cookies[sessionCookie] != before {
					t.Error("the session cookie is another")
				}
				s.stopped = false
				clear(b.header)
				if got := string(b.get("/auth/session").Body); !strings.Contains(got, "ada@example.com") {
					t.Errorf("afterwards the session is %s", got)
				}
			})
		})
	}
}

// TestStoreTimeoutOff checks that without a StoreTimeout only the request's context limits a call.
func TestStoreTimeoutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &hanging{people: newPeople(), stopped: true}
		b := visit(t, newApp(t, core.Config{Store: s, StoreTimeout: -1}))
		b.cookies[sessionCookie] = "s1"
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		a := b.auth.Handle(ctx, b.request("GET", "/auth/session", "", ""))
		if took := time.Since(began); a.Status < 500 || took != time.Minute {
			t.Errorf("status %d after %v", a.Status, took)
		}
	})
}

// BenchmarkStoredSessionCheck measures reading a session of the database strategy, with and without a time limit.
func BenchmarkStoredSessionCheck(b *testing.B) {
	for name, timeout := range map[string]time.Duration{"limited": 0, "not limited": -1} {
		b.Run(name, func(b *testing.B) {
			rows := newSessionRows()
			rows.rows["s1"] = store.Session{Token: "s1", UserID: "1", Expires: time.Now().Add(30 * 24 * time.Hour)}
			auth, err := core.New(core.Config{
				URL: "https://app.test", Secrets: []core.Secret{testSecret}, Getenv: func(string) string { return "" },
				Logger: slog.New(slog.DiscardHandler), Store: rows, StoreTimeout: timeout,
			})
			if err != nil {
				b.Fatal(err)
			}
			request := &core.Request{
				Method: "GET", Target: "/account", Hosts: []string{"app.test"}, Scheme: "https",
				Header: http.Header{"Cookie": {sessionCookie + "=s1"}},
			}
			b.ReportAllocs()
			for b.Loop() {
				if s, err := auth.Visit(b.Context(), request).Session(); s == nil || err != nil {
					b.Fatal(s, err)
				}
			}
		})
	}
}
