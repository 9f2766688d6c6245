package oauthflow_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/oauthflow"
	"github.com/latchkey-go/latchkey/internal/exchange"
	"github.com/latchkey-go/latchkey/internal/form"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// back returns the parameters of a successful authorization response.
func back(sent url.Values) url.Values {
	return url.Values{"code": {"c1"}, "state": {sent.Get("state")}}
}

// TestSignIn runs all steps, and checks what is sent to the provider.
func TestSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	sent := w.start(t, nil)
	if sent.Get("redirect_uri") != base+"/callback/op" || sent.Get("scope") != "openid email" ||
		sent.Get("code_challenge_method") != "S256" || sent.Get("state") == "" || sent.Get("nonce") == "" {
		t.Errorf("authorization request: %v", sent)
	}
	answer, err := w.read(t, back(sent))
	if err != nil || answer.Session != flowstate.SameSession || len(answer.Clear) != 3 {
		t.Fatalf("%+v, %v", answer, err)
	}
	result, err := w.Complete(t.Context(), answer, w)
	if err != nil {
		t.Fatal(err)
	}
	if result.Profile["sub"] != "u1" || result.Claims["name"] != "Ada" || result.Tokens.AccessToken != "at" {
		t.Errorf("result: %+v", result)
	}
	form := w.asked["/token"]
	if form.Get("code") != "c1" || form.Get("redirect_uri") != base+"/callback/op" || len(form.Get("code_verifier")) < 43 {
		t.Errorf("token request: %v", form)
	}
	if strings.Join(w.received, " ") != "access_token extra id_token token_type" {
		t.Errorf("members: %v", w.received)
	}
	if w.times["/userinfo"] != 0 {
		t.Error("userinfo was requested, although the ID token has a name")
	}
}

// TestFurther checks which parameters a request adds to the authorization request.
func TestFurther(t *testing.T) {
	t.Parallel()
	query, err := weburl.Query("/auth/signin/op?login_hint=ada&state=evil")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, nil)
	sent := w.start(t, func(r *oauthflow.Request) { r.Query, r.Locale = query, "de" })
	if sent.Get("login_hint") != "ada" || sent.Get("state") == "evil" || sent.Get("ui_locales") != "de" {
		t.Errorf("sent %v", sent)
	}
	own := newWorld(t, func(_ *world, c *oauth.Config) {
		c.Authorization.Params = url.Values{"ui_locales": {"fr"}}
	})
	if sent := own.start(t, func(r *oauthflow.Request) { r.Locale = "de" }); sent.Get("ui_locales") != "fr" {
		t.Errorf("a configured ui_locales: %v", sent)
	}
	plain := newWorld(t, func(w *world, _ *oauth.Config) { w.OpenID = false })
	if sent := plain.start(t, func(r *oauthflow.Request) { r.Locale = "de" }); sent.Has("ui_locales") {
		t.Errorf("OAuth 2.0: %v", sent)
	}
}

// TestStartErrors checks who is blamed for an authorization request that cannot be made.
func TestStartErrors(t *testing.T) {
	t.Parallel()
	long, err := weburl.Query("/auth/signin/op?x=" + strings.Repeat("x", 9000))
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		size  int
		cause func(error) error
	}{
		"the request is long":       {9000, errormarks.ByClient},
		"the configuration is long": {100, nil},
	} {
		w := newWorld(t, nil)
		_, _, err := w.Start(t.Context(), &oauthflow.Request{
			Browser: w.browser(), Origin: app, Base: base, Query: long, TargetSize: row.size,
		})
		fails(t, name, err, failure{kind: autherr.Auth, cause: row.cause})
	}
	w := newWorld(t, nil)
	w.answers["/.well-known/openid-configuration"] = "!"
	_, _, err = w.Start(t.Context(), &oauthflow.Request{Browser: w.browser(), Origin: app, Base: base})
	fails(t, "no discovery", err, failure{kind: autherr.Auth})
}

