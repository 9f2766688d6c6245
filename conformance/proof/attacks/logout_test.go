package main

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// within runs do as one attack.
func within(t *testing.T, do func(a *attack)) {
	t.Helper()
	a := &attack{Context: t.Context(), adapter: "stdlib", file: &file{}}
	a.run(do)
	for _, p := range a.problems {
		t.Error(p)
	}
}

func logoutToken(x *app, id string, claims map[string]any) string {
	now := x.clock().Unix()
	all := map[string]any{
		"iss": issuer, "aud": clientID, "sub": "u1", "iat": now, "exp": now + 120, "jti": id,
		"events": map[string]any{logoutEvent: map[string]any{}},
	}
	patch(all, claims)
	return signed(map[string]any{"alg": "RS256", "kid": "rs1", "typ": "logout+jwt"}, all, "rs1")
}

// TestBackChannelLogoutCallback ends JWT sessions with callbacks. If a callback fails, the logout token counts as
// unused.
func TestBackChannelLogoutCallback(t *testing.T) {
	within(t, func(a *attack) {
		var mu sync.Mutex
		fails, ended := true, map[string]bool{}
		var last core.BackChannelLogoutParams
		x := a.open(func(c *core.Config) {
			c.Callbacks.BackChannelLogout = func(_ context.Context, p core.BackChannelLogoutParams) error {
				mu.Lock()
				defer mu.Unlock()
				if fails {
					return errors.New("the list is down")
				}
				last = p
				if p.User != nil {
					ended[p.User.ID] = true
				}
				return nil
			}
			c.JWT.Revoked = func(_ context.Context, token *core.Token) (bool, error) {
				mu.Lock()
				defer mu.Unlock()
				return ended[token.Subject], nil
			}
		})
		b := x.browser("u1")
		x.signIn(b)
		token := logoutToken(x, "1", nil)
		if status, _ := x.logout(token); status != 400 || b.who() == "" {
			t.Errorf("a callback that fails: %d, %q", status, b.who())
		}
		mu.Lock()
		fails = false
		mu.Unlock()
		if status, noStore := x.logout(token); status != 200 || !noStore || b.who() != "" {
			t.Errorf("answered %d, the session is of %q", status, b.who())
		}
		if last.Provider != "b" || last.Subject != "u1" || last.User == nil {
			t.Errorf("the callback got %+v", last)
		}
		if status, _ := x.logout(token); status != 400 {
			t.Errorf("the same token again: %d", status)
		}
		status, _ := x.logout(logoutToken(x, "2", map[string]any{"sub": "$del", "sid": "s1"}))
		if status != 200 || last.SessionID != "s1" || last.User != nil {
			t.Errorf("a session without a person: %d, %+v", status, last)
		}
		if status, _ := x.logout(logoutToken(x, "3", map[string]any{"sub": "nobody"})); status != 200 {
			t.Errorf("a person without an account: %d", status)
		}
	})
}

// TestBackChannelLogoutStore ends the database sessions of one user only.
func TestBackChannelLogoutStore(t *testing.T) {
	within(t, func(a *attack) {
		x := a.open(func(c *core.Config) {
			c.Session.Strategy, c.Providers = core.StrategyDatabase, c.Providers[:4]
		})
		first, second, other := x.browser("u1"), x.browser("u1"), x.browser("u2")
		for _, b := range []*browser{first, second, other} {
			x.signIn(b)
		}
		if status, _ := x.logout(logoutToken(x, "1", map[string]any{"sub": "$del", "sid": "s1"})); status != 400 {
			t.Errorf("a session without a person: %d", status)
		}
		status, _ := x.logout(logoutToken(x, "2", nil))
		if status != 200 || first.who() != "" || second.who() != "" || other.who() != "u2@op.example" {
			t.Errorf("answered %d; sessions of %q, %q and %q", status, first.who(), second.who(), other.who())
		}
	})
}

// TestBackChannelLogoutOff: the action does not exist if it could end no session.
func TestBackChannelLogoutOff(t *testing.T) {
	within(t, func(a *attack) {
		x := a.open(nil)
		if status, _ := x.logout(logoutToken(x, "1", nil)); status != 400 || x.op.all() != 0 {
			t.Errorf("answered %d after %d requests", status, x.op.all())
		}
	})
}
