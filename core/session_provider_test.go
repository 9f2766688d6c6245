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

// opRecords is a store of rows and records.
type opRecords struct {
	*opRows
	*drawer
}

// awayApp is an application whose sign-outs lead on to op, with passwords beside it.
func awayApp(t *testing.T, op *smallOP, config core.Config) *app {
	t.Helper()
	config.Providers = []core.Provider{&core.OAuthProvider{
		ID: "op", Type: core.TypeOIDC, Issuer: "https://op.example/common", ClientID: "id", ClientSecret: "secret",
		HTTPClient: &http.Client{Transport: op}, Logout: core.On,
	}, passwords()}
	a := newApp(t, config)
	op.clock = a.clock
	return a
}

// endpoint is where op signs out, with a parameter of its own.
const endpoint = `"https://op.example/end?tenant=1"`

// signOutTo signs out towards a page, and returns the parameters that the provider is asked with.
func signOutTo(b *browser, target string) (url.Values, *core.Response) {
	b.t.Helper()
	r := b.submit("/auth/signout", url.Values{"callbackUrl": {target}})
	u, err := url.Parse(r.Redirect)
	if err != nil || !strings.HasPrefix(r.Redirect, "https://op.example/end?") {
		b.t.Fatalf("signed out to %q, %v", r.Redirect, r.Err)
	}
	return u.Query(), r
}

// TestSignOutAtTheProvider goes the whole way: the session here ends first, the provider is told which of its sessions
// is meant as far as that is kept, and its answer leads where the sign-out was to lead.
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
				t.Error("the session here goes on")
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
				t.Errorf("asked with %v, want %v", asked, want)
			}
			if kept, ok := row.config.Store.(opRecords); ok && len(kept.records) > 0 {
				t.Errorf("left behind: %v", kept.records)
			}
			r := b.get("/auth/logout/op?state=" + key)
			if r.Redirect != "https://app.test/bye?x=1" || b.cookies[logoutCookie] != "" {
				t.Errorf("back at %q, %v", r.Redirect, r.Err)
			}
		})
	}
}

// TestReturnFromASignOut brings answers that the provider did not give to this browser: none leads where the sign-out
// was to lead, and none ends anything.
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
		"no state, and a page of its own": {target: "/auth/logout/op?callbackUrl=/mine"},
		"another state":                   {target: "/auth/logout/op?state=other"},
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
		t.Errorf("a visitor's answer is an error of the application:\n%s", a.log)
	}
}

// TestSignOutWithoutTheProvider signs out while the provider is away, or has no address for it: nobody stays signed in.
func TestSignOutWithoutTheProvider(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		endSession, says string
		down             bool
	}{
		"away":       {endpoint, "discovery", true},
		"no address": {"", "its metadata names no end_session_endpoint", false},
		"no text":    {`{"a":1}`, "its metadata names no end_session_endpoint", false},
		"http":       {`"http://op.example/end"`, "its metadata names no end_session_endpoint", false},
		"a script":   {`"javascript:alert(1)"`, "its metadata names no end_session_endpoint", false},
	} {
		op := &smallOP{endSession: row.endSession}
		config := core.Config{}
		a := awayApp(t, op, config)
		b := op.signIn(t, a, "s1")
		if row.down { // another process, that has not asked yet
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

// TestSignOutOfAnotherKind leaves the provider alone where the session did not begin there.
func TestSignOutOfAnotherKind(t *testing.T) {
	t.Parallel()
	op := &smallOP{endSession: endpoint}
	kept := opRecords{newOPRows(), newDrawer()}
	a := awayApp(t, op, core.Config{Store: kept, Session: core.SessionConfig{Strategy: core.StrategyJWT}})
	b := op.signIn(t, a, "s1")
	b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
	if b.cookies[logoutCookie] != "" || len(kept.records) > 0 {
		t.Errorf("the provider is remembered behind a sign-in with a password: %v, %v", b.cookies, kept.records)
	}
	if r := b.submit("/auth/signout", url.Values{"callbackUrl": {"/bye"}}); r.Redirect != "https://app.test/bye" {
		t.Errorf("signed out to %q", r.Redirect)
	}
}

// TestForgottenProvider: what takes the place of a session, or ends it without its browser being sent anywhere, forgets
// where it began.
func TestForgottenProvider(t *testing.T) {
	t.Parallel()
	leave := core.Action{Method: "POST", Name: "toy", Verb: "leave"}
	leave.Handle = func(ctx context.Context, c *core.Call) (*core.Response, error) {
		return c.Answer(ctx, http.StatusOK, "bye"), c.SignOut(ctx)
	}
	for name, end := range map[string]func(a *app, b *browser){
		"a part signs out": func(_ *app, b *browser) { b.submit("/auth/toy/leave", nil) },
		"a session of the application's": func(a *app, b *browser) {
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
			Store: kept, Session: core.SessionConfig{Strategy: core.StrategyJWT}, Parts: []core.Part{answers(leave)},
		})
		b := op.signIn(t, a, "s1")
		if len(kept.records) != 1 {
			t.Fatalf("%d records", len(kept.records))
		}
		if end(a, b); b.cookies[logoutCookie] != "" || len(kept.records) > 0 {
			t.Errorf("%s: left behind %v, %v", name, b.cookies, kept.records)
		}
	}
}

// TestLogoutOfABearer signs out a program, which can be sent nowhere.
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
		t.Error("the browser's own sign-out has nowhere to lead to")
	}
}