// TestAskToAuthenticate checks the parameters of a re-authentication.
func TestAskToAuthenticate(t *testing.T) {
	t.Parallel()
	again := &flowstate.Reauth{Session: "s1", Hint: "ada@example.com", ACR: []string{"gold", "silver"}}
	query, err := weburl.Query("/auth/reauth/op?login_hint=eve")
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		configured, issuer, prompt string
	}{
		"default":        {"", "", "login"},
		"configured":     {"consent none", "", "consent login"},
		"has login":      {"login", "", "login"},
		"without prompt": {"", "https://accounts.google.com", "select_account"},
	} {
		w := newWorld(t, func(w *world, c *oauth.Config) {
			c.Authorization.Params = url.Values{"prompt": {row.configured}}
			if row.issuer != "" {
				w.Issuer = row.issuer
			}
		})
		sent := w.start(t, func(r *oauthflow.Request) { r.Start.Reauth, r.Query = again, query })
		if sent.Get("prompt") != row.prompt || sent.Get("max_age") != "0" || sent.Get("login_hint") != again.Hint ||
			sent.Get("acr_values") != "gold silver" {
			t.Errorf("%s: %v", name, sent)
		}
	}
	plain := newWorld(t, func(w *world, _ *oauth.Config) { w.OpenID = false })
	if sent := plain.start(t, func(r *oauthflow.Request) { r.Start.Reauth = again }); sent.Has("prompt") {
		t.Errorf("OAuth 2.0: %v", sent)
	}
}

// TestAuthenticatesAgain checks which providers can authenticate a user again, and which can show it.
func TestAuthenticatesAgain(t *testing.T) {
	t.Parallel()
	checks := flowstate.Client{ID: "op", Checks: []string{"state"}}
	claims := oauth.Endpoint{Params: url.Values{"claims": {`{"id_token":{"auth_time":null}}`}}}
	const google = "https://accounts.google.com"
	for name, row := range map[string]struct {
		flow       oauthflow.Flow
		always     bool
		can, shows bool
	}{
		"OpenID Connect":    {oauthflow.Flow{Provider: checks, OpenID: true}, false, true, true},
		"OAuth 2.0":         {oauthflow.Flow{Provider: checks}, false, false, false},
		"OAuth 2.0, always": {oauthflow.Flow{Provider: checks}, true, true, true},
		"without checks":    {oauthflow.Flow{OpenID: true}, false, false, false},
		"OAuth 1.0a":        {oauthflow.Flow{Provider: checks, Client1: &oauth.Observed1{}}, true, false, false},
		"Google":            {oauthflow.Flow{Provider: checks, OpenID: true, Issuer: google}, false, true, false},
		"Google, always":    {oauthflow.Flow{Provider: checks, OpenID: true, Issuer: google}, true, true, true},
		"Google, asks for a time": {
			oauthflow.Flow{Provider: checks, OpenID: true, Issuer: google, Authorization: claims}, false, true, true,
		},
	} {
		if can, shows := row.flow.AuthenticatesAgain(row.always); can != row.can || shows != row.shows {
			t.Errorf("%s: %t, %t", name, can, shows)
		}
	}
}

// TestRefusedCallbacks checks the callbacks that no flow of this browser has, or that the provider has refused.
func TestRefusedCallbacks(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(w *world, params url.Values)
		want   failure
		state  error // of package flowstate
	}{
		"another state": {func(_ *world, p url.Values) { p.Set("state", "x") }, failure{}, flowstate.ErrOtherState},
		"another browser": {
			func(w *world, _ url.Values) { w.csrf = "browser 2" }, failure{}, flowstate.ErrOtherBrowser,
		},
		"no cookies": {func(w *world, _ url.Values) { clear(w.cookies) }, failure{}, flowstate.ErrNoFlow},
		"two codes":  {func(_ *world, p url.Values) { p.Add("code", "c2") }, failure{kind: autherr.InvalidCheck}, nil},
		"another issuer": {
			func(_ *world, p url.Values) { p.Set("iss", "https://evil.test") }, failure{kind: autherr.InvalidCheck}, nil,
		},
		"the user cancels": {
			func(_ *world, p url.Values) { p.Set("error", "access_denied") },
			failure{kind: autherr.OAuthCallback, cause: errormarks.ByClient}, nil,
		},
		"a wrong registration": {
			func(_ *world, p url.Values) { p.Set("error", "invalid_scope") }, failure{kind: autherr.OAuthCallback}, nil,
		},
		"another error": {
			func(_ *world, p url.Values) { p.Set("error", "server_error") },
			failure{kind: autherr.OAuthCallback, cause: errormarks.Suspicious}, nil,
		},
		"no code": {
			func(_ *world, p url.Values) { p.Del("code") },
			failure{kind: autherr.CallbackRoute, cause: errormarks.ByClient}, nil,
		},
		"a used code": {
			func(w *world, _ url.Values) { w.answers["/token"] = `!{"error":"invalid_grant"}` },
			failure{kind: autherr.CallbackRoute, cause: errormarks.Suspicious, reason: errormarks.Used}, nil,
		},
		"wrong credentials": {
			func(w *world, _ url.Values) { w.answers["/token"] = `!{"error":"invalid_client"}` },
			failure{kind: autherr.CallbackRoute}, nil,
		},
		"an ID token of another client": {
			func(w *world, _ url.Values) { w.claims["aud"] = "other" }, failure{kind: autherr.CallbackRoute}, nil,
		},
		"an ID token of another sign-in": {
			func(w *world, _ url.Values) { w.claims["nonce"] = "other" }, failure{kind: autherr.CallbackRoute}, nil,
		},
	} {
		w := newWorld(t, nil)
		params := back(w.start(t, nil))
		row.change(w, params)
		_, err := w.callback(t, params)
		if row.state != nil {
			if !errors.Is(err, row.state) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		fails(t, name, err, row.want)
		if w.times["/token"] > 0 && row.want.kind != autherr.CallbackRoute {
			t.Errorf("%s: the code was sent", name)
		}
		if w.times["/userinfo"] > 0 {
			t.Errorf("%s: the profile was requested", name)
		}
	}
}

