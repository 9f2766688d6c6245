package core_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// TestHookSettlesTheToken looks at the CSRF token that forms of a page get: it fits the browser's cookie, one that is there or one
// that is on its way.
func TestHookSettlesTheToken(t *testing.T) {
	const name = "__Host-authjs.csrf-token"
	a := newApp(t, core.Config{})
	b := visit(t, a)
	b.csrf()
	good := b.cookies[name]
	for _, row := range []struct {
		what, cookie string
		first        int // cookies set before anybody asks
		then         int // cookies set when a component asks
	}{
		{"no cookie", "", 1, 0},
		{"a good one", good, 0, 0},
		{"one of another secret", strings.Repeat("0", 64) + "|" + strings.Repeat("0", 64), 0, 1},
		{"garbage", "x", 0, 1},
	} {
		t.Run(row.what, func(t *testing.T) {
			var set []core.Cookie
			r := &core.Request{Method: "GET", Target: "/page", Hosts: []string{"app.test"}, Scheme: "https", Header: http.Header{"Accept": {"text/html"}}}
			if row.cookie != "" {
				r.Header.Set("Cookie", name+"="+row.cookie)
			}
			v := core.Begin(t.Context(), a, r, func(c core.Cookie) { set = append(set, c) })
			if _, err := v.Session(); err != nil || len(set) != row.first {
				t.Errorf("%d cookies before a component asks, %v", len(set), err)
			}
			state, ok := ui.StateFrom(v)
			again, _ := ui.StateFrom(v)
			if !ok || state != again || len(set) != row.first+row.then {
				t.Fatalf("%d cookies, state %v", len(set), ok)
			}
			held := row.cookie
			if len(set) > 0 {
				held = set[0].Value
			}
			if token, _, _ := strings.Cut(held, "|"); len(state.CSRFToken) != 64 || token != state.CSRFToken {
				t.Errorf("the forms get %q, the browser holds %q", state.CSRFToken, held)
			}
		})
	}
}
