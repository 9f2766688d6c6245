package core_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/ui"
)

// vault is an application with a page that requires a recent sign-in, an OpenID provider op and an OAuth service.
type vault struct {
	*app
	op    *smallOP
	trail *trail
}

func newVault(t *testing.T, strategy core.Strategy, change func(op, plain *core.OAuthProvider, c *core.Config)) vault {
	t.Helper()
	op, plain, told := &smallOP{}, lenient("plain"), &trail{}
	provider := &core.OAuthProvider{
		ID: "op", Type: core.TypeOIDC, Issuer: "https://op.example/common", ClientID: "id", ClientSecret: "secret",
		HTTPClient: &http.Client{Transport: op},
	}
	c := core.Config{
		Store: newPeople().as(power{true, true, true, true}), Session: core.SessionConfig{Strategy: strategy},
		Plugins: []core.Plugin{asking{}}, Providers: []core.Provider{provider, plain}, Audit: told.note,
	}
	if change != nil {
		change(provider, plain, &c)
	}
	a := newApp(t, c)
	op.clock = a.clock
	return vault{a, op, told}
}

// openVault requests the page as a browser does: nil if it opens.
func (b *browser) openVault(guards ...core.Guard) *core.Response {
	b.t.Helper()
	if guards == nil {
		guards = []core.Guard{core.RecentSignIn(10 * time.Minute)}
	}
	b.header.Set("Accept", "text/html")
	v := b.auth.Visit(b.t.Context(), b.request("GET", "/vault", "", ""))
	_, r := v.Require(guards...)
	b.take(answerOf(v))
	return r
}

// throughOP signs in with a provider, and returns the authorization request and the response to the callback.
func (b *browser) throughOP(provider string) (url.Values, *core.Response) {
	b.t.Helper()
	return b.callback(provider, b.start(provider, "/vault"))
}

// callback follows a redirect to a provider, and returns the authorization request and the response to the callback.
func (b *browser) callback(provider, location string) (url.Values, *core.Response) {
	b.t.Helper()
	u, err := url.Parse(location)
	if err != nil {
		b.t.Fatal(err)
	}
	return u.Query(), b.get("/auth/callback/" + provider + "?" + back(b.t, location, "ann").Encode())
}

const reauthPage = "https://app.test/auth/reauth?callbackUrl=%2Fvault"

// reauth authenticates again with a provider, from the page that a guard redirects to.
func (b *browser) reauth(provider string) (url.Values, *core.Response) {
	b.t.Helper()
	return b.callback(provider, b.submit("/auth/reauth/"+provider, url.Values{"callbackUrl": {"/vault"}}).Redirect)
}

// methods returns the methods that GET reauth lists for programs.
func (b *browser) methods(query string) (ids []string) {
	b.t.Helper()
	b.header.Set("Accept", "application/json")
	defer b.header.Set("Accept", "text/html")
	var list struct {
		Methods []struct{ ID, Type, URL string }
	}
	r := b.get("/auth/reauth" + query)
	if err := json.Unmarshal(r.Body, &list); err != nil || r.Status > 200 {
		b.t.Fatalf("%d %s: %v", r.Status, r.Body, err)
	}
	for _, m := range list.Methods {
		ids = append(ids, m.ID)
	}
	return ids
}

