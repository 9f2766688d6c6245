package core_test

import (
	"context"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestForgottenMount checks that an application with guards and without auth routes gets one warning, and an
// application with both gets none.
func TestForgottenMount(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name             string
		mounted, ownPage bool
		warned           int
	}{{"forgotten", false, false, 1}, {"served", true, false, 0}, {"a custom sign-in page", false, true, 0}} {
		t.Run(row.name, func(t *testing.T) {
			config := core.Config{}
			if row.ownPage {
				config.Pages.SignIn = "/login"
			}
			a := newApp(t, config)
			b := visit(t, a)
			if row.mounted {
				b.get("/auth/signin")
			}
			for range 10 {
				a.Visit(t.Context(), b.pageRequest()).Require()
			}
			if got := strings.Count(a.log.String(), "code=not-mounted"); got != row.warned {
				t.Errorf("warned %d times: %s", got, a.log)
			}
		})
	}
}

// TestForgottenMountAtTheFirstRedirect checks that the first redirect logs the warning without Mount, and the third one
// after Mount.
func TestForgottenMountAtTheFirstRedirect(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		mount   bool
		tenants bool
		warned  []int // after each redirect
	}{
		{"forgotten", false, false, []int{1, 1, 1, 1}},
		{"mounted, no route requested", true, false, []int{0, 0, 1, 1}},
		{"tenants, mounted", true, true, []int{0, 0, 1, 1}},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{})
			auth := a.Auth
			if row.tenants {
				auth = core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) { return a.Auth, nil })
			}
			if row.mount {
				auth.MountPath("")
			}
			b := visit(t, a)
			for i, want := range row.warned {
				auth.Visit(t.Context(), b.pageRequest()).Require()
				if got := strings.Count(a.log.String(), "code=not-mounted"); got != want {
					t.Errorf("redirect %d: warned %d times: %s", i+1, got, a.log)
				}
			}
		})
	}
}
