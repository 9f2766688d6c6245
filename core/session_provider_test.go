package core_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

const logoutCookie = "__Host-authjs.logout"

// opRecords is a store of sessions and records.
type opRecords struct {
	*opRows
	*drawer
}

// awayApp is an application whose sign-outs redirect to op. It has passwords as well.
func awayApp(t *testing.T, op *smallOP, config core.Config) *app {
	t.Helper()
	config.Providers = []core.Provider{&core.OAuthProvider{
		ID: "op", Type: core.TypeOIDC, Issuer: "https://op.example/common", ClientID: "id", ClientSecret: "secret",
		HTTPClient: &http.Client{Transport: op}, Logout: core.True,
	}, passwords()}
	a := newApp(t, config)
	op.clock = a.clock
	return a
}

// endpoint is the end_session_endpoint of op, with an additional parameter.
const endpoint = `"https://op.example/end?tenant=1"`

// signOutTo signs out with a callback URL. It returns the parameters of the request to the provider.
func signOutTo(b *browser, target string) (url.Values, *core.Response) {
	b.t.Helper()
	r := b.submit("/auth/signout", url.Values{"callbackUrl": {target}})
	u, err := url.Parse(r.Redirect)
	if err != nil || !strings.HasPrefix(r.Redirect, "https://op.example/end?") {
		b.t.Fatalf("signed out to %q, %v", r.Redirect, r.Err)
	}
	return u.Query(), r
}

// TestSignOutAtTheProvider runs a complete sign-out. The local session ends first. The provider receives the ID token
// if it is stored. After its response the browser continues to the callback URL of the sign-out.
func TestSignOutAtTheProvider(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		config core.Config
		hint   bool
	}{
		"cookies alone":           {core.Config{}, false},
		"a store without records": {core.Config{Store: newOPRows()}, false},
		"records":                 {core.Config{Store: opRecords{newOPRows(), newDrawer()}}, true},
		"records, sessions in cookies": {core.Config{
			Store: opRecords{newOPRows(), newDrawer()}, Session: core.SessionConfig{Strategy: core.StrategyJWT},
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			op := &smallOP{endSession: endpoint}
			a := awayApp(t, op, row.config)
			b := op.signIn(t, a, "s1")
			key := strings.TrimPrefix(b.cookies[logoutCookie], "op.")
			session := b.cookies[sessionCookie]
			asked, _ := signOutTo(b, "/bye?x=1")
			if b.cookies[sessionCookie] != "" || here(b) {
				t.Error("the local session is still valid")
			}
			if row.config.Store != nil && row.config.Session.Strategy == "" {
				copied := visit(t, a)
				if copied.cookies[sessionCookie] = session; here(copied) {
					t.Error("the session is still in the store")
				}
			}
			hint := asked.Get("id_token_hint")
			if row.hint != (strings.Count(hint, ".") == 2) || !row.hint && asked.Has("id_token_hint") {
				t.Errorf("id_token_hint %q", hint)
			}
			asked.Del("id_token_hint")
			want := url.Values{
				"client_id": {"id"}, "post_logout_redirect_uri": {"https://app.test/auth/logout/op"}, "state": {key},
				"tenant": {"1"},
			}
			if key == "" || asked.Encode() != want.Encode() {
				t.Errorf("request parameters %v, want %v", asked, want)
			}
			if kept, ok := row.config.Store.(opRecords); ok && len(kept.records) > 0 {
				t.Errorf("leftover records: %v", kept.records)
			}
			r := b.get("/auth/logout/op?state=" + key)
			if r.Redirect != "https://app.test/bye?x=1" || b.cookies[logoutCookie] != "" {
				t.Errorf("returned to %q, %v", r.Redirect, r.Err)
			}
		})
	}
}

// TestReturnFromASignOut sends requests to the return URL that are not the provider's response for this browser. They
// must not redirect to the callback URL of the sign-out or end a session.
func TestReturnFromASignOut(t *testing.T) {
	t.Parallel()
	op := &smallOP{endSession: endpoint}
	a := awayApp(t, op, core.Config{})
	for name, row := range map[string]struct {
		target string
		change func(b *browser)
	}{
		"no state, and no sign-out in progress": {
			target: "/auth/logout/op?x=1", change: func(b *browser) { b.cookies[logoutCookie] = "op.live" },
		},
		"no state, and its own callbackUrl": {target: "/auth/logout/op?callbackUrl=/mine"},
		"another state":                     {target: "/auth/logout/op?state=other"},
		"an empty state": {
			target: "/auth/logout/op?state=", change: func(b *browser) { b.cookies[logoutCookie] = "op." },
		},
		"another browser": {
			target: "/auth/logout/op?state=KEY", change: func(b *browser) { delete(b.cookies, logoutCookie) },
		},
		"another provider": {target: "/auth/logout/credentials?state=KEY"},
	} {
		b := op.signIn(t, a, "s1")
		asked, _ := signOutTo(b, "/bye")
		if row.change != nil {
			row.change(b)
		}
		again := op.signIn(t, a, "s2") // another session of this browser
		b.cookies[sessionCookie] = again.cookies[sessionCookie]
		target := strings.ReplaceAll(row.target, "KEY", asked.Get("state"))
		if strings.Contains(target, "state=") {
			target += "&callbackUrl=/elsewhere"
		}
		r := b.get(target)
		if r.Redirect != "https://app.test" || r.Status != 302 || len(r.Cookies) > 0 || !here(b) {
			t.Errorf("%s: %d to %q, %v", name, r.Status, r.Redirect, r.Cookies)
		}
	}
	if strings.Contains(a.log.String(), "level=ERROR") {
		t.Errorf("a wrong request is logged as an error of the application:\n%s", a.log)
	}
}