// TestReauthWithProvider signs in, lets hours pass, and authenticates again because a guard requires it. The page opens
// only if the provider has authenticated the user since. The session continues under a new ID.
func TestReauthWithProvider(t *testing.T) {
	t.Parallel()
	at := func(ago time.Duration) func(time.Time) any {
		return func(now time.Time) any { return now.Add(-ago).Unix() }
	}
	raw := func(v any) func(time.Time) any { return func(time.Time) any { return v } }
	for name, row := range map[string]struct {
		provider        string
		reauthenticates core.OptionalBool
		authTime        func(now time.Time) any
		offered, opens  bool
	}{
		"auth_time now":                           {"op", core.Default, at(0), true, true},
		"auth_time within the clock skew":         {"op", core.Default, at(15 * time.Second), true, true},
		"auth_time before the request":            {"op", core.Default, at(16 * time.Second), true, false},
		"auth_time of last week":                  {"op", core.Default, at(7 * 24 * time.Hour), true, false},
		"auth_time of last week, reauthenticates": {"op", core.True, at(7 * 24 * time.Hour), true, false},
		"auth_time in the future":                 {"op", core.Default, at(-time.Hour), true, true},
		"no auth_time":                            {"op", core.Default, raw(nil), true, false},
		"no auth_time, reauthenticates":           {"op", core.True, raw(nil), true, true},
		"auth_time is text":                       {"op", core.Default, raw("now"), true, false},
		"auth_time is text, reauthenticates":      {"op", core.True, raw("now"), true, false},
		"auth_time is negative":                   {"op", core.Default, raw(-1), true, false},
		"OAuth":                                   {"plain", core.Default, raw(nil), false, false},
		"OAuth, switched off":                     {"plain", core.False, raw(nil), false, false},
		"OAuth, reauthenticates":                  {"plain", core.True, raw(nil), true, true},
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
				if r := b.openVault(); r == nil || r.Status != http.StatusSeeOther || r.Redirect != reauthPage {
					t.Fatalf("after three hours: %+v", r)
				}
				if offered := slices.Contains(b.methods(""), row.provider); offered != row.offered {
					t.Fatalf("offered: %t", offered)
				}
				if !row.offered {
					if r := b.submit("/auth/reauth/"+row.provider, nil); r.Status != http.StatusNotFound {
						t.Errorf("reauth/%s: %d %s", row.provider, r.Status, r.Redirect)
					}
					return
				}
				checkReauth(t, a, b, row.provider, row.authTime(a.clock.Now()), row.opens)
			})
		}
	}
}

func checkReauth(t *testing.T, a vault, b *browser, provider string, authTime any, opens bool) {
	t.Helper()
	before := b.session()
	a.op.authTime = authTime
	asked, r := b.reauth(provider)
	prompt, age := asked.Get("prompt"), asked.Get("max_age")
	if want := provider == "op"; want != (prompt == "login") || want != (age == "0") || !want && asked.Has("prompt") {
		t.Errorf("the request has prompt %q, max_age %q", prompt, age)
	}
	after := b.session()
	if after == nil || after.UserID != before.UserID || (after.ID != before.ID) != opens {
		t.Fatalf("signed in as %+v, before %+v", after, before)
	}
	if opens {
		if r.Redirect != "https://app.test/vault" || b.openVault() != nil {
			t.Errorf("a re-authentication ends at %d %s", r.Status, r.Redirect)
		}
		if told := a.trail.take(); !slices.Contains(told, "reauth/ok") {
			t.Errorf("audited: %v", told)
		}
		return
	}
	told := a.trail.take()
	if !strings.HasSuffix(r.Redirect, "&error=StaleSignIn") || b.openVault() == nil ||
		!after.AuthTime.Equal(before.AuthTime) || !slices.Contains(told, "reauth/refused/stale") {
		t.Errorf("ends at %d %q, session %+v; audited %v", r.Status, r.Redirect, after, told)
	}
	page := b.get(strings.TrimPrefix(r.Redirect, "https://app.test"))
	body := string(page.Body)
	if page.Status > 200 || !strings.Contains(body, "didn&#39;t confirm that you just signed in") ||
		!strings.Contains(body, `action="https://app.test/auth/reauth/op?callbackUrl=`) && provider == "op" ||
		!strings.Contains(body, `href="https://app.test/auth/signout?callbackUrl=https%3A%2F%2Fapp.test%2Fvault"`) {
		t.Errorf("the page: %d\n%s", page.Status, body)
	}
}

