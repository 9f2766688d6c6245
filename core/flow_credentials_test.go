package core_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// TestCredentialsAloneWithAStore configures a store, credentials and no strategy. Sessions are in the store, which must
// contain the user. If it does not, the log names two fixes: store the user, or use the other strategy
// (docs/protocol.md §10).
func TestCredentialsAloneWithAStore(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		strategy core.Strategy
		stored   bool
		in       bool
		records  int
	}{
		{"no strategy, a stored user", "", true, true, 1},
		{"no strategy, a user of the application's", "", false, false, 0},
		{"jwt, a user of the application's", core.StrategyJWT, false, true, 0},
		{"jwt, a stored user", core.StrategyJWT, true, true, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			store := newPeople()
			ada := &core.User{ID: "1", Name: "Ada", Email: "ada@example.com"}
			if row.stored {
				if _, err := store.CreateUser(t.Context(), ada); err != nil {
					t.Fatal(err)
				}
			}
			a := newApp(t, core.Config{
				Store: store.as(power{}), Session: core.SessionConfig{Strategy: row.strategy},
				Providers: []core.Provider{&core.CredentialsProvider{
					Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return ada, nil },
				}},
			})
			b := visit(t, a)
			b.submit("/auth/callback/credentials", url.Values{"password": {"x"}})
			if (b.who() == "ada") != row.in || len(store.sessions) != row.records {
				t.Errorf("signed in as %q, %d records", b.who(), len(store.sessions))
			}
			told := strings.Contains(a.log.String(), "CreateUser") && strings.Contains(a.log.String(), "StrategyJWT")
			if told == row.in {
				t.Errorf("the log is %s", a.log)
			}
		})
	}
}

// TestAdmitChecksAgain changes the credentials between Authorize and the new session. When core calls still, the
// session or the pending sign-in is already stored, so that a change which ends all sessions ends it too.
func TestAdmitChecksAgain(t *testing.T) {
	t.Parallel()
	changed := core.NewError(core.ErrCredentialsSignin, nil)
	for _, strategy := range strategies {
		for _, row := range []struct {
			name   string
			gated  bool
			still  error
			panics bool
		}{
			{name: "it stands"},
			{name: "it has changed", still: changed},
			{name: "it cannot be found out", panics: true},
			{name: "with a gate, unchanged", gated: true},
			{name: "with a gate, changed", gated: true, still: changed},
		} {
			t.Run(string(strategy)+" "+row.name, func(t *testing.T) {
				t.Parallel()
				var w *town
				var k *keptRecords
				asked, events := 0, 0
				still := func(context.Context) error {
					asked++
					switch stored := len(w.sessions) == 1; {
					case row.gated && k.count() == 0:
						t.Error("called before the pending sign-in was stored")
					case !row.gated && stored != (strategy == core.StrategyDatabase):
						t.Errorf("%d sessions are stored", len(w.sessions))
					case row.panics:
						panic("no answer")
					}
					return row.still
				}
				w = newTown(t, power{}, strategy, func(c *core.Config) {
					c.Store, k = c.Store.(struct{ least }).least.(*people).records()
					admit(c, still)
					if row.gated {
						c.Plugins = append(c.Plugins, &toyFactor{name: "toyfactor"})
					}
					c.Events.SignIn = func(context.Context, core.SignInEvent) error { events++; return nil }
				})
				w.users["u1"] = core.User{ID: "u1", Email: "u1@x.example", EmailVerified: start}
				b := w.browser()
				b.get("/auth/signin")
				r := b.submit("/auth/callback/credentials", url.Values{"id": {"u1"}})
				good := row.still == nil && !row.panics
				if asked != 1 || (r.Err == nil) != good {
					t.Fatalf("called %d times, response %d %s: %v", asked, r.Status, r.Redirect, r.Err)
				}
				in := good && !row.gated
				if (w.who(b) == "u1") != in || (b.cookies[sessionCookie] != "") != in || (events == 1) != in {
					t.Errorf("signed in is %q, with cookies %v and %d events", w.who(b), b.cookies, events)
				}
				if !in && len(w.sessions) != 0 {
					t.Errorf("%d sessions are left", len(w.sessions))
				}
				if row.gated && (r.Redirect == "https://app.test/auth/toyfactor") != good {
					t.Errorf("sent to %s", r.Redirect)
				}
			})
		}
	}
}