// TestSignOutWithoutTheProvider signs out while the provider is unavailable or has no sign-out URL. The local session
// must end.
func TestSignOutWithoutTheProvider(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		endSession, says string
		down             bool
	}{
		"unavailable":     {endpoint, "discovery", true},
		"no sign-out URL": {"", "its metadata names no end_session_endpoint", false},
		"not a string":    {`{"a":1}`, "its metadata names no end_session_endpoint", false},
		"http":            {`"http://op.example/end"`, "its metadata names no end_session_endpoint", false},
		"a script":        {`"javascript:alert(1)"`, "its metadata names no end_session_endpoint", false},
	} {
		op := &smallOP{endSession: row.endSession}
		config := core.Config{}
		a := awayApp(t, op, config)
		b := op.signIn(t, a, "s1")
		if row.down { // another process without cached metadata
			restarted := awayApp(t, op, config)
			b.auth, op.down, a = restarted, true, restarted
		}
		r := b.submit("/auth/signout", url.Values{"callbackUrl": {"/bye"}})
		if r.Redirect != "https://app.test/bye" || b.cookies[sessionCookie] != "" || b.cookies[logoutCookie] != "" {
			t.Errorf("%s: %d to %q with %v", name, r.Status, r.Redirect, b.cookies)
		}
		log := a.log.String()
		if !strings.Contains(log, row.says) || !strings.Contains(log, "the one at the provider has not") {
			t.Errorf("%s: the log does not say %q:\n%s", name, row.says, log)
		}
	}
}

// TestSignOutOfAnotherKind checks that the provider is not asked if the session did not start there.
func TestSignOutOfAnotherKind(t *testing.T) {
	t.Parallel()
	op := &smallOP{endSession: endpoint}
	kept := opRecords{newOPRows(), newDrawer()}
	a := awayApp(t, op, core.Config{Store: kept, Session: core.SessionConfig{Strategy: core.StrategyJWT}})
	b := op.signIn(t, a, "s1")
	b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
	if b.cookies[logoutCookie] != "" || len(kept.records) > 0 {
		t.Errorf("the provider is remembered after a sign-in with a password: %v, %v", b.cookies, kept.records)
	}
	if r := b.submit("/auth/signout", url.Values{"callbackUrl": {"/bye"}}); r.Redirect != "https://app.test/bye" {
		t.Errorf("signed out to %q", r.Redirect)
	}
}

// TestForgottenProvider checks that the logout cookie is removed when the session is replaced, and when it ends without
// a redirect of its browser.
func TestForgottenProvider(t *testing.T) {
	t.Parallel()
	leave := core.Action{Method: "POST", Name: "toy", Verb: "leave"}
	leave.Handle = func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		return c.JSON(ctx, http.StatusOK, "bye"), c.SignOut(ctx)
	}
	for name, end := range map[string]func(a *app, b *browser){
		"a plugin signs out": func(_ *app, b *browser) { b.submit("/auth/toy/leave", nil) },
		"NewSession": func(a *app, b *browser) {
			cookies, err := a.NewSession(t.Context(), b.request("GET", "/", "", ""), &core.User{ID: "ada"})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cookies {
				b.keep(c)
			}
		},
	} {
		op, kept := &smallOP{endSession: endpoint}, opRecords{newOPRows(), newDrawer()}
		a := awayApp(t, op, core.Config{
			Store: kept, Session: core.SessionConfig{Strategy: core.StrategyJWT}, Plugins: []core.Plugin{answers(leave)},
		})
		b := op.signIn(t, a, "s1")
		if len(kept.records) != 1 {
			t.Fatalf("%d records", len(kept.records))
		}
		if end(a, b); b.cookies[logoutCookie] != "" || len(kept.records) > 0 {
			t.Errorf("%s: leftover cookies %v, records %v", name, b.cookies, kept.records)
		}
	}
}

// TestLogoutOfABearer signs out a client with a bearer token, which cannot be redirected.
func TestLogoutOfABearer(t *testing.T) {
	t.Parallel()
	op := &smallOP{endSession: endpoint}
	a := awayApp(t, op, core.Config{Session: core.SessionConfig{Bearer: true}})
	b := op.signIn(t, a, "s1")
	c := client(t, a, b)
	c.cookies = b.cookies
	if r := c.post("/auth/signout", nil); r.Err != nil || strings.HasPrefix(r.Redirect, "https://op.example") {
		t.Errorf("%d to %q, %v", r.Status, r.Redirect, r.Err)
	}
	if b.cookies[logoutCookie] == "" {
		t.Error("the browser's own sign-out does not redirect to the provider")
	}
}

