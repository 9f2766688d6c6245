package secondfactor_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
)

// TestCost counts the calls to the store and the routes, with and without the plugin. A signed-in request makes no call
// more, also for a user with a second factor. A sign-in reads the factors and stores how the user has authenticated.
// Without the plugin there is no route.
func TestCost(t *testing.T) {
	for _, strategy := range strategies {
		cost := func(present, enrolled bool) (signIn, session, visit int64) {
			var calls atomic.Int64
			s := newSite(t, setup{strategy: strategy, configure: func(c *core.Config) {
				c.Observe = func(ctx context.Context, call observe.Call) (context.Context, func(observe.Outcome)) {
					if call.Target == observe.Store {
						calls.Add(1)
					}
					return ctx, func(observe.Outcome) {}
				}
				if !present {
					c.Plugins = nil
				}
			}})
			routes := slices.ContainsFunc(s.auth.Routes(), func(r core.Route) bool {
				return strings.Contains(r.Path, "second-factor")
			})
			if routes != present {
				t.Errorf("%s: routes of the plugin: %v", strategy, routes)
			}
			count := func(do func()) int64 {
				before := calls.Load()
				do()
				return calls.Load() - before
			}
			b := s.browse()
			signIn = count(func() { b.signIn(ada) })
			if enrolled {
				b.enroll()
			}
			b.ask("session") // reads the revocation list for the first time
			session = count(func() { b.ask("session") })
			visit = count(func() {
				r := &core.Request{
					Method: "GET", Target: "/page", Hosts: []string{"app.example"}, Scheme: "https",
					Header: http.Header{"Cookie": {b.cookieHeader()}},
				}
				if found, err := s.auth.Session(t.Context(), r, http.Header{}); err != nil || found == nil {
					t.Fatalf("%s: %v, %v", strategy, found, err)
				}
			})
			return signIn, session, visit
		}
		signIn, session, visit := cost(false, false)
		for _, enrolled := range []bool{false, true} {
			with, withSession, withVisit := cost(true, enrolled)
			if with != signIn+2 || withSession != session || withVisit != visit {
				t.Errorf("%s, enrolled %v: sign-in %d, with the plugin %d; session %d, %d; page %d, %d", strategy, enrolled,
					signIn, with, session, withSession, visit, withVisit)
			}
		}
	}
}

// TestAdvice: each weakness of the configuration is reported, and nothing else.
func TestAdvice(t *testing.T) {
	for name, row := range map[string]struct {
		options secondfactor.Options
		want    int
	}{
		"defaults":        {secondfactor.Options{}, 1}, // this site sends no emails
		"required":        {secondfactor.Options{Required: secondfactor.Always}, 3},
		"with a support":  {secondfactor.Options{Required: secondfactor.Always, Support: "/help"}, 2},
		"trusts too long": {secondfactor.Options{Remember: 91 * 24 * time.Hour}, 2},
		"trusts nobody":   {secondfactor.Options{Remember: -1}, 1},
	} {
		var said []string
		newSite(t, setup{options: row.options}).factors.Advise(func(what, fix string) { said = append(said, what+": "+fix) })
		if len(said) != row.want {
			t.Errorf("%s: %q", name, said)
		}
	}
}
