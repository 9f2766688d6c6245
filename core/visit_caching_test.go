package core_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// TestReadingTheSessionKeepsSharedCachesOff reads the session in each way that there is, with and without one. The
// response says that it depends on it.
func TestReadingTheSessionKeepsSharedCachesOff(t *testing.T) {
	t.Parallel()
	type role struct{ Name string }
	data := &core.Data[role]{Load: func(context.Context, *core.User) (role, error) { return role{"admin"}, nil }}
	never := func(context.Context, *core.Session) error { return core.ErrForbidden }
	old := func(context.Context, *core.Session) error { return &core.StepUp{} }
	reads := map[string]func(a *core.Auth, v *core.Visit, r *core.Request) *core.Response{
		"Visit.Session": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response { _, _ = v.Session(); return nil },
		"SessionFrom": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_, _ = core.SessionFrom(v)
			return nil
		},
		"Data.From": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_, _, _ = data.From(v)
			return nil
		},
		"a component": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_ = ui.SignedIn().Render(v, &strings.Builder{})
			return nil
		},
		"Auth.Session": func(a *core.Auth, v *core.Visit, r *core.Request) *core.Response {
			_, _ = a.Session(v, r, http.Header{})
			return nil
		},
		"Auth.RawToken": func(a *core.Auth, v *core.Visit, r *core.Request) *core.Response {
			_, _ = a.RawToken(v, r)
			return nil
		},
		"Auth.Token": func(a *core.Auth, v *core.Visit, r *core.Request) *core.Response {
			_, _ = a.Token(v, r)
			return nil
		},
		"a guard": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_, refusal := v.Require()
			return refusal
		},
		"a guard of paths": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_, refusal := v.RequireWhere(core.Under("/"))
			return refusal
		},
		"a guard that refuses": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_, refusal := v.Require(never)
			return refusal
		},
		"a guard that asks again": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_, refusal := v.Require(old)
			return refusal
		},
		"a condition that panics": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_, refusal := v.RequireWhere(func(*core.Request) bool { panic("boom") })
			return refusal
		},
	}
	for name, read := range reads {
		for _, who := range []string{"signed in", "signed out", "bearer"} {
			for _, accept := range []string{"text/html", "application/json"} {
				t.Run(name+", "+who+", "+accept, func(t *testing.T) {
					a, _ := factual(t, core.StrategyJWT, func(c *core.Config) { c.Session.Bearer, c.Data = true, data })
					b := visit(t, a)
					b.header.Set("Accept", accept)
					if who != "signed out" {
						b.signIn("1")
					}
					if who == "bearer" {
						b.header.Set("Authorization", "Bearer "+b.cookies[sessionCookie])
						b.cookies = map[string]string{}
					}
					r := b.request("GET", "/page", "", "")
					v := a.Visit(t.Context(), r)
					h := http.Header{}
					if refusal := read(a.Auth, v, r); refusal != nil {
						refusal.Fill(h)
					}
					v.Commit(h)
					vary := strings.Join(h["Vary"], ", ")
					if !strings.Contains(vary, "Cookie") || !strings.Contains(vary, "Authorization") ||
						!slices.ContainsFunc(h["Cache-Control"], func(s string) bool { return strings.HasPrefix(s, "private") }) {
						t.Errorf("shared caches may keep it: %v", h)
					}
				})
			}
		}
	}
}
