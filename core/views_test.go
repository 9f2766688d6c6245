package core_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// TestViewsThatFail renders pages with functions of the application that panic or return no page: for an action, and
// for an error page.
func TestViewsThatFail(t *testing.T) {
	t.Parallel()
	for name, draw := range map[string]func() templ.Component{
		"a panic": func() templ.Component { panic("boom") },
		"no page": func() templ.Component { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			views := ui.Views{
				SignIn:  func(ui.SignInView) templ.Component { return draw() },
				SignOut: func(ui.SignOutView) templ.Component { return draw() },
				Error:   func(ui.ErrorView) templ.Component { return draw() },
			}
			broken := brokenStore{func() error { panic("boom") }}
			a := newApp(t, core.Config{Views: views, Store: broken, Providers: []core.Provider{plainOAuth()}})
			b := visit(t, a)
			b.header.Set("Accept", "text/html")
			for _, target := range []string{"signin", "signout", "error", "signin?callbackUrl=ftp%3A%2F%2Fx"} {
				if r := b.get("/auth/" + target); r.Status != http.StatusInternalServerError || r.Err == nil {
					t.Errorf("%s: got status %d, %v", target, r.Status, r.Err)
				}
			}
			b.cookies[sessionCookie] = "s1"
			_, refusal := a.Visit(t.Context(), b.pageRequest()).Require()
			if refusal == nil || refusal.Status != http.StatusInternalServerError {
				t.Errorf("the guard responded %+v", refusal)
			}
			_, err := core.New(core.Config{Views: views, Getenv: func(string) string { return "" }})
			tenants := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) { return nil, err })
			if r := visit(t, tenants).get("/auth/signin"); r.Status != http.StatusInternalServerError {
				t.Errorf("without a configuration: got status %d", r.Status)
			}
		})
	}
}