// TestReauthRefuses re-authenticates as another user, with a response of another session, and twice with one response.
// The session does not change.
func TestReauthRefuses(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			a := newVault(t, strategy, nil)
			b := visit(t, a)
			b.header.Set("Accept", "text/html")
			b.throughOP("op")
			a.clock.Advance(time.Hour)
			a.op.authTime = a.clock.Now().Unix()
			before := b.session()
			same := func(what, told string) {
				t.Helper()
				if s := b.session(); s == nil || s.ID != before.ID || !s.AuthTime.Equal(before.AuthTime) {
					t.Errorf("%s: session %+v, before %+v", what, s, before)
				}
				if all := a.trail.take(); !slices.Contains(all, told) {
					t.Errorf("%s: audited %v", what, all)
				}
			}

			for _, sub := range []string{"u2", "u3"} { // u2 has signed in here, u3 has not
				if sub == "u2" {
					a.op.claims = map[string]any{"sub": sub}
					visit(t, a).throughOP("op")
				}
				a.op.claims = map[string]any{"sub": sub}
				if _, r := b.reauth("op"); !strings.HasSuffix(r.Redirect, "error=OtherUser") {
					t.Errorf("as %s: %s", sub, r.Redirect)
				}
				same("as "+sub, "reauth/refused/other_user")
				a.clock.Advance(time.Hour) // beyond the folding of refusals
				a.op.authTime = a.clock.Now().Unix()
			}
			a.op.claims = nil

			location := b.submit("/auth/reauth/op", url.Values{"callbackUrl": {"/vault"}}).Redirect
			kept := maps.Clone(b.cookies)
			_, r := b.callback("op", location)
			if r.Redirect != "https://app.test/vault" || b.openVault() != nil {
				t.Fatalf("ends at %s", r.Redirect)
			}
			a.clock.Advance(11 * time.Minute)
			before = b.session()
			for name, value := range kept { // the cookies of the flow, with the current session
				if b.cookies[name] == "" {
					b.cookies[name] = value
				}
			}
			if _, r := b.callback("op", location); !strings.Contains(r.Redirect, "error=") {
				t.Errorf("a replayed response ends at %s", r.Redirect)
			}
			same("replayed", "reauth/refused/replayed")

			other := visit(t, a) // another session of the same user, in a browser with copied flow cookies
			other.header.Set("Accept", "text/html")
			other.throughOP("op")
			location = b.submit("/auth/reauth/op", url.Values{"callbackUrl": {"/vault"}}).Redirect
			for name, value := range b.cookies {
				if !strings.Contains(name, "session-token") {
					other.cookies[name] = value
				}
			}
			otherBefore := other.session()
			if _, r := other.callback("op", location); !strings.Contains(r.Redirect, "error=") {
				t.Errorf("a response of another session ends at %s", r.Redirect)
			}
			if s := other.session(); s == nil || s.ID != otherBefore.ID {
				t.Errorf("another session: %+v, before %+v", s, otherBefore)
			}
		})
	}
}

// TestReauthParameters keeps what the configuration sends, and lets the page's own parameters undo nothing.
func TestReauthParameters(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		params      url.Values
		prompt, age string
	}{
		"none":        {nil, "login", "0"},
		"consent":     {url.Values{"prompt": {"consent"}}, "consent login", "0"},
		"login":       {url.Values{"prompt": {"login"}}, "login", "0"},
		"prompt none": {url.Values{"prompt": {"none"}}, "login", "0"},
		"an age":      {url.Values{"max_age": {"60"}}, "login", "0"},
	} {
		a := newVault(t, core.StrategyJWT, func(op, _ *core.OAuthProvider, _ *core.Config) {
			op.Authorization.Params = row.params
		})
		a.op.authTime, a.op.claims = start.Unix(), map[string]any{"email": "ann@example.com"}
		b := visit(t, a)
		b.header.Set("Accept", "text/html")
		b.throughOP("op")
		a.clock.Advance(time.Hour)
		location := b.submit("/auth/reauth/op?prompt=none&max_age=9999", url.Values{"callbackUrl": {"/vault"}}).Redirect
		u, err := url.Parse(location)
		if err != nil {
			t.Fatal(err)
		}
		if q := u.Query(); q.Get("prompt") != row.prompt || q.Get("max_age") != row.age ||
			q.Get("login_hint") != "ann@example.com" {
			t.Errorf("%s: %s", name, location)
		}
	}
}