// TestClearedCookies checks that a flow is valid for one callback, also if it fails.
func TestClearedCookies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	params := back(w.start(t, func(r *oauthflow.Request) { r.Start.Reauth = &flowstate.Reauth{Session: "s1"} }))
	params.Add("code", "c2")
	answer, err := w.read(t, params)
	if err == nil || len(answer.Clear) != 3 || answer.Flow == nil || answer.Flow.Reauth.Session != "s1" {
		t.Errorf("%+v, %v", answer, err)
	}
}

// TestSessions checks that Read compares the session with the one that started the flow.
func TestSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.owner = "session 1"
	params := back(w.start(t, nil))
	w.owner = "session 2"
	if answer, err := w.read(t, params); err != nil || answer.Session != flowstate.OtherSession {
		t.Errorf("%+v, %v", answer, err)
	}
}

// TestWithoutChecks checks that a provider without checks needs no cookies, and that nothing is shared.
func TestWithoutChecks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, _ *oauth.Config) { w.Provider.Checks = nil })
	if sent := w.start(t, nil); sent.Has("state") || len(w.cookies) != 0 {
		t.Errorf("sent %v with cookies %v", sent, w.cookies)
	}
	w.owner = "session 1"
	for range 2 {
		answer, err := w.read(t, url.Values{"code": {"c1"}})
		if err != nil || answer.Session != flowstate.SameSession {
			t.Fatalf("%+v, %v", answer, err)
		}
		if _, err := w.Complete(t.Context(), answer, w); err != nil {
			t.Fatal(err)
		}
	}
	if w.times["/token"] != 2 {
		t.Errorf("%d token requests", w.times["/token"])
	}
}

// TestRepeatedCallback checks that a repeated callback gets the result of the first one, and a re-authentication does
// not.
func TestRepeatedCallback(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		reauth *flowstate.Reauth
		change func(w *world)
		times  int
	}{
		"repeated":          {nil, func(*world) {}, 1},
		"another browser":   {nil, func(w *world) { w.browserID = "browser 2" }, 2},
		"re-authentication": {&flowstate.Reauth{Session: "s1"}, func(*world) {}, 2},
	} {
		w := newWorld(t, nil)
		params := back(w.start(t, func(r *oauthflow.Request) { r.Start.Reauth = row.reauth }))
		for range 2 {
			if result, err := w.callback(t, params); err != nil || result.Profile["sub"] != "u1" {
				t.Errorf("%s: %v, %v", name, result, err)
			}
			row.change(w)
		}
		if w.times["/token"] != row.times {
			t.Errorf("%s: %d token requests", name, w.times["/token"])
		}
	}
	w := newWorld(t, nil)
	for range 2 { // two sign-ins with the same code
		delete(w.claims, "nonce")
		if _, err := w.callback(t, back(w.start(t, nil))); err != nil {
			t.Fatal(err)
		}
	}
	if w.times["/token"] != 2 {
		t.Errorf("another sign-in: %d token requests", w.times["/token"])
	}
}

