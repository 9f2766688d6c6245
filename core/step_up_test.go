package core_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

const stepUpCookie = "__Host-latchkey.step-up"

// vault is an application with a page that requires a recent sign-in, an OpenID provider op and an OAuth service.
type vault struct {
	*app
	op *smallOP
}

func newVault(t *testing.T, strategy core.Strategy, change func(op, plain *core.OAuthProvider, c *core.Config)) vault {
	t.Helper()
	op, plain := &smallOP{}, lenient("plain")
	provider := &core.OAuthProvider{
		ID: "op", Type: core.TypeOIDC, Issuer: "https://op.example/common", ClientID: "id", ClientSecret: "secret",
		HTTPClient: &http.Client{Transport: op},
	}
	c := core.Config{
		Store: newPeople().as(power{true, true, true, true}), Session: core.SessionConfig{Strategy: strategy},
		Plugins: []core.Plugin{asking{}}, Providers: []core.Provider{provider, plain},
	}
	if change != nil {
		change(provider, plain, &c)
	}
	a := newApp(t, c)
	op.clock = a.clock
	return vault{a, op}
}

// openVault requests the page as a browser does: nil if it opens.
func (b *browser) openVault() *core.Response {
	b.t.Helper()
	b.header.Set("Accept", "text/html")
	v := b.auth.Visit(b.t.Context(), b.request("GET", "/vault", "", ""))
	_, r := v.Require(core.RecentSignIn(10 * time.Minute))
	b.take(answerOf(v))
	return r
}

// throughOP signs in with a provider, and returns the authorization request and the response to the callback.
func (b *browser) throughOP(provider string) (url.Values, *core.Response) {
	b.t.Helper()
	location := b.start(provider, "/vault")
	u, err := url.Parse(location)
	if err != nil {
		b.t.Fatal(err)
	}
	return u.Query(), b.get("/auth/callback/" + provider + "?" + back(b.t, location, "ann").Encode())
}

// TestStepUpWithProvider signs in, lets hours pass, and signs in again with a provider because a guard requires it. The
// page opens only if the user has authenticated there since.
func TestStepUpWithProvider(t *testing.T) {
	t.Parallel()
	at := func(ago time.Duration) func(time.Time) any {
		return func(now time.Time) any { return now.Add(-ago).Unix() }
	}
	raw := func(v any) func(time.Time) any { return func(time.Time) any { return v } }
	for name, row := range map[string]struct {
		provider        string
		reauthenticates core.OptionalBool
		authTime        func(now time.Time) any
		opens           bool
	}{
		"auth_time now":                           {"op", core.Default, at(0), true},
		"auth_time within the guard's age":        {"op", core.Default, at(9 * time.Minute), true},
		"auth_time older than the guard's age":    {"op", core.Default, at(11 * time.Minute), false},
		"auth_time of last week":                  {"op", core.Default, at(7 * 24 * time.Hour), false},
		"auth_time of last week, reauthenticates": {"op", core.True, at(7 * 24 * time.Hour), false},
		"auth_time in the future":                 {"op", core.Default, at(-time.Hour), true},
		"no auth_time":                            {"op", core.Default, raw(nil), false},
		"no auth_time, reauthenticates":           {"op", core.True, raw(nil), true},
		"auth_time is text":                       {"op", core.Default, raw("now"), false},
		"auth_time is text, reauthenticates":      {"op", core.True, raw("now"), false},
		"auth_time is negative":                   {"op", core.Default, raw(-1), false},
		"OAuth":                                   {"plain", core.Default, raw(nil), false},
		"OAuth, switched off":                     {"plain", core.False, raw(nil), false},
		"OAuth, reauthenticates":                  {"plain", core.True, raw(nil), true},
	} {
		for _, strategy := range bothStrategies {
			t.Run(name+", "+string(strategy), func(t *testing.T) {
				t.Parallel()
				a := newVault(t, strategy, func(op, plain *core.OAuthProvider, _ *core.Config) {
					op.Reauthenticates, plain.Reauthenticates = row.reauthenticates, row.reauthenticates
				})
				b := visit(t, a)
				asked, _ := b.throughOP(row.provider)
				if asked.Has("prompt") || asked.Has("max_age") {
					t.Errorf("an ordinary sign-in sends %v", asked)
				}
				first := b.session()
				if first == nil || !first.AuthTime.Equal(start) || b.openVault() != nil {
					t.Fatalf("a sign-in that started signed out is not recent: %+v", first)
				}
				a.clock.Advance(3 * time.Hour)
				if asked, _ := b.throughOP("op"); asked.Has("prompt") || asked.Has("max_age") {
					t.Errorf("nothing requires a step-up, and the request has %v", asked)
				}
				b = visit(t, a)
				b.throughOP(row.provider)
				a.clock.Advance(3 * time.Hour)
				stepUp(t, a, b, row.provider, row.authTime(a.clock.Now()), row.opens)
			})
		}
	}
}

