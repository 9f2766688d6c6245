package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestBadInput sends what no browser sends. Each row has a named outcome, one log line without the canary, and no panic.
func TestBadInput(t *testing.T) {
	t.Parallel()
	const canary = "canary-9f8e7d"
	huge := strings.Repeat("x", 2<<20)
	for _, row := range []struct {
		name, method, target, contentType, body, cookie string
		status                                          int
		location                                        string
	}{
		{name: "unknown action", method: "GET", target: "/auth/nope", status: 400},
		{name: "outside the base path", method: "GET", target: "/authsession", status: 400},
		{name: "base path with a slash", method: "GET", target: "/auth/", status: 400},
		{name: "path that climbs", method: "GET", target: "/auth/../admin", status: 400},
		{name: "encoded slash", method: "GET", target: "/auth/callback%2fcredentials", status: 400},
		{name: "PUT", method: "PUT", target: "/auth/session", status: 400},
		{name: "HEAD", method: "HEAD", target: "/auth/signout", status: 400},
		{name: "unknown provider", method: "GET", target: "/auth/callback/" + canary, status: 302, location: "https://app.test/auth/error?error=Configuration"},
		{name: "malformed callback URL", method: "GET", target: "/auth/signin?callbackUrl=ftp%3A%2F%2F" + canary, status: 500},
		{name: "foreign callback URL", method: "GET", target: "/auth/signin?callbackUrl=https%3A%2F%2Fevil.example", status: 200},
		{name: "malformed callback cookie", method: "GET", target: "/auth/signin", cookie: "__Secure-authjs.callback-url=blob:" + canary, status: 200},
		{name: "garbage as a session", method: "GET", target: "/auth/session", cookie: "__Secure-authjs.session-token=" + canary, status: 200},
		{name: "chunks with a gap", method: "GET", target: "/auth/session", cookie: "__Secure-authjs.session-token.7=" + canary, status: 200},
		{name: "broken cookies", method: "GET", target: "/auth/session", cookie: ";;=; \x01=%zz; a", status: 200},
		{name: "too many query fields", method: "GET", target: "/auth/session?" + strings.Repeat("a&", 500), status: 400},
		{name: "no CSRF token", method: "POST", target: "/auth/signout", contentType: "application/x-www-form-urlencoded", body: "x=" + canary, status: 302, location: "https://app.test/auth/signin?error=MissingCSRF"},
		{name: "wrong CSRF token", method: "POST", target: "/auth/signin", contentType: "application/x-www-form-urlencoded", body: "csrfToken=" + canary, status: 302, location: "https://app.test/auth/signin?error=MissingCSRF"},
		{name: "session update without a token", method: "POST", target: "/auth/session", contentType: "application/json", body: `{"data":{}}`, status: 400},
		{name: "broken JSON", method: "POST", target: "/auth/session", contentType: "application/json", body: `{"` + canary, status: 400},
		{name: "JSON with a name twice", method: "POST", target: "/auth/signout", contentType: "application/json", body: `{"csrfToken":"a","csrfToken":"b"}`, status: 400},
		{name: "broken form", method: "POST", target: "/auth/signout", contentType: "application/x-www-form-urlencoded", body: "a=%zz" + canary, status: 400},
		{name: "huge body", method: "POST", target: "/auth/signout", contentType: "application/x-www-form-urlencoded", body: huge, status: 413},
		{name: "markup as an error", method: "GET", target: "/auth/error?error=%3Cscript%3E" + canary, status: 200},
		{name: "credentials by GET", method: "GET", target: "/auth/callback/credentials?email=ada@example.com&password=" + canary, status: 302, location: "https://app.test/auth/error?error=Configuration"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
			b := visit(t, a)
			if row.cookie != "" {
				b.header.Set("Cookie", row.cookie)
			}
			r := b.send(row.method, row.target, row.contentType, row.body)
			if r.Status != row.status || row.location != "" && r.Redirect != row.location {
				t.Errorf("answered %d to %q, want %d to %q", r.Status, r.Redirect, row.status, row.location)
			}
			if strings.Contains(a.log.String(), canary) || strings.Contains(string(r.Body), canary) {
				t.Errorf("what was sent came back\nlog: %s\nbody: %.300s", a.log, r.Body)
			}
		})
	}
}

func TestHostsAreTrustedByConfigurationOnly(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		config core.Config
		origin string
		header map[string]string
		status int
		want   string
	}{
		{"nothing is trusted", core.Config{TrustHost: core.Off}, "https://app.test", nil, 500, ""},
		{"pinned, another host", core.Config{URL: "https://app.test"}, "https://evil.example", nil, 200, "https://app.test/auth"},
		{"pinned, forwarded", core.Config{URL: "https://app.test"}, "https://app.test", map[string]string{"X-Forwarded-Host": "evil.example"}, 200, "https://app.test/auth"},
		{"listed", core.Config{TrustedHosts: []string{"app.test"}}, "https://app.test", nil, 200, "https://app.test/auth"},
		{"not listed", core.Config{TrustedHosts: []string{"app.test"}}, "https://evil.example", nil, 400, ""},
		{"open, odd scheme", core.Config{TrustHost: core.On}, "https://app.test", map[string]string{"X-Forwarded-Proto": "javascript"}, 400, ""},
		{"open, forwarded", core.Config{TrustHost: core.On}, "http://inner", map[string]string{"X-Forwarded-Host": "app.test", "X-Forwarded-Proto": "https"}, 200, "https://app.test/auth"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.config.Providers = []core.Provider{passwords()}
			b := visit(t, newApp(t, row.config))
			b.origin = row.origin
			for name, value := range row.header {
				b.header.Set(name, value)
			}
			r := b.get("/auth/providers")
			if r.Status != row.status || !strings.Contains(string(r.Body), row.want) || strings.Contains(string(r.Body), "evil") {
				t.Errorf("answered %d: %s", r.Status, r.Body)
			}
			if r.Status >= 400 && len(r.Cookies) > 0 {
				t.Error("a refusal sets cookies")
			}
		})
	}
}