// TestRefusedAfterCancellation checks that the session of a user whom Admit refuses is deleted even if the client has
// disconnected.
func TestRefusedAfterCancellation(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	w := newTown(t, power{}, core.StrategyDatabase, func(c *core.Config) {
		admit(c, func(context.Context) error {
			leave()
			return core.NewError(core.ErrCredentialsSignin, nil)
		})
	})
	w.users["u1"] = core.User{ID: "u1", Email: "u1@x.example", EmailVerified: start}
	b := w.browser()
	form := url.Values{"csrfToken": {b.csrf()}, "id": {"u1"}}.Encode()
	r := b.auth.Handle(ctx, b.request("POST", "/auth/callback/credentials", "application/x-www-form-urlencoded", form))
	if r.Err == nil || len(w.sessions) != 0 {
		t.Errorf("%d sessions remain, status %d: %v", len(w.sessions), r.Status, r.Err)
	}
}

// admit sets Admit instead of Authorize.
func admit(c *core.Config, still func(context.Context) error) {
	for _, p := range c.Providers {
		if p, ok := p.(*core.CredentialsProvider); ok {
			authorize := p.Authorize
			p.Authorize = nil
			p.Admit = func(ctx context.Context, fields map[string]string, r *core.Request) (
				*core.User, func(context.Context) error, error,
			) {
				user, err := authorize(ctx, fields, r)
				return user, still, err
			}
		}
	}
}

// TestAuthorizeThatIsBusy returns a Problem with Retry-After from Authorize: it must not count as a wrong attempt.
func TestAuthorizeThatIsBusy(t *testing.T) {
	t.Parallel()
	busy := &core.Problem{Status: http.StatusServiceUnavailable, Code: "busy", RetryAfter: 2500 * time.Millisecond}
	a := newApp(t, core.Config{Providers: []core.Provider{&core.CredentialsProvider{
		Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, busy },
	}}})
	for accept, contentType := range map[string]string{
		"text/html": "text/html", "application/json": "application/problem+json",
	} {
		b := visit(t, a)
		b.header.Set("Accept", accept)
		r := b.submit("/auth/callback/credentials", url.Values{"name": {"ada"}})
		if r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != "3" || r.Redirect != "" ||
			!strings.HasPrefix(r.Header.Get("Content-Type"), contentType) {
			t.Errorf("%s: status %d, %v", accept, r.Status, r.Header)
		}
	}
}

// TestProblemThatEnds returns a Problem with RetryAfter from an action.
func TestProblemThatEnds(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Plugins: []core.Plugin{answers(core.Action{Method: "GET", Name: "toy",
		Handle: func(context.Context, *core.ActionRequest) (*core.Response, error) {
			return nil, &core.Problem{Status: http.StatusServiceUnavailable, Code: "busy", RetryAfter: time.Second}
		}})}})
	for _, accept := range []string{"text/html", "application/json"} {
		b := visit(t, a)
		b.header.Set("Accept", accept)
		r := b.get("/auth/toy")
		if r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != "1" {
			t.Errorf("%s: status %d, %v", accept, r.Status, r.Header)
		}
	}
}

// TestLinksOfACredentialsForm checks the links of the form on the sign-in page, below the base path.
func TestLinksOfACredentialsForm(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{&core.CredentialsProvider{
		Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		Links:     []ui.Link{{Label: "Forgot <it>?", Action: "toy/forgot"}},
	}}})
	b := visit(t, a)
	b.header.Set("Accept", "text/html")
	page := string(b.get("/auth/signin").Body)
	if !strings.Contains(page, `href="/auth/toy/forgot"`) || !strings.Contains(page, "Forgot &lt;it&gt;?") {
		t.Errorf("the page has no link: %s", page)
	}
}