// TestReauthWithForm authenticates again with a form: the page shows it, and wrong credentials, another user and a
// missing CSRF token change nothing.
func TestReauthWithForm(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			told := &trail{}
			a, _ := factual(t, strategy, func(c *core.Config) { c.Audit = told.note })
			b := signedIn(t, a, "1")
			a.clock.Advance(time.Hour)
			if r := b.openVault(); r == nil || r.Redirect != reauthPage {
				t.Fatalf("%+v", r)
			}
			page := b.get("/auth/reauth?callbackUrl=/vault")
			if body := string(page.Body); !strings.Contains(body, "Confirm it&#39;s you") ||
				!strings.Contains(body, `action="https://app.test/auth/reauth/credentials?callbackUrl=`) {
				t.Errorf("the page: %s", body)
			}
			before := b.session()
			if r := b.submit("/auth/reauth/credentials", url.Values{"id": {"2"}}); !strings.HasSuffix(r.Redirect,
				"error=OtherUser") || !slices.Contains(told.take(), "reauth/refused/other_user") {
				t.Errorf("as another user: %s", r.Redirect)
			}
			if r := b.post("/auth/reauth/credentials", url.Values{"id": {"1"}}); r.Status != http.StatusForbidden {
				t.Errorf("without a token: %d", r.Status)
			}
			if s := b.session(); s.ID != before.ID || b.openVault() == nil {
				t.Errorf("the session was renewed: %+v", s)
			}
			token := b.cookies["__Secure-authjs.session-token"]
			r := b.submit("/auth/reauth/credentials", url.Values{"id": {"1"}, "callbackUrl": {"/vault"}})
			if r.Redirect != "https://app.test/vault" || b.openVault() != nil {
				t.Errorf("ends at %s: %v", r.Redirect, r.Err)
			}
			after := b.session()
			if after.ID == before.ID || b.cookies["__Secure-authjs.session-token"] == token ||
				!slices.Contains(told.take(), "reauth/ok") {
				t.Errorf("the session keeps its token: %+v", after)
			}
			out := visit(t, a)
			out.header.Set("Accept", "text/html")
			if out := out.get("/auth/reauth"); !strings.Contains(out.Redirect, "/auth/signin?") {
				t.Errorf("signed out: %d %s", out.Status, out.Redirect)
			}
		})
	}
}