// tools are the tools of a world with another userinfo request.
type tools struct {
	*world
	ask func(ctx context.Context) (map[string]any, error)
}

// Userinfo implements [oauthflow.Tools].
func (o tools) Userinfo(
	ctx context.Context, _ oauth.Endpoints, _ *oauth.Tokens, _ map[string]any,
) (map[string]any, error) {
	return o.ask(ctx)
}

// TestExchangeErrors checks the errors of a shared exchange.
func TestExchangeErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, _ *oauth.Config) { w.ProfileFromUserinfo = true })
	params := back(w.start(t, nil))
	answer, err := w.read(t, params)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Complete(t.Context(), answer, tools{w, func(context.Context) (map[string]any, error) { panic("boom") }})
	fails(t, "a panic", err, failure{kind: autherr.CallbackRoute})
	if _, ok := errors.AsType[*panics.Error](err); !ok {
		t.Errorf("a panic has no stack: %v", err)
	}
	_, err = w.Complete(t.Context(), answer, tools{w, func(context.Context) (map[string]any, error) {
		params.Set("code", "c2") // while the first exchange is in progress
		other, err := w.read(t, params)
		if err != nil {
			t.Error(err)
		}
		_, err = w.Complete(t.Context(), other, w)
		fails(t, "another code", err, failure{kind: autherr.InvalidCheck, reason: errormarks.Used})
		return nil, errors.New("down")
	}})
	fails(t, "userinfo", err, failure{kind: autherr.CallbackRoute})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	_, err = w.Complete(ctx, answer, tools{w, func(context.Context) (map[string]any, error) {
		cancel()
		<-done
		return nil, errors.New("down")
	}})
	close(done)
	fails(t, "a browser that disconnects", err, failure{kind: autherr.CallbackRoute, cause: errormarks.ByClient})
}

// TestUserinfo checks which sign-ins request the profile from the userinfo endpoint.
func TestUserinfo(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		configure    func(w *world, c *oauth.Config)
		email, times int // whether the profile has the address
		fails        bool
		warnings     int
	}{
		"the ID token has a name": {func(*world, *oauth.Config) {}, 0, 0, false, 0},
		"configured":              {func(w *world, _ *oauth.Config) { w.ProfileFromUserinfo = true }, 1, 1, false, 0},
		"OAuth 2.0":               {func(w *world, _ *oauth.Config) { w.OpenID = false }, 1, 1, false, 0},
		"no name":                 {func(w *world, _ *oauth.Config) { w.claims["name"] = nil }, 1, 1, false, 0},
		"no name, not requested": {func(w *world, _ *oauth.Config) {
			w.claims["name"], w.Scope = nil, "openid"
		}, 0, 0, false, 0},
		"no name, requested by a parameter": {func(w *world, c *oauth.Config) {
			w.claims["name"], w.Scope = nil, "openid"
			c.Authorization.Params = url.Values{"scope": {"openid+profile"}}
		}, 1, 1, false, 0},
		"no name, not granted": {func(w *world, _ *oauth.Config) {
			w.claims["name"] = nil
			w.answers["/token"] = `{"access_token":"at","token_type":"bearer","scope":"openid","id_token":"` + w.idToken() + `"}`
			w.Provider.Checks = []string{"state"}
		}, 0, 0, false, 0},
		"no name, userinfo is down": {func(w *world, _ *oauth.Config) {
			w.claims["name"], w.answers["/userinfo"] = nil, "!"
		}, 0, 1, false, 1},
		"no name, no endpoint": {func(w *world, _ *oauth.Config) {
			w.claims["name"] = nil
			w.answers["/.well-known/openid-configuration"] = `{"issuer":"` + w.server.URL + `","jwks_uri":"` + w.server.URL +
				`/keys","authorization_endpoint":"` + w.server.URL + `/authorize","token_endpoint":"` + w.server.URL + `/token"}`
		}, 0, 0, false, 0},
		"no name, another subject": {func(w *world, _ *oauth.Config) {
			w.claims["name"], w.answers["/userinfo"] = nil, `{"sub":"u2","email":"eve@example.com"}`
		}, 0, 1, false, 1},
		"another subject": {func(w *world, _ *oauth.Config) {
			w.ProfileFromUserinfo, w.answers["/userinfo"] = true, `{"sub":"u2"}`
		}, 0, 1, true, 0},
		"a number as the subject": {func(w *world, _ *oauth.Config) {
			w.ProfileFromUserinfo, w.claims["sub"] = true, "7"
			w.answers["/userinfo"] = `{"sub":7,"email":"ada@example.com"}`
		}, 1, 1, false, 0},
		"down": {func(w *world, _ *oauth.Config) {
			w.ProfileFromUserinfo, w.answers["/userinfo"] = true, "!"
		}, 0, 1, true, 0},
	} {
		w := newWorld(t, row.configure)
		result, err := w.callback(t, back(w.start(t, nil)))
		if row.fails {
			fails(t, name, err, failure{kind: autherr.CallbackRoute})
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if (result.Profile["email"] == "ada@example.com") != (row.email == 1) {
			t.Errorf("%s: %v", name, result.Profile)
		}
		if w.times["/userinfo"] != row.times || len(w.warned) != row.warnings {
			t.Errorf("%s: %d requests, %v", name, w.times["/userinfo"], w.warned)
		}
	}
}