// TestIDTokenOfAnotherUser sends the logout cookie of another user. That user's ID token must not be sent to the
// provider.
func TestIDTokenOfAnotherUser(t *testing.T) {
	t.Parallel()
	op := &smallOP{endSession: endpoint}
	kept := opRecords{newOPRows(), newDrawer()}
	a := awayApp(t, op, core.Config{Store: kept, Session: core.SessionConfig{Strategy: core.StrategyJWT}})
	theirs := op.signIn(t, a, "s1").cookies[logoutCookie]
	b := visit(t, a)
	b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
	if b.cookies[sessionCookie] == "" {
		t.Fatal("not signed in")
	}
	b.cookies[logoutCookie] = theirs
	if asked, _ := signOutTo(b, "/"); asked.Has("id_token_hint") {
		t.Errorf("request parameters %v", asked)
	}
	nobody := visit(t, a)
	nobody.cookies[logoutCookie] = op.signIn(t, a, "s2").cookies[logoutCookie]
	if asked, _ := signOutTo(nobody, "/"); asked.Has("id_token_hint") {
		t.Errorf("without a session: request parameters %v", asked)
	}
}

// TestLongIDTokens checks that headers stay short. An ID token that does not fit into the header is omitted, and one
// that does not fit into a record is not stored.
func TestLongIDTokens(t *testing.T) {
	t.Parallel()
	for _, padding := range []int{0, 600, 1200, 1800, 2400, 4000, 5500, 9000} {
		op := &smallOP{endSession: endpoint, padding: padding}
		a := awayApp(t, op, core.Config{Store: opRecords{newOPRows(), newDrawer()}})
		b := op.signIn(t, a, "s1")
		asked, r := signOutTo(b, "/"+strings.Repeat("x", 800))
		if n := headerLength(r); n >= 4000 {
			t.Errorf("a token of about %d bytes: the header has %d bytes", padding, n)
		}
		if has := asked.Has("id_token_hint"); has != (padding <= 1200) {
			t.Errorf("a token of about %d bytes: sent: %t", padding, has)
		}
		if strings.Contains(a.log.String(), "level=ERROR") {
			t.Errorf("%s", a.log)
		}
	}
}

// TestSignOutAtTheProviderWithAnOutage signs out while the store fails. The redirect to the provider still works.
func TestSignOutAtTheProviderWithAnOutage(t *testing.T) {
	t.Parallel()
	op := &smallOP{endSession: endpoint}
	kept := opRecords{newOPRows(), newDrawer()}
	a := awayApp(t, op, core.Config{Store: kept})
	b := op.signIn(t, a, "s1")
	kept.down = context.DeadlineExceeded
	if asked, _ := signOutTo(b, "/"); asked.Has("id_token_hint") || b.cookies[sessionCookie] != "" {
		t.Errorf("request parameters %v", asked)
	}
	c := op.signIn(t, a, "s2") // the ID token is not stored, and the sign-in succeeds
	kept.down = nil
	if asked, _ := signOutTo(c, "/"); asked.Has("id_token_hint") {
		t.Errorf("request parameters %v", asked)
	}
}

// TestNoLogoutByDefault checks that without OAuthProvider.Logout nothing is stored and the return URL does not exist.
func TestNoLogoutByDefault(t *testing.T) {
	t.Parallel()
	op := &smallOP{endSession: endpoint}
	a := openOP(t, op, core.Config{Store: opRecords{newOPRows(), newDrawer()}})
	b := op.signIn(t, a, "s1")
	if b.cookies[logoutCookie] != "" {
		t.Errorf("%v", b.cookies)
	}
	if r := b.get("/auth/logout/op?state=x"); r.Status != 400 {
		t.Errorf("status %d", r.Status)
	}
	b.cookies[logoutCookie] = "op.key"
	if r := b.submit("/auth/signout", url.Values{"callbackUrl": {"/bye"}}); r.Redirect != "https://app.test/bye" {
		t.Errorf("signed out to %q", r.Redirect)
	}
}

// TestIDTokenAfterASecondFactor signs in with a second factor. The ID token is kept until the sign-in is complete.
func TestIDTokenAfterASecondFactor(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			op := &smallOP{endSession: endpoint}
			a := awayApp(t, op, core.Config{
				Store: opRecords{newOPRows(), newDrawer()}, Session: core.SessionConfig{Strategy: strategy},
				Plugins: []core.Plugin{&toyFactor{name: "toyfactor"}},
			})
			op.sid = "s1"
			_, r := comeBack(t, a)
			b := visit(t, a)
			for _, c := range r.Cookies {
				b.keep(c)
			}
			if b.cookies[sessionCookie] != "" {
				t.Fatal("signed in without the second factor")
			}
			b.submit("/auth/toyfactor", url.Values{"code": {"123456"}})
			if b.cookies[sessionCookie] == "" {
				t.Fatal("not signed in")
			}
			if asked, _ := signOutTo(b, "/"); strings.Count(asked.Get("id_token_hint"), ".") != 2 {
				t.Errorf("request parameters %v", asked)
			}
		})
	}
}