// TestReauthIsAbsent: without facts there is nothing to renew, and the action does not exist.
func TestReauthIsAbsent(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	if r := visit(t, a).get("/auth/reauth"); r.Status != http.StatusBadRequest {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

// TestStrong lists which methods of a session are two different kinds of factor.
func TestStrong(t *testing.T) {
	t.Parallel()
	for methods, strong := range map[string]bool{
		"": false, "pwd": false, "mail": false, "fed": false, "otp": false, "swk": false, "hwk": false, "user": false,
		"pwd mail": false, "fed mail": false, "fed pwd": false, "otp mail": false, "swk mail": false, "otp swk": false,
		"pwd user": false, "pwd otp": true, "fed otp": true, "pwd swk": true, "fed hwk": true,
		"swk user": true, "hwk user": true, "mfa": true, "mail mfa": true,
	} {
		s := &core.Session{}
		for m := range strings.FieldsSeq(methods) {
			s.Methods = append(s.Methods, amr.Method(m))
		}
		var again *core.StepUp
		if err := core.Strong()(t.Context(), s); (err == nil) != strong ||
			!strong && (!errors.As(err, &again) || !again.Strong) {
			t.Errorf("%q: %v", methods, err)
		}
	}
}

// TestStrongOffers: the page offers only methods that satisfy the guard together with those of the session.
func TestStrongOffers(t *testing.T) {
	t.Parallel()
	a, _ := factual(t, core.StrategyJWT)
	b := signedIn(t, a, "1")
	r := b.openVault(core.Strong())
	if r == nil || r.Redirect != reauthPage+"&strong=1" {
		t.Fatalf("%+v", r)
	}
	page := b.get("/auth/reauth?callbackUrl=/vault&strong=1")
	if body := string(page.Body); strings.Contains(body, "reauth/credentials") ||
		!strings.Contains(body, "Add a passkey") {
		t.Errorf("the page: %s", body)
	}
	if ids := b.methods("?strong=1"); len(ids) != 0 || len(b.methods("")) != 1 {
		t.Errorf("offered: %v", ids)
	}
	b.header.Set("Accept", "application/json")
	if r := b.openVault2(core.Strong()); r.Status != 401 || r.Header.Get("Www-Authenticate") !=
		`Bearer error="insufficient_user_authentication", error_description="Sign in again first."` ||
		!strings.Contains(string(r.Body), `"strong":true`) {
		t.Errorf("%d %v %s", r.Status, r.Header, r.Body)
	}
}

// openVault2 requests the page with the browser's own Accept header.
func (b *browser) openVault2(guards ...core.Guard) *core.Response {
	_, r := b.auth.Visit(b.t.Context(), b.request("GET", "/vault", "", "")).Require(guards...)
	return r
}

// TestACR requires an authentication context class: the provider is asked for it, its claim decides, and a later
// authentication with another method keeps it.
func TestACR(t *testing.T) {
	t.Parallel()
	gold := core.ACR("urn:gold", "urn:platinum")
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			a := newVault(t, strategy, nil)
			b := visit(t, a)
			b.header.Set("Accept", "text/html")
			a.op.authTime, a.op.claims = start.Unix(), map[string]any{"acr": "urn:silver"}
			b.throughOP("op")
			if s := b.session(); s.ACR != "urn:silver" {
				t.Errorf("the session has %q", s.ACR)
			}
			r := b.openVault(gold)
			const query = "&acr_values=urn%3Agold+urn%3Aplatinum"
			if r == nil || r.Redirect != reauthPage+query {
				t.Fatalf("%+v", r)
			}
			again := func() (url.Values, *core.Response) {
				location := b.submit("/auth/reauth/op?callbackUrl=/vault"+query, nil).Redirect
				return b.callback("op", location)
			}
			asked, r := again()
			if asked.Get("acr_values") != "urn:gold urn:platinum" || !strings.Contains(r.Redirect, query) ||
				!strings.HasSuffix(r.Redirect, "error=StaleSignIn") || b.openVault(gold) == nil ||
				!slices.Contains(a.trail.take(), "reauth/refused/acr") {
				t.Errorf("a lower class: asked %v, ends at %s", asked, r.Redirect)
			}
			a.op.claims = map[string]any{"acr": "urn:platinum"}
			if _, r := again(); r.Redirect != "https://app.test/vault" || b.openVault(gold) != nil {
				t.Errorf("ends at %s, session %+v", r.Redirect, b.session())
			}
			a.op.claims = map[string]any{"acr": strings.Repeat("x", 81)}
			if _, r := b.reauth("op"); r.Redirect != "https://app.test/vault" || b.session().ACR != "urn:platinum" {
				t.Errorf("ends at %s, session %+v", r.Redirect, b.session())
			}
			b.header.Set("Accept", "application/json")
			r = b.openVault2(core.ACR("urn:other"))
			if h := r.Header.Get("Www-Authenticate"); r.Status != 401 || h != `Bearer `+
				`error="insufficient_user_authentication", error_description="Sign in again first.", acr_values="urn:other"` {
				t.Errorf("%d %s", r.Status, h)
			}
		})
	}
	for _, values := range [][]string{nil, {""}, {"a b"}, {`a"b`}, {`a\b`}, {"é"}, {strings.Repeat("x", 81)}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is accepted", values)
				}
			}()
			core.ACR(values...)
		}()
	}
}