// TestUserinfoTimeout checks that an optional userinfo request has a short timeout.
func TestUserinfoTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, _ *oauth.Config) { w.claims["name"] = nil })
	answer, err := w.read(t, back(w.start(t, nil)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Complete(t.Context(), answer, tools{w, func(ctx context.Context) (map[string]any, error) {
		if end, ok := ctx.Deadline(); !ok || time.Until(end) > 3*time.Second {
			t.Errorf("deadline %v, %t", end, ok)
		}
		return nil, errors.New("down")
	}})
	if err != nil {
		t.Error(err)
	}
}

// TestProxy checks where a redirect proxy forwards callbacks.
func TestProxy(t *testing.T) {
	t.Parallel()
	const proxy = "https://proxy.test"
	proxied := func(w *world, _ *oauth.Config) {
		w.ProxyURL, w.ProxyTargets, w.Provider.Proxied = proxy+"/auth", []string{app}, true
	}
	w := newWorld(t, proxied)
	sent := w.start(t, nil)
	if sent.Get("redirect_uri") != proxy+"/auth/callback/op" {
		t.Errorf("sent %v", sent)
	}
	at := func(w *world, origin, state string) (*oauthflow.Answer, error) {
		query, err := weburl.Query("/auth/callback/op?" + url.Values{"code": {"c1"}, "state": {state}}.Encode())
		if err != nil {
			t.Fatal(err)
		}
		return w.Read(t.Context(), &oauthflow.CallbackRequest{
			Browser: w.browser(), Origin: origin, Base: origin + "/auth", Query: query,
		})
	}
	answer, err := at(w, proxy, sent.Get("state"))
	if err != nil || answer.Flow != nil || !strings.HasPrefix(answer.ForwardTo, base+"/callback/op?code=c1&state=") {
		t.Errorf("at the proxy: %+v, %v", answer, err)
	}
	if answer, err := at(w, app, sent.Get("state")); err != nil || answer.ForwardTo != "" || answer.Flow == nil {
		t.Errorf("at the deployment: %+v, %v", answer, err)
	}
	_, err = at(w, proxy, "made-up")
	fails(t, "a state of another", err, failure{kind: autherr.InvalidCheck})
	w.ProxyTargets = []string{"https://other.test"}
	answer, err = at(w, proxy, sent.Get("state"))
	fails(t, "an origin that is not listed", err, failure{kind: autherr.InvalidCheck})
	if answer.ForwardTo != "" {
		t.Errorf("forwarded to %s", answer.ForwardTo)
	}
	own := newWorld(t, proxied) // a sign-in at the proxy itself
	sent = own.start(t, func(r *oauthflow.Request) { r.Origin, r.Base = proxy, proxy+"/auth" })
	if answer, err := at(own, proxy, sent.Get("state")); err != nil || answer.ForwardTo != "" || answer.Flow == nil {
		t.Errorf("a sign-in at the proxy: %+v, %v", answer, err)
	}
	if _, err := at(own, proxy, ""); !errors.Is(err, flowstate.ErrOtherState) {
		t.Errorf("without a state at the proxy: %v", err)
	}
}

// TestFormPost checks that a POST is stored for the GET that follows, and that its size is limited.
func TestFormPost(t *testing.T) {
	t.Parallel()
	post := func(w *world, fields url.Values) (string, error) {
		const media = "application/x-www-form-urlencoded"
		parsed, err := form.Read(t.Context(), []string{media}, strings.NewReader(fields.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		query, stored, err := w.StorePost(w.browser(), parsed)
		w.take(stored)
		return query, err
	}
	w := newWorld(t, func(w *world, _ *oauth.Config) { w.Provider.FormPost = true })
	fields := back(w.start(t, nil))
	fields.Set("user", `{"name":{"firstName":"Ada"}}`)
	query, err := post(w, fields)
	if err != nil || !strings.HasPrefix(query, "?flow=") {
		t.Fatalf("%q, %v", query, err)
	}
	params, err := url.ParseQuery(query[1:])
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.read(t, params)
	if err != nil || len(answer.Clear) != 4 || w.FirstConsent(answer.User)["name"] == nil {
		t.Fatalf("%+v, %v", answer, err)
	}
	if result, err := w.Complete(t.Context(), answer, w); err != nil || result.Profile["sub"] != "u1" {
		t.Errorf("%v, %v", result, err)
	}
	if w.take(answer.Clear); len(w.cookies) != 0 {
		t.Errorf("the callback leaves %v", w.cookies)
	}
	if _, err := w.read(t, params); !errors.Is(err, flowstate.ErrNoFlow) {
		t.Errorf("a second GET: %v", err)
	}
	if query, err := post(w, url.Values{"state": {"made-up"}}); err != nil || query != "" || len(w.cookies) != 0 {
		t.Errorf("a POST of no flow: %q, %v, %v", query, err, w.cookies)
	}
	w.start(t, nil)
	if query, err := post(w, url.Values{"state": {"made-up"}}); err != nil || query != "" || len(w.cookies) != 3 {
		t.Errorf("a POST with another state: %q, %v, %v", query, err, w.cookies)
	}
	clear(w.cookies)
	_, err = post(w, url.Values{"code": {"c1", "c2"}})
	fails(t, "two codes", err, failure{kind: autherr.InvalidCheck})
	_, err = post(w, url.Values{"code": {strings.Repeat("x", 1000)}, "user": {strings.Repeat("x", 801)}})
	fails(t, "too long", err, failure{kind: autherr.OAuthCallback})
	fields = back(w.start(t, nil))
	fields.Set("user", strings.Repeat("x", 1800-len("c1")-len(fields.Get("state"))))
	if query, err := post(w, fields); err != nil || query == "" {
		t.Errorf("the longest answer: %q, %v", query, err)
	}
}

// TestFirstConsent checks which user fields are read.
func TestFirstConsent(t *testing.T) {
	t.Parallel()
	posts := newWorld(t, func(w *world, _ *oauth.Config) { w.Provider.FormPost = true })
	for field, want := range map[string]bool{
		`{"name":"Ada"}`: true, "": false, "Ada": false, `{"name":"` + strings.Repeat("x", 1800) + `"}`: false,
	} {
		if user := posts.FirstConsent(field); (user != nil) != want {
			t.Errorf("%.20q: %v", field, user)
		}
	}
	if user := newWorld(t, nil).FirstConsent(`{"name":"Ada"}`); user != nil {
		t.Errorf("in a query: %v", user)
	}
}

// TestOAuth1 runs the steps of OAuth 1.0a, and the callbacks that it refuses.
func TestOAuth1(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(w *world, params url.Values)
		want   *failure
		state  error
	}{
		"the callback":    {func(*world, url.Values) {}, nil, nil},
		"another token":   {func(_ *world, p url.Values) { p.Set("oauth_token", "x") }, nil, flowstate.ErrNoFlow},
		"another browser": {func(w *world, _ url.Values) { w.csrf = "browser 2" }, nil, flowstate.ErrOtherBrowser},
		"two tokens": {
			func(_ *world, p url.Values) { p.Add("oauth_token", "x") },
			&failure{kind: autherr.OAuthCallback, cause: errormarks.ByClient}, nil,
		},
		"the user cancels": {
			func(_ *world, p url.Values) { clear(p); p.Set("denied", "rt") },
			&failure{kind: autherr.OAuthCallback, cause: errormarks.ByClient}, nil,
		},
		"userinfo is down": {
			func(w *world, _ url.Values) { w.answers["/userinfo"] = "!" }, &failure{kind: autherr.CallbackRoute}, nil,
		},
	} {
		w := newWorld1(t)
		sent := w.start(t, nil)
		if sent.Get("oauth_token") != "rt" || len(w.cookies) != 1 {
			t.Fatalf("%s: sent %v with cookies %v", name, sent, w.cookies)
		}
		params := url.Values{"oauth_token": {"rt"}, "oauth_verifier": {"v"}}
		row.change(w, params)
		answer, err := w.read(t, params)
		if err == nil && len(answer.Clear) != 1 {
			t.Errorf("%s: the callback deletes %v", name, answer.Clear)
		}
		var result *oauthflow.Result
		if err == nil {
			result, err = w.Complete(t.Context(), answer, w)
		}
		switch {
		case row.state != nil:
			if !errors.Is(err, row.state) {
				t.Errorf("%s: %v", name, err)
			}
		case row.want != nil:
			fails(t, name, err, *row.want)
		case err != nil || result.Profile["email"] != "ada@example.com":
			t.Errorf("%s: %v, %v", name, result, err)
		default:
			signed(t, w, result.Tokens)
		}
	}
	w := newWorld(t, func(w *world, c *oauth.Config) { c.RequestToken = oauth.Endpoint{URL: w.server.URL + "/request"} })
	w.answers["/request"] = "!"
	_, _, err := w.Start(t.Context(), &oauthflow.Request{Browser: w.browser(), Origin: app, Base: base})
	fails(t, "no request token", err, failure{kind: autherr.OAuthSignIn})
}

// newWorld1 returns a world with OAuth 1.0a. All signatures have the same nonce.
func newWorld1(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, func(w *world, c *oauth.Config) {
		c.OpenID, w.OpenID, w.Provider.Checks = false, false, nil
		c.RequestToken = oauth.Endpoint{URL: w.server.URL + "/request"}
		c.Authorization = oauth.Endpoint{URL: w.server.URL + "/authorize"}
		c.Token = oauth.Endpoint{URL: w.server.URL + "/access"}
		c.Userinfo = oauth.Endpoint{URL: w.server.URL + "/userinfo"}
		c.Rand = zeros{}
	})
	w.answers["/request"] = "oauth_token=rt&oauth_token_secret=rs&oauth_callback_confirmed=true"
	w.answers["/access"] = "oauth_token=at&oauth_token_secret=as"
	return w
}

// zeros is a source of randomness that is not random.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// TestOAuth1Secret checks that the secret of the request token signs the request for the access token.
func TestOAuth1Secret(t *testing.T) {
	t.Parallel()
	w := newWorld1(t)
	var headers []string
	for _, secret := range []string{"rs", "rs", "other"} {
		w.browserID += "x" // so that nothing is shared
		w.answers["/request"] = "oauth_token=rt&oauth_token_secret=" + secret + "&oauth_callback_confirmed=true"
		w.start(t, nil)
		if _, err := w.callback(t, url.Values{"oauth_token": {"rt"}, "oauth_verifier": {"v"}}); err != nil {
			t.Fatal(err)
		}
		headers = append(headers, w.signed["/access"])
	}
	if headers[0] != headers[1] || headers[1] == headers[2] {
		t.Errorf("%q", headers)
	}
}

// TestOAuth1Key checks that the same request token of two providers does not share an exchange.
func TestOAuth1Key(t *testing.T) {
	t.Parallel()
	w := newWorld1(t)
	keys := map[exchange.Key]bool{}
	for _, id := range []string{"op", "other"} {
		w.Provider.ID = id
		w.start(t, nil)
		answer, err := w.read(t, url.Values{"oauth_token": {"rt"}, "oauth_verifier": {"v"}})
		if err != nil {
			t.Fatal(err)
		}
		keys[answer.Key] = true
	}
	if len(keys) != 2 {
		t.Error("two providers have the same key")
	}
}

// signed checks that the transport of OAuth 1.0a signs requests.
func signed(t *testing.T, w *world, tokens *oauth.Tokens) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL+"/userinfo", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := w.Transport(tokens).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if got := response.Request.Header.Get("Authorization"); !strings.Contains(got, `oauth_token="at"`) {
		t.Errorf("Authorization: %s", got)
	}
}
