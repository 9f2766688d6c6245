package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestResponsesInJSON posts with JSON in the Accept header: clients get statuses and codes instead of redirects.
// Auth.js clients, which use another header, and browsers get the same responses as before.
func TestResponsesInJSON(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, path string
		fields     url.Values
		noToken    bool
		status     int
		code, err  string // of the problem document
		elsewhere  string // error in the redirect that other clients get
	}{
		{"a wrong password", "callback/credentials", url.Values{"password": {"x"}}, false, 401, "credentials",
			"CredentialsSignin", "CredentialsSignin"},
		{"a code of the application", "callback/credentials", url.Values{"password": {"locked"}}, false, 401, "locked",
			"CredentialsSignin", "CredentialsSignin"},
		{"no CSRF token", "callback/credentials", nil, true, 403, "missing_csrf", "MissingCSRF", "MissingCSRF"},
		{"no CSRF token, sign-out", "signout", nil, true, 403, "missing_csrf", "MissingCSRF", "MissingCSRF"},
		{"refused by the application", "callback/credentials", url.Values{"password": {"banned"}}, false, 403,
			"access_denied", "AccessDenied", "AccessDenied"},
		{"a provider that is none", "signin/nope", nil, false, 404, "unknown_provider", "", "Configuration"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, core.Config{Providers: []core.Provider{lockable(), plainOAuth()}})
			b := visit(t, a)
			post := b.submit
			if row.noToken {
				post = b.post
			}
			b.header.Set("Accept", "application/json, text/plain, */*")
			r := post("/auth/"+row.path, row.fields)
			var problem struct {
				Status      int
				Code, Error string
			}
			if err := json.Unmarshal(r.Body, &problem); err != nil || r.Status != row.status ||
				problem.Status != row.status || problem.Code != row.code || problem.Error != row.err || r.Redirect != "" ||
				r.Header.Get("Content-Type") != "application/problem+json" || r.Header.Get("Location") != "" {
				t.Errorf("got status %d %s", r.Status, r.Body)
			}
			b.header.Set("X-Auth-Return-Redirect", "1")
			if r = post("/auth/"+row.path, row.fields); r.Status != 200 || !strings.Contains(string(r.Body), row.elsewhere) {
				t.Errorf("a client of Auth.js gets %d %s", r.Status, r.Body)
			}
			b.header.Del("X-Auth-Return-Redirect")
			for _, accept := range []string{"*/*", "text/html", "text/html, application/json;q=0.5"} {
				b.header.Set("Accept", accept)
				if r = post("/auth/"+row.path, row.fields); r.Status != 302 || !strings.Contains(r.Redirect, row.elsewhere) {
					t.Errorf("Accept: %s gets %d to %s", accept, r.Status, r.Redirect)
				}
			}
		})
	}
}

// lockable returns a provider whose result depends on the password: "locked" fails with a code, "banned" by a rule of
// the application.
func lockable() *core.CredentialsProvider {
	p := passwords()
	check := p.Authorize
	p.Authorize = func(ctx context.Context, form map[string]string, r *core.Request) (*core.User, error) {
		switch form["password"] {
		case "locked":
			return nil, &core.Error{Type: core.ErrCredentialsSignin, Code: "locked"}
		case "banned":
			return nil, &core.Error{Type: core.ErrAccessDenied}
		}
		return check(ctx, form, r)
	}
	return p
}

// TestSuccessInJSON: the response is 200 with the URL instead of a redirect.
func TestSuccessInJSON(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords(), plainOAuth()}})
	b := visit(t, a)
	b.header.Set("Accept", "application/json")
	r := b.submit("/auth/callback/credentials", url.Values{
		"email": {"ada@example.com"}, "password": {"engine"}, "callbackUrl": {"/in"},
	})
	if r.Status != 200 || string(r.Body) != `{"url":"https://app.test/in"}` || b.cookies[sessionCookie] == "" {
		t.Errorf("a sign-in: %d %s", r.Status, r.Body)
	}
	r = b.submit("/auth/signin/plain", nil)
	if r.Status != 200 || !strings.HasPrefix(string(r.Body), `{"url":"https://op.`) {
		t.Errorf("a provider: %d %s", r.Status, r.Body)
	}
	if r = b.submit("/auth/signout", nil); r.Status != 200 || b.cookies[sessionCookie] != "" {
		t.Errorf("a sign-out: %d %s", r.Status, r.Body)
	}
}

// TestTooManyInJSON: the response is 429 with the time to wait.
func TestTooManyInJSON(t *testing.T) {
	t.Parallel()
	b := visit(t, newApp(t, core.Config{Providers: []core.Provider{passwords()}}))
	b.header.Set("Accept", "application/json")
	for range 40 {
		r := b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"x"}})
		if r.Status == 401 {
			continue
		}
		if r.Status != 429 || r.Header.Get("Retry-After") == "" || !strings.Contains(string(r.Body), `"code":"too_many"`) {
			t.Errorf("got status %d %s, %v", r.Status, r.Body, r.Header)
		}
		return
	}
	t.Error("guessing is not limited")
}