// TestReauthWarns: New names the providers whose users could not authenticate again.
func TestReauthWarns(t *testing.T) {
	t.Parallel()
	plain := func(c *core.Config) *core.OAuthProvider { return c.Providers[0].(*core.OAuthProvider) }
	withEmails := func(c *core.Config) { c.Providers = append(c.Providers, (&inbox{}).provider()) }
	google := func(c *core.Config, params url.Values) {
		c.Providers = []core.Provider{&core.OAuthProvider{
			ID: "plain", Type: core.TypeOIDC, Issuer: "https://accounts.google.com", ClientID: "id", ClientSecret: "secret",
			Authorization: core.Endpoint{Params: params},
		}}
	}
	const noCode = "add an EmailProvider"
	for name, row := range map[string]struct {
		change func(c *core.Config)
		hint   string // "" if there is no warning
	}{
		"OAuth only":         {func(*core.Config) {}, noCode},
		"it reauthenticates": {func(c *core.Config) { plain(c).Reauthenticates = core.True }, ""},
		"emails, verified addresses": {func(c *core.Config) {
			withEmails(c)
			plain(c).EmailVerified = func(core.Profile) bool { return true }
		}, ""},
		"emails, unverified addresses": {withEmails, "unverified address"},
		"without facts":                {func(c *core.Config) { c.Plugins = nil }, ""},
		"emails, no records": {func(c *core.Config) {
			withEmails(c)
			c.Store = newPeople().as(power{true, true, true, true})
		}, noCode},
		"Google":             {func(c *core.Config) { google(c, nil) }, noCode},
		"Google with emails": {func(c *core.Config) { google(c, nil); withEmails(c) }, ""},
		"Google with the claim": {func(c *core.Config) {
			google(c, url.Values{"claims": {`{"id_token":{"auth_time":{"essential":true}}}`}})
		}, ""},
	} {
		c := core.Config{Store: newHouse(), Plugins: []core.Plugin{asking{}}, Providers: []core.Provider{lenient("plain")}}
		row.change(&c)
		log := newApp(t, c).log.String()
		_, warning, warns := strings.Cut(log, "code=no-reauthentication providers=[plain]")
		if warns != (row.hint != "") || !strings.Contains(warning, row.hint) {
			t.Errorf("%s: %s", name, log)
		}
	}
}

