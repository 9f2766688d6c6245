package core_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// passwords is a credentials provider with one user.
func passwords() *core.CredentialsProvider {
	return &core.CredentialsProvider{
		Authorize: func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
			if form["email"] == "ada@example.com" && form["password"] == "engine" {
				return &core.User{ID: "1", Name: "Ada", Email: "ada@example.com"}, nil
			}
			return nil, nil
		},
	}
}

func signIn(t *testing.T, b *browser) {
	t.Helper()
	r := b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
	if r.Status != 302 || r.Redirect != "https://app.test" {
		t.Fatalf("sign-in answered %d to %q: %v", r.Status, r.Redirect, r.Err)
	}
}

func TestCredentialsSignInAndOut(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	if got := string(b.get("/auth/session").Body); got != "null" {
		t.Errorf("session before sign-in: %s", got)
	}
	signIn(t, b)
	want := `{"user":{"name":"Ada","email":"ada@example.com"},"expires":"2030-01-31T00:00:00.000Z"}`
	if got := string(b.get("/auth/session").Body); got != want {
		t.Errorf("session after sign-in:\n got %s\nwant %s", got, want)
	}
	if r := b.submit("/auth/signout", nil); r.Status != 302 {
		t.Errorf("sign-out answered %d", r.Status)
	}
	if got := string(b.get("/auth/session").Body); got != "null" {
		t.Errorf("session after sign-out: %s", got)
	}
}

func TestSessionExpires(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Session: core.SessionConfig{MaxAge: time.Hour}})
	for _, row := range []struct {
		name    string
		after   time.Duration
		present bool
	}{
		{"fresh", 0, true},
		{"within the tolerance for clocks", time.Hour + 14*time.Second, true},
		{"expired", time.Hour + 16*time.Second, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			a.clock.now = start
			b := visit(t, a)
			signIn(t, b)
			a.clock.Advance(row.after)
			r := b.get("/auth/session")
			if got := string(r.Body) != "null"; got != row.present {
				t.Errorf("session present: %v, want %v", got, row.present)
			}
			if _, kept := b.cookies["__Secure-authjs.session-token"]; kept != row.present {
				t.Errorf("cookie kept: %v, want %v", kept, row.present)
			}
		})
	}
}

func TestCallbacksShapeTheSession(t *testing.T) {
	t.Parallel()
	type extra struct {
		Role string `json:"role"`
	}
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords()},
		Callbacks: core.Callbacks{
			JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				if p.Trigger == core.TriggerSignIn {
					return p.Token, p.Token.Extra.Merge(extra{Role: "admin"})
				}
				return p.Token, nil
			},
			Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
				var e extra
				if err := p.Token.Extra.Decode(&e); err != nil {
					return nil, err
				}
				return p.Session, p.Session.Extra.Merge(e)
			},
		},
	})
	b := visit(t, a)
	signIn(t, b)
	if got := string(b.get("/auth/session").Body); !strings.Contains(got, `"role":"admin"`) {
		t.Errorf("session: %s", got)
	}
}

func TestVisitReadsOnceAndRenewsRarely(t *testing.T) {
	t.Parallel()
	reads := 0
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords()},
		Events:    core.Events{Session: func(context.Context, core.SessionEvent) error { reads++; return nil }},
	})
	b := visit(t, a)
	signIn(t, b)
	page := func() int {
		v := core.Begin(t.Context(), a, b.request("GET", "/", "", ""))
		for range 3 {
			if s, err := core.SessionFrom(v); err != nil || s == nil || s.UserID != "1" {
				t.Fatalf("session %v, error %v", s, err)
			}
		}
		return len(answerOf(v)["Set-Cookie"])
	}
	if set := page(); set != 0 || reads != 1 {
		t.Errorf("%d cookies set and %d reads, want 0 and 1", set, reads)
	}
	a.clock.Advance(25 * time.Hour)
	if set := page(); set != 1 {
		t.Errorf("%d cookies set after UpdateAge, want 1", set)
	}
}