func stepUp(t *testing.T, a vault, b *browser, provider string, authTime any, opens bool) {
	t.Helper()
	r := b.openVault()
	if r == nil || r.Status != http.StatusSeeOther || b.cookies[stepUpCookie] == "" {
		t.Fatalf("after three hours: %+v", r)
	}
	before := b.session()
	a.op.authTime = authTime
	asked, r := b.throughOP(provider)
	prompt, age := asked.Get("prompt"), asked.Get("max_age")
	if want := provider == "op"; want != (prompt == "login") || want != (age == "600") || !want && asked.Has("prompt") {
		t.Errorf("the request has prompt %q, max_age %q", prompt, age)
	}
	after := b.session()
	if after == nil || after.UserID != before.UserID || after.AuthTime.After(a.clock.Now()) {
		t.Fatalf("signed in as %+v, before %+v", after, before)
	}
	if opens {
		if r.Redirect != "https://app.test/vault" || b.openVault() != nil || b.cookies[stepUpCookie] != "" {
			t.Errorf("a recent sign-in ends at %d %s: %v", r.Status, r.Redirect, b.cookies)
		}
		return
	}
	body := string(r.Body)
	if r.Redirect != "" || r.Status != http.StatusForbidden || !strings.Contains(body, "sign out and sign in again") ||
		!strings.Contains(body, `action="https://app.test/auth/signin/op"`) ||
		!strings.Contains(body, `href="https://app.test/auth/signout?callbackUrl=https%3A%2F%2Fapp.test%2Fvault"`) {
		t.Errorf("ends at %d %q:\n%s", r.Status, r.Redirect, body)
	}
	if b.openVault() == nil || after.AuthTime.Before(before.AuthTime) {
		t.Errorf("the page opens, or the session has become older: %+v", after)
	}
	a.op.authTime = nil
	b.submit("/auth/signout", nil)
	b.throughOP(provider)
	if b.openVault() != nil {
		t.Error("after signing out and in, the page still refuses the user")
	}
}

// TestStepUpEnds follows redirects like a browser, with a sign-in page of the application that starts the sign-in
// at once: the provider lets the user through without asking, and the browser ends on a page all the same.
func TestStepUpEnds(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		for _, provider := range []string{"op", "plain"} {
			a := newVault(t, strategy, func(_, _ *core.OAuthProvider, c *core.Config) { c.Pages.SignIn = "/login" })
			b := visit(t, a)
			b.throughOP(provider)
			a.clock.Advance(time.Hour)
			a.op.authTime = start.Unix()
			redirects, r := 0, b.openVault()
			for r != nil && r.Redirect != "" && redirects < 20 {
				redirects++
				if strings.Contains(r.Redirect, "/login?") {
					_, r = b.throughOP(provider)
				} else {
					r = b.openVault()
				}
			}
			if r == nil || redirects != 1 || r.Status != http.StatusForbidden {
				t.Errorf("%s, %s: after %d redirects %+v", strategy, provider, redirects, r)
			}
		}
	}
}

// TestFreshSignInWithOldAuthTime signs in with an old session of the provider: the new session is as old as that.
func TestFreshSignInWithOldAuthTime(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		a := newVault(t, strategy, nil)
		a.op.authTime = start.Add(-7 * 24 * time.Hour).Unix()
		b := visit(t, a)
		b.throughOP("op")
		if s := b.session(); s == nil || !s.AuthTime.Equal(start.Add(-7*24*time.Hour)) || b.openVault() == nil {
			t.Errorf("%s: %+v", strategy, s)
		}
	}
}

// TestStepUpParameters keeps what the configuration sends, and lets the page's own parameters undo nothing.
func TestStepUpParameters(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		params      url.Values
		prompt, age string
	}{
		"none":          {nil, "login", "600"},
		"consent":       {url.Values{"prompt": {"consent"}}, "consent login", "600"},
		"login":         {url.Values{"prompt": {"login"}}, "login", "600"},
		"prompt none":   {url.Values{"prompt": {"none"}}, "login", "600"},
		"a shorter age": {url.Values{"max_age": {"60"}}, "login", "60"},
		"a longer age":  {url.Values{"max_age": {"6000"}}, "login", "600"},
	} {
		a := newVault(t, core.StrategyJWT, func(op, _ *core.OAuthProvider, _ *core.Config) {
			op.Authorization.Params = row.params
		})
		b := visit(t, a)
		b.throughOP("plain")
		a.clock.Advance(time.Hour)
		b.openVault()
		location := b.submit("/auth/signin/op?prompt=none&max_age=9999", url.Values{"callbackUrl": {"/vault"}}).Redirect
		u, err := url.Parse(location)
		if err != nil {
			t.Fatal(err)
		}
		if q := u.Query(); q.Get("prompt") != row.prompt || q.Get("max_age") != row.age {
			t.Errorf("%s: %s", name, location)
		}
	}
}