// TestCallbacksFail lets every callback of a sign-in panic or fail. Nobody is signed in, and the next request works.
func TestCallbacksFail(t *testing.T) {
	t.Parallel()
	boom := func() { panic("boom") }
	for name, callbacks := range map[string]core.Callbacks{
		"signIn":   {SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) { boom(); return core.Allow(), nil }},
		"redirect": {Redirect: func(context.Context, core.RedirectParams) (string, error) { boom(); return "", nil }},
		"jwt":      {JWT: func(context.Context, core.JWTParams) (*core.Token, error) { boom(); return nil, nil }},
		"denied":   {SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) { return core.Deny(), nil }},
		"error": {SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) {
			return core.Allow(), errors.New("backend is down")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := visit(t, newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: callbacks}))
			b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}, "callbackUrl": {"/x"}})
			if got := string(b.get("/auth/session").Body); got != "null" {
				t.Errorf("signed in: %s", got)
			}
			if r := b.get("/auth/providers"); r.Status != 200 {
				t.Errorf("the next request was answered %d", r.Status)
			}
		})
	}
}

func TestNewReportsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	_, err := core.New(core.Config{
		Secrets: []core.Secret{"short", ""}, BasePath: "/a/../b", URL: "app.example", Session: core.SessionConfig{MaxAge: -1},
		Providers: []core.Provider{
			&core.OAuthProvider{ID: "x", Type: core.TypeOIDC}, &core.CredentialsProvider{}, &core.EmailProvider{}, &core.EmailProvider{},
		},
		Cookies: core.CookiesConfig{CSRFToken: core.CookieOptions{Domain: "example.com"}},
		Getenv:  func(string) string { return "" },
	})
	var faults *core.ConfigError
	if !errors.As(err, &faults) {
		t.Fatalf("got %v", err)
	}
	for _, word := range []string{"Secrets[0]", "Secrets[1]", "BasePath", "URL", "Session.MaxAge", "Issuer", "ClientID", "Authorize", "Store", "Send", "two providers"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("nothing about %s in\n%v", word, err)
		}
	}
	if !errors.Is(err, core.MissingAuthorize) || !errors.Is(err, core.MissingAdapter) || strings.Contains(err.Error(), "short") && strings.Contains(err.Error(), `"short"`) {
		t.Errorf("types, or a secret, in\n%v", err)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	const canary = "canary-9f8e7d"
	account := core.Account{Provider: "p", AccessToken: canary, Extra: core.Members{"oauth_token_secret": []byte(`"` + canary + `"`)}}
	for format, v := range map[string]any{"%v": account, "%+v": &account, "%#v": core.Secret(canary), "%s": core.Secret(canary), "%x": core.Secret(canary)} {
		if got := fmt.Sprintf(format, v); strings.Contains(got, "canary") || strings.Contains(got, "63616e617279") {
			t.Errorf("%s prints %s", format, got)
		}
	}
}

// TestMailThatFails tells the visitor to try again where the sender says that it is the service, and the log why.
func TestMailThatFails(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		err      error
		location string
	}{
		"the service":    {core.NewError(core.EmailSignInError, errors.New("resend: status 500")), "https://app.test/auth/signin?error=EmailSignin"},
		"something else": {errors.New("resend: status 500"), "https://app.test/auth/error?error=Configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			store := &tokenStore{}
			a := newApp(t, core.Config{Store: store, Session: core.SessionConfig{Strategy: core.StrategyJWT}, Providers: []core.Provider{&core.EmailProvider{
				Configure: func(p *core.EmailProvider, _ func(string) string) error {
					p.Send = func(context.Context, core.SignInMail) error { return row.err }
					return nil
				},
			}}})
			r := visit(t, a).submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
			if r.Redirect != row.location {
				t.Errorf("sent to %s", r.Redirect)
			}
			if !strings.Contains(a.log.String(), "resend: status 500") {
				t.Errorf("the log says %s", a.log)
			}
			if store.tokens != 0 {
				t.Errorf("%d tokens that nobody got", store.tokens)
			}
		})
	}
	_, err := core.New(core.Config{Secrets: []core.Secret{testSecret}, URL: "https://app.test", Getenv: func(string) string { return "" },
		Providers: []core.Provider{&core.EmailProvider{Configure: func(*core.EmailProvider, func(string) string) error { return errors.New("no Key") }}}})
	if err == nil || !strings.Contains(err.Error(), "no Key") {
		t.Errorf("error %v", err)
	}
}

// tokenStore knows nobody and counts tokens.
type tokenStore struct {
	core.Store
	tokens int
}

func (s *tokenStore) UserByEmail(context.Context, string) (*core.User, error) {
	return nil, core.ErrNotFound
}

func (s *tokenStore) CreateVerificationToken(context.Context, *core.VerificationToken) error {
	s.tokens++
	return nil
}

func (s *tokenStore) UseVerificationToken(context.Context, string, string) (*core.VerificationToken, error) {
	s.tokens--
	return &core.VerificationToken{}, nil
}
