package core_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// terms is a plugin whose gate shows a page before each sign-in. Its button authenticates no user.
type terms struct{}

func (terms) Attach(h *core.PluginHost) error {
	h.AddSignInGate(func(context.Context, *core.PendingSignIn) (string, error) { return "terms", nil })
	h.AddAction(core.Action{Method: http.MethodGet, Name: "terms",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			return c.JSON(ctx, http.StatusOK, nil), nil
		}})
	h.AddAction(core.Action{Method: http.MethodPost, Name: "terms",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			p, err := c.PendingSignIn(ctx)
			if err != nil {
				return nil, err
			}
			return c.CompleteSignIn(ctx, p)
		}})
	return nil
}

// silentRow is a sign-in at a provider that may have a session of its user.
type silentRow struct {
	provider        string
	reauthenticates core.OptionalBool
	// authTime returns the claim auth_time of the second sign-in. It is nil if there is none.
	authTime func(now time.Time) any
	// recent reports whether the second sign-in counts as recent.
	recent bool
}

var silentRows = map[string]silentRow{
	"no auth_time":                  {"op", core.Default, nil, false},
	"no auth_time, reauthenticates": {"op", core.True, nil, true},
	"auth_time of yesterday": {
		"op", core.Default, func(now time.Time) any { return now.AddDate(0, 0, -1).Unix() }, false,
	},
	"auth_time now":          {"op", core.Default, func(now time.Time) any { return now.Unix() }, true},
	"invalid auth_time":      {"op", core.True, func(time.Time) any { return "now" }, false},
	"OAuth":                  {"plain", core.Default, nil, false},
	"OAuth, reauthenticates": {"plain", core.True, nil, true},
}

// TestSilentSignIn: an attacker at an unlocked browser signs the user out, and in again through the provider's session.
// That is not a recent sign-in, with and without a gate. Only the first sign-in of a new user is.
func TestSilentSignIn(t *testing.T) {
	t.Parallel()
	for name, row := range silentRows {
		for _, strategy := range bothStrategies {
			for _, gated := range []bool{false, true} {
				suffix := map[bool]string{true: ", gate"}[gated]
				t.Run(name+", "+string(strategy)+suffix, func(t *testing.T) {
					t.Parallel()
					checkSilentSignIn(t, row, strategy, gated)
				})
			}
		}
	}
}

func checkSilentSignIn(t *testing.T, row silentRow, strategy core.Strategy, gated bool) {
	t.Helper()
	a := newVault(t, strategy, func(op, plain *core.OAuthProvider, c *core.Config) {
		op.Reauthenticates, plain.Reauthenticates = row.reauthenticates, row.reauthenticates
		c.Session.AbsoluteMaxAge = 30 * 24 * time.Hour
		if gated {
			c.Store, c.Plugins = newHouse(), append(c.Plugins, terms{})
		}
	})
	b := visit(t, a)
	signIn := func() *core.Session {
		t.Helper()
		b.throughOP(row.provider)
		if gated {
			if r := b.submit("/auth/terms", nil); r.Err != nil {
				t.Fatal(r.Err)
			}
		}
		s := b.session()
		if s == nil {
			t.Fatal("no session")
		}
		return s
	}
	first := signIn()
	if !first.AuthTime.Equal(start) || b.openVault() != nil {
		t.Fatalf("the first sign-in of a new user is not recent: %+v", first)
	}
	b.submit("/auth/signout", nil)
	if b.session() != nil {
		t.Fatal("still signed in")
	}
	a.clock.Advance(time.Minute) // within ten minutes of the first sign-in
	if row.authTime != nil {
		a.op.authTime = row.authTime(a.clock.Now())
	}
	again := signIn()
	if opens := b.openVault() == nil; opens != row.recent || again.UserID != first.UserID {
		t.Errorf("after a sign-out and a silent sign-in the page opens: %t; %+v", opens, again)
	}
	a.clock.Advance(29 * 24 * time.Hour) // the lifetime of the session does not depend on AuthTime
	if b.session() == nil {
		t.Error("the session ended early")
	}
	a.clock.Advance(25 * time.Hour)
	if b.session() != nil {
		t.Error("the session outlasts AbsoluteMaxAge")
	}
}

// TestFutureAuthTime: an auth_time in the future counts as now. Otherwise a sign-in would count as recent for as long
// as the provider's clock, or a provider that lies, says.
func TestFutureAuthTime(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			a := newVault(t, strategy, func(*core.OAuthProvider, *core.OAuthProvider, *core.Config) {})
			b := visit(t, a)
			a.op.authTime = a.clock.Now().Add(24 * time.Hour).Unix()
			b.throughOP("op")
			if s := b.session(); s == nil || !s.AuthTime.Equal(a.clock.Now()) || b.openVault() != nil {
				t.Fatalf("after the sign-in the session is %+v", s)
			}
			a.clock.Advance(time.Hour)
			if b.openVault() == nil {
				t.Error("the sign-in is recent an hour later")
			}
		})
	}
}

// TestSilentSignInOfOAuthUser: a user of an OAuth 2.0 service who signs in silently gets a code by email to their
// verified address, and the page opens.
func TestSilentSignInOfOAuthUser(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			mails := &inbox{}
			a := newVault(t, strategy, func(_, plain *core.OAuthProvider, c *core.Config) {
				plain.EmailVerified = func(core.Profile) bool { return true }
				c.Store, c.Providers = newHouse(), append(c.Providers, mails.provider())
			})
			b := visit(t, a)
			b.throughOP("plain")
			b.submit("/auth/signout", nil)
			b.throughOP("plain")
			before := b.session()
			if r := b.openVault(); r == nil || r.Redirect != reauthPage || !before.AuthTime.IsZero() {
				t.Fatalf("%+v, session %+v", r, before)
			}
			if ids := b.methods(""); !slices.Equal(ids, []string{"code"}) {
				t.Fatalf("offered: %v", ids)
			}
			b.submit("/auth/reauth?callbackUrl=/vault", nil)
			r := b.submit("/auth/reauth?callbackUrl=/vault", url.Values{"code": {mails.last()}})
			after := b.session()
			if r.Redirect != "https://app.test/vault" || b.openVault() != nil || after.UserID != before.UserID {
				t.Errorf("ends at %s: %v", r.Redirect, r.Err)
			}
		})
	}
}

// TestSilentSwitch: a user who switches to an existing account through the provider's session has no recent sign-in.
func TestSilentSwitch(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		a := newVault(t, strategy, nil)
		for _, sub := range []string{"u1", "u2"} { // both users exist
			a.op.claims = map[string]any{"sub": sub}
			visit(t, a).throughOP("op")
		}
		b := visit(t, a)
		a.op.claims = map[string]any{"sub": "u1"}
		location := b.start("op", "/vault")
		other := b.start("op", "/vault")
		b.callback("op", location)
		a.op.claims = map[string]any{"sub": "u2"}
		before := b.session()
		if _, r := b.callback("op", other); !strings.Contains(string(r.Body), "switchAccount") {
			t.Fatalf("%s: %d %s %s", strategy, r.Status, r.Redirect, r.Body)
		}
		r := b.submit("/auth/signin/op", url.Values{"switchAccount": {"1"}, "callbackUrl": {"/vault"}})
		b.callback("op", r.Redirect)
		if s := b.session(); s == nil || s.UserID == before.UserID || !s.AuthTime.IsZero() || b.openVault() == nil {
			t.Errorf("%s: %+v", strategy, s)
		}
	}
}