// TestFormThatStays posts redirect=false to the form actions: the response is {"url": …} instead of a redirect.
func TestFormThatStays(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords(), plainOAuth()}})
	b := visit(t, a)
	const form = "application/x-www-form-urlencoded"
	ask := func(action func(context.Context, *core.Request) *core.Response, fields url.Values) *core.Response {
		fields.Set("csrfToken", b.csrf())
		r := action(t.Context(), b.request("POST", "/login", form, fields.Encode()))
		for _, c := range r.Cookies {
			b.keep(c)
		}
		return r
	}
	in := func(password, redirect string) url.Values {
		return url.Values{
			"providerId": {"credentials"}, "email": {"ada@example.com"}, "password": {password}, "redirectTo": {"/in"},
			"redirect": {redirect},
		}
	}
	r := ask(a.SignIn, in("x", "false"))
	if r.Status != 200 || !strings.Contains(string(r.Body), "error=CredentialsSignin") {
		t.Errorf("a wrong password: %d %s", r.Status, r.Body)
	}
	if r := ask(a.SignIn, in("engine", "true")); r.Status != 303 {
		t.Errorf("redirect=true: %d %s", r.Status, r.Body)
	}
	r = ask(a.SignIn, in("engine", "false"))
	if r.Status != 200 || string(r.Body) != `{"url":"https://app.test/in"}` || b.session() == nil {
		t.Errorf("a sign-in: %d %s", r.Status, r.Body)
	}
	r = a.SignInWith(t.Context(), b.request("POST", "/login", "", ""), &core.SignInInput{
		ProviderID: "plain", CSRFToken: b.csrf(), Fields: map[string]string{"redirect": "false"},
	})
	if r.Status != 200 || !strings.HasPrefix(string(r.Body), `{"url":"https://op.example/`) {
		t.Errorf("a component: %d %s", r.Status, r.Body)
	}
	if r = ask(a.SignOut, url.Values{"redirect": {"false"}}); r.Status != 200 || b.session() != nil {
		t.Errorf("a sign-out: %d %s", r.Status, r.Body)
	}
}

// full is a store that accepts no new users.
type full struct{ *people }

func (full) CreateUser(context.Context, *core.User) (*core.User, error) {
	return nil, errors.New("disk full")
}

// TestNamesThatAreNotSent causes the errors that Auth.js formerly named Signin, OAuthSignin, OAuthCreateAccount,
// EmailCreateAccount and Callback. The user cannot fix them, so the browser gets Configuration, and the details are in
// the log (docs/protocol.md §11.1).
func TestNamesThatAreNotSent(t *testing.T) {
	t.Parallel()
	const errorPage, signInPage = "https://app.test/auth/error", "https://app.test/auth/signin"
	down := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("connection refused")
	})}
	begin := func(b *browser, _ *url.URL) *core.Response { return b.submit("/auth/signin/op", nil) }
	comeBack := func(b *browser, _ *url.URL) *core.Response {
		return b.get((&service{}).grant(b.t, b.submit("/auth/signin/op", nil).Redirect))
	}
	follow := func(b *browser, mailed *url.URL) *core.Response {
		b.submit("/auth/signin/op", url.Values{"email": {"new@example.com"}})
		return b.get(mailed.RequestURI())
	}
	for _, row := range []struct {
		name     string // the former name
		provider core.Provider
		run      func(b *browser, mailed *url.URL) *core.Response
		page     string
	}{
		{"Signin and OAuthSignin, discovery", &core.OAuthProvider{
			ID: "op", Type: core.TypeOIDC, Issuer: "https://op.example", ClientID: "id", ClientSecret: "s", HTTPClient: down,
		}, begin, errorPage},
		{"OAuthSignin, OAuth 1.0a", &core.OAuthProvider{
			ID: "op", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "s", HTTPClient: down,
			RequestToken:  core.Endpoint{URL: "https://op.example/request"},
			Authorization: core.Endpoint{URL: "https://op.example/authorize"},
			Token:         core.Endpoint{URL: "https://op.example/token"},
			Userinfo:      core.Endpoint{URL: "https://op.example/userinfo"},
		}, begin, signInPage},
		{"Callback", func() core.Provider {
			p := (&service{}).provider("op")
			p.HTTPClient = down
			return p
		}(), comeBack, errorPage},
		{"OAuthCreateAccount", granting(new(string)), comeBack, errorPage},
		{"EmailCreateAccount", &core.EmailProvider{ID: "op", ConfirmLink: core.False}, follow, errorPage},
	} {
		t.Run(row.name, func(t *testing.T) {
			mailed := &url.URL{}
			if p, ok := row.provider.(*core.EmailProvider); ok {
				p.Send = func(_ context.Context, m core.Email) error {
					return mailed.UnmarshalBinary([]byte(m.URL))
				}
			}
			a := newApp(t, core.Config{
				Store: full{newPeople()}, Session: core.SessionConfig{Strategy: core.StrategyJWT},
				Providers: []core.Provider{row.provider},
			})
			r := row.run(visit(t, a), mailed)
			if r.Redirect != row.page+"?error=Configuration" || r.Err == nil {
				t.Errorf("led to %s: %v", r.Redirect, r.Err)
			}
			if log := a.log.String(); !strings.Contains(log, "ERROR") {
				t.Errorf("the log says %s", log)
			}
		})
	}
}