// TestReauthRequired: a plugin requires a recent sign-in, and New refuses a configuration in which no user could
// authenticate again.
func TestReauthRequired(t *testing.T) {
	t.Parallel()
	method := func(h *core.PluginHost) error {
		h.AddReauthMethod(core.ReauthMethod{Action: "otp", Label: ui.Text{English: "Use your app"}})
		return nil
	}
	verified := lenient("plain")
	verified.EmailVerified = func(core.Profile) bool { return true }
	careful := lenient("plain")
	careful.Reauthenticates = core.True
	for name, row := range map[string]struct {
		providers []core.Provider
		plugins   []core.Plugin
		fails     bool
	}{
		"OAuth only":           {[]core.Provider{lenient("plain"), lenient("other")}, nil, true},
		"it reauthenticates":   {[]core.Provider{careful}, nil, false},
		"one of two":           {[]core.Provider{careful, lenient("other")}, nil, false},
		"emails":               {[]core.Provider{verified, (&inbox{}).provider()}, nil, false},
		"a form":               {[]core.Provider{lenient("plain"), passwords()}, nil, false},
		"a method of a plugin": {[]core.Provider{lenient("plain")}, []core.Plugin{partFunc(method)}, false},
		"no requirement":       {[]core.Provider{lenient("plain")}, []core.Plugin{asking{}}, false},
	} {
		plugins := row.plugins
		if name != "no requirement" {
			plugins = append(plugins, partFunc(func(h *core.PluginHost) error {
				h.RequireRecentSignInToLink(time.Minute)
				return nil
			}))
		}
		_, err := core.New(core.Config{
			URL: "https://app.test", Secrets: []core.Secret{"0123456789abcdef0123456789abcdef"}, Store: newHouse(),
			Providers: row.providers, Plugins: plugins, Logger: slog.New(slog.DiscardHandler),
		})
		if failed := err != nil; failed != row.fails || failed && !strings.Contains(err.Error(), "plain, other") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReauthMethodOfPlugin lists the page of a plugin for the users who have the method.
func TestReauthMethodOfPlugin(t *testing.T) {
	t.Parallel()
	a, _ := factual(t, core.StrategyJWT, func(c *core.Config) {
		c.Plugins = append(c.Plugins, partFunc(func(h *core.PluginHost) error {
			h.AddReauthMethod(core.ReauthMethod{
				Action: "otp", Label: ui.Text{English: "Use your app"}, Adds: []amr.Method{amr.OTP},
				Available: func(_ context.Context, userID string) (bool, error) { return userID == "1", nil },
			})
			return nil
		}))
	})
	b := signedIn(t, a, "1")
	b.header.Set("Accept", "text/html")
	if ids := b.methods("?strong=1"); !slices.Equal(ids, []string{"otp"}) {
		t.Errorf("offered: %v", ids)
	}
	page := string(b.get("/auth/reauth?callbackUrl=/vault&strong=1").Body)
	if !strings.Contains(page, `href="/auth/otp?callbackUrl=https%3A%2F%2Fapp.test%2Fvault"`) ||
		!strings.Contains(page, "Use your app") {
		t.Errorf("the page: %s", page)
	}
	if ids := signedIn(t, a, "2").methods(""); slices.Contains(ids, "otp") {
		t.Errorf("offered to another user: %v", ids)
	}
}

// TestReauthInTwoProcesses starts a re-authentication in one process and finishes it in another. A second response,
// with the cookies of the first one and the current session, is refused in both.
func TestReauthInTwoProcesses(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			shared := newPeople().as(power{true, true, true, true})
			one := newVault(t, strategy, func(_, _ *core.OAuthProvider, c *core.Config) { c.Store = shared })
			two := newVault(t, strategy, func(op, _ *core.OAuthProvider, c *core.Config) {
				op.HTTPClient = &http.Client{Transport: one.op}
				c.Store, c.Now, c.Rand = shared, one.clock.Now, rand.Reader
			})
			b := visit(t, one)
			b.header.Set("Accept", "text/html")
			b.throughOP("op")
			one.clock.Advance(time.Hour)
			one.op.authTime = one.clock.Now().Unix()
			before := b.session()
			location := b.submit("/auth/reauth/op", url.Values{"callbackUrl": {"/vault"}}).Redirect
			kept := maps.Clone(b.cookies)
			b.at(two)
			if _, r := b.callback("op", location); r.Redirect != "https://app.test/vault" {
				t.Fatalf("ends at %s: %v", r.Redirect, r.Err)
			}
			after := b.session()
			if after.ID == before.ID || after.UserID != before.UserID || b.openVault() != nil {
				t.Errorf("session %+v, before %+v", after, before)
			}
			for name, value := range kept {
				if b.cookies[name] == "" {
					b.cookies[name] = value
				}
			}
			cookies := maps.Clone(b.cookies)
			for _, a := range []vault{one, two} {
				b.at(a)
				b.cookies = maps.Clone(cookies)
				_, r := b.callback("op", location)
				if s := b.session(); s == nil || s.ID != after.ID || !strings.HasSuffix(r.Redirect, "error=StaleSignIn") ||
					!slices.Contains(a.trail.take(), "reauth/refused/replayed") {
					t.Errorf("a replayed response ends at %s, session %+v", r.Redirect, s)
				}
			}
		})
	}
}
