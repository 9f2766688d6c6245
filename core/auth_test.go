package core_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestSessionSources returns the names for the description of an API.
func TestSessionSources(t *testing.T) {
	for name, row := range map[string]struct {
		auth   *core.Auth
		cookie string
		bearer bool
	}{
		"https": {process(t, newHouse(), 0), "__Secure-authjs.session-token", false},
		"http, with tokens": {process(t, newHouse(), 0, func(c *core.Config) {
			c.URL, c.Session.Bearer = "http://localhost:3000", true
		}), "authjs.session-token", true},
		"unknown origin": {process(t, newHouse(), 0, func(c *core.Config) {
			c.URL, c.TrustHost = "", core.True
		}), "__Secure-authjs.session-token", false},
		"chosen by request": {core.PerRequest("/auth", nil), "", false},
	} {
		if cookie, bearer := row.auth.SessionSources(); cookie != row.cookie || bearer != row.bearer {
			t.Errorf("%s: %q, %t", name, cookie, bearer)
		}
	}
}
