package core_test

import (
	"context"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestSessionUserID: handlers find the id in the session's user; browsers see it only where the session callback shows it.
func TestSessionUserID(t *testing.T) {
	t.Parallel()
	shared := &core.User{Name: "Ada"}
	for _, row := range []struct {
		name     string
		callback func(context.Context, core.SessionParams) (*core.Session, error)
		id, user string // as the handler and as the browser see it
	}{
		{"no callback", nil, "u1", `{"name":"Ada"}`},
		{"callback that changes nothing", func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			if p.Session.User.ID != "" {
				t.Errorf("the callback gets the id %q", p.Session.User.ID)
			}
			return p.Session, nil
		}, "u1", `{"name":"Ada"}`},
		{"callback that shows the id", func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			p.Session.User.ID = p.Session.UserID
			return p.Session, nil
		}, "u1", `{"id":"u1","name":"Ada"}`},
		{"callback that shows another id", func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			p.Session.User.ID = "public-7"
			return p.Session, nil
		}, "public-7", `{"id":"public-7","name":"Ada"}`},
		{"callback that shows it as a further member", func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			return p.Session, p.Session.User.Extra.Set("id", 7)
		}, "u1", `{"name":"Ada","id":7}`},
		{"callback with a session of its own", func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			return &core.Session{User: shared, Expires: p.Session.Expires}, nil
		}, "u1", `{"name":"Ada"}`},
	} {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			t.Run(row.name+", "+string(strategy), func(t *testing.T) {
				a := newApp(t, core.Config{Store: newOneSession(), Session: core.SessionConfig{Strategy: strategy}, Callbacks: core.Callbacks{Session: row.callback}})
				b := visit(t, a)
				b.cookies[sessionCookie] = "s1"
				if strategy == core.StrategyJWT {
					delete(b.cookies, sessionCookie)
					cookies, err := a.NewSession(t.Context(), b.request("POST", "/register", "", ""), &core.User{ID: "u1", Name: "Ada"})
					if err != nil {
						t.Fatal(err)
					}
					b.keep(cookies[0])
				}
				session, err := core.SessionFrom(core.Begin(t.Context(), a, b.request("GET", "/account", "", "")))
				if err != nil || session.User.ID != row.id || session.UserID != "u1" {
					t.Fatalf("the handler sees %+v, %v", session, err)
				}
				want := `{"user":` + row.user + `,"expires":"2030-01-31T00:00:00.000Z"}`
				if own, err := session.MarshalJSON(); err != nil || string(own) != want {
					t.Errorf("written by the handler: %s, want %s", own, want)
				}
				if got := string(b.get("/auth/session").Body); got != want {
					t.Errorf("the browser sees %s, want %s", got, want)
				}
			})
		}
	}
	if shared.ID != "" {
		t.Errorf("the application's own user was changed: %q", shared.ID)
	}
}