// TestIDTokenOfAnotherUser brings the cookie of somebody else: their ID token stays here.
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
		t.Errorf("asked with %v", asked)
	}
	nobody := visit(t, a)
	nobody.cookies[logoutCookie] = op.signIn(t, a, "s2").cookies[logoutCookie]
	if asked, _ := signOutTo(nobody, "/"); asked.Has("id_token_hint") {
		t.Errorf("without a session: asked with %v", asked)
	}
}

// TestLongIDTokens keeps headers short: a token that does not fit is left out, one that no record holds is not kept.
func TestLongIDTokens(t *testing.T) {
	t.Parallel()
	for _, padding := range []int{0, 600, 1200, 1800, 2400, 4000, 5500, 9000} {
		op := &smallOP{endSession: endpoint, padding: padding}
		a := awayApp(t, op, core.Config{Store: opRecords{newOPRows(), newDrawer()}})
		b := op.signIn(t, a, "s1")
		asked, r := signOutTo(b, "/"+strings.Repeat("x", 800))
		if n := headerLength(r); n >= 4000 {
			t.Errorf("a token of some %d bytes: the header has %d", padding, n)
		}
		if has := asked.Has("id_token_hint"); has != (padding <= 1200) {
			t.Errorf("a token of some %d bytes: sent: %t", padding, has)
		}
		if strings.Contains(a.log.String(), "level=ERROR") {
			t.Errorf("%s", a.log)
		}
	}
}

// TestSignOutAtTheProviderWithAnOutage has the store fail while somebody signs out: they leave all the same.
func TestSignOutAtTheProviderWithAnOutage(t *testing.T) {
	t.Parallel()
	op := &smallOP{endSession: endpoint}
	kept := opRecords{newOPRows(), newDrawer()}
	a := awayApp(t, op, core.Config{Store: kept})
	b := op.signIn(t, a, "s1")
	kept.down = context.DeadlineExceeded
	if asked, _ := signOutTo(b, "/"); asked.Has("id_token_hint") || b.cookies[sessionCookie] != "" {
		t.Errorf("asked with %v", asked)
	}
	c := op.signIn(t, a, "s2") // the ID token is not kept: the sign-in does not notice
	kept.down = nil
	if asked, _ := signOutTo(c, "/"); asked.Has("id_token_hint") {
		t.Errorf("asked with %v", asked)
	}
}

// TestNoLogoutUnlessAsked: without the option nothing is remembered, and the way back is no action.
func TestNoLogoutUnlessAsked(t *testing.T) {
	t.Parallel()
	op := &smallOP{endSession: endpoint}
	a := openOP(t, op, core.Config{Store: opRecords{newOPRows(), newDrawer()}})
	b := op.signIn(t, a, "s1")
	if b.cookies[logoutCookie] != "" {
		t.Errorf("%v", b.cookies)
	}
	if r := b.get("/auth/logout/op?state=x"); r.Status != 400 {
		t.Errorf("answered %d", r.Status)
	}
	b.cookies[logoutCookie] = "op.key"
	if r := b.submit("/auth/signout", url.Values{"callbackUrl": {"/bye"}}); r.Redirect != "https://app.test/bye" {
		t.Errorf("signed out to %q", r.Redirect)
	}
}
