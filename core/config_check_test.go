package core_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// faulty returns a configuration with errors in all fields that are structs or lists.
func faulty() core.Config {
	return core.Config{
		Pages: core.PagesConfig{SignIn: "in", SignOut: "out", Error: "error", VerifyRequest: "verify", NewUser: "new"},
		Providers: []core.Provider{
			&core.OAuthProvider{
				ID: "acme", Type: core.TypeOIDC, ClientID: "id", ClientSecret: "s", Issuer: "acme",
				Authorization: core.Endpoint{URL: "a"},
				Token:         core.Endpoint{URL: "t"}, Userinfo: core.Endpoint{URL: "u"}, RequestToken: core.Endpoint{URL: "r"},
				RedirectProxyURL: "p",
			},
			&core.OAuthProvider{ID: "half", Type: core.TypeOAuth, Fault: errors.New("the tenant is missing")},
			&core.WebAuthnProvider{UserVerification: "a", ResidentKey: "b"},
		},
		Cookies: core.CookiesConfig{
			SessionToken: core.CookieOptions{Path: "no path"}, CallbackURL: core.CookieOptions{SameSite: "sometimes"},
			CSRFToken: core.CookieOptions{Domain: "example.com"}, State: core.CookieOptions{Priority: "urgent"},
			Nonce: core.CookieOptions{Name: "two words"},
		},
		Logger: slog.New(slog.DiscardHandler), Getenv: func(string) string { return "" },
	}
}

// TestFaultsAreNamedTogether checks that a missing secret hides neither cookie nor provider errors, and that each error
// is reported once.
func TestFaultsAreNamedTogether(t *testing.T) {
	t.Parallel()
	_, err := core.New(faulty())
	var faults *core.ConfigError
	if !errors.As(err, &faults) {
		t.Fatalf("got %v", err)
	}
	text := err.Error()
	for _, fault := range []string{
		"Secrets is empty", "Pages.SignIn:", "Pages.SignOut:", "Pages.Error:", "Pages.VerifyRequest:", "Pages.NewUser:",
		`provider "acme": Issuer:`, `"acme": Authorization.URL:`, `"acme": Token.URL:`, `"acme": Userinfo.URL:`,
		`"acme": RequestToken.URL:`, `"acme": RedirectProxyURL:`,
		`provider "half": the tenant is missing`, "UserVerification is", "ResidentKey is",
		"Cookies.SessionToken:", "Cookies.CallbackURL:", "Cookies.CSRFToken:", "Cookies.State:", "Cookies.Nonce:",
	} {
		if n := strings.Count(text, fault); n != 1 {
			t.Errorf("%s is named %d times", fault, n)
		}
	}
	seen := map[string]bool{}
	for _, p := range faults.Problems {
		if seen[p.Error()] {
			t.Errorf("reported twice: %v", p)
		}
		seen[p.Error()] = true
	}
	if strings.Contains(text, `"half" has`) {
		t.Errorf("more than its own fault about a provider that names it\n%s", text)
	}
}

// TestFaultsHaveAnOrder checks that the same configuration always has the same error text, so that logs and tests can
// compare it.
func TestFaultsHaveAnOrder(t *testing.T) {
	t.Parallel()
	_, first := core.New(faulty())
	for range 50 {
		if _, err := core.New(faulty()); err.Error() != first.Error() {
			t.Fatalf("one configuration, two texts:\n%v\n%v", first, err)
		}
	}
}

// TestCookieFaultsUnderEveryPolicy checks that cookie errors are found with secure and with plain cookie names.
func TestCookieFaultsUnderEveryPolicy(t *testing.T) {
	t.Parallel()
	for name, secure := range map[string]core.OptionalBool{
		"by origin": core.Default, "always secure": core.True, "never": core.False,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := core.New(core.Config{
				Secrets: []core.Secret{testSecret}, URL: "https://app.test", UseSecureCookies: secure,
				Getenv:  func(string) string { return "" },
				Cookies: core.CookiesConfig{SessionToken: core.CookieOptions{Path: "no path"}},
			})
			if err == nil || strings.Count(err.Error(), "Cookies.SessionToken") != 1 {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestJWTCallbackThatNeverRuns checks that a Store alone does not silently disable a JWT callback, which may add a
// role.
func TestJWTCallbackThatNeverRuns(t *testing.T) {
	t.Parallel()
	jwt := core.Callbacks{JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) { return p.Token, nil }}
	store := newOneSession()
	for _, row := range []struct {
		name     string
		store    core.Store
		strategy core.Strategy
		jwt      core.Callbacks
		fault    bool
		warning  bool
	}{
		{"no store", nil, "", jwt, false, false},
		{"a store for users alone", &tokenStore{}, "", jwt, false, false},
		{"a store, tokens asked for", store, core.StrategyJWT, jwt, false, false},
		{"a store, no callback", store, "", core.Callbacks{}, false, false},

		{"a store", store, "", jwt, true, false},
		{"a store, database asked for", store, core.StrategyDatabase, jwt, false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			var log bytes.Buffer
			_, err := core.New(core.Config{
				Store: row.store, Session: core.SessionConfig{Strategy: row.strategy}, Callbacks: row.jwt, URL: "https://app.test",
				Secrets: []core.Secret{testSecret}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
				Getenv: func(string) string { return "" },
			})
			if (err != nil) != row.fault || row.fault && (!strings.Contains(err.Error(), "Callbacks.JWT would never run") ||
				!strings.Contains(err.Error(), "StrategyJWT")) {
				t.Errorf("New says %v", err)
			}
			if warned := strings.Contains(log.String(), "code=unused-jwt-callback"); warned != row.warning {
				t.Errorf("the log says %s", &log)
			}
		})
	}
}

// TestFaultsTellWhatToDo checks that common mistakes of new users are reported with the field, the value and its
// source.
func TestFaultsTellWhatToDo(t *testing.T) {
	t.Parallel()
	oauth := func(mend func(*core.OAuthProvider)) core.Config {
		p := &core.OAuthProvider{
			ID: "acme", Type: core.TypeOIDC, Issuer: "https://login.acme.example", ClientID: "id", ClientSecret: "s",
			Authorization: core.Endpoint{Params: url.Values{}},
		}
		mend(p)
		return core.Config{Providers: []core.Provider{p}}
	}
	mode := func(mode string) core.Config {
		return oauth(func(p *core.OAuthProvider) { p.Authorization.Params.Set("response_mode", mode) })
	}
	kind := func(kind string) core.Config {
		return oauth(func(p *core.OAuthProvider) { p.Authorization.Params.Set("response_type", kind) })
	}
	var nilStore *tokenStore
	for _, row := range []struct {
		name   string
		config core.Config
		env    map[string]string
		want   []string // nil if there is no error
	}{
		{"URL without a scheme, from the environment", core.Config{}, map[string]string{"AUTH_URL": "localhost:3000"},
			[]string{"URL (from AUTH_URL)", `"localhost:3000"`, "http://localhost:3000"}},
		{"its old name", core.Config{}, map[string]string{"NEXTAUTH_URL": "localhost:3000"},
			[]string{"URL (from NEXTAUTH_URL)"}},
		{"URL without a scheme, from the configuration", core.Config{URL: "localhost:3000"},
			map[string]string{"AUTH_URL": "https://app.test"}, []string{`URL is "localhost:3000"`}},
		{"redirect proxy from the environment", core.Config{TrustedHosts: []string{"app.test"}},
			map[string]string{"AUTH_REDIRECT_PROXY_URL": "auth.example"},
			[]string{"RedirectProxyURL (from AUTH_REDIRECT_PROXY_URL)", `"auth.example"`}},
		{"redirect proxy targets alone", core.Config{RedirectProxyTargets: []string{"https://app.test"}}, nil,
			[]string{"RedirectProxyTargets needs RedirectProxyURL", "https://auth.example/auth"}},
		{"a store that was never opened", core.Config{Store: nilStore}, nil,
			[]string{"Store is a nil *core_test.tokenStore"}},

		{"response_mode fragment", mode("fragment"), nil, []string{`"acme"`, `response_mode "fragment"`, "form_post"}},
		{"response_mode jwt", mode("jwt"), nil, []string{`response_mode "jwt"`, "JARM"}},
		{"response_mode query.jwt", mode("query.jwt"), nil, []string{`response_mode "query.jwt"`}},
		{"response_type code id_token", kind("code id_token"), nil, []string{`response_type "code id_token"`, "hybrid"}},
		{"response_type token", kind("token"), nil, []string{`response_type "token"`}},
		{"response_type none", kind("none"), nil, []string{`response_type "none"`}},
		{"response_mode in the URL", oauth(func(p *core.OAuthProvider) {
			p.Authorization.URL = "https://login.acme.example/a?response_mode=fragment"
		}), nil, []string{`response_mode "fragment"`}},
		{"response_type in the URL", oauth(func(p *core.OAuthProvider) {
			p.Authorization.URL = "https://login.acme.example/a?response_type=id_token"
		}), nil, []string{`response_type "id_token"`}},

		{"response_mode query", mode("query"), nil, nil},
		{"response_mode form_post", mode("form_post"), nil, nil},
		{"response_type code", kind("code"), nil, nil},
		{"response_type as Azure DevOps spells it", kind("Assertion"), nil, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.config.Secrets, row.config.Logger = []core.Secret{testSecret}, slog.New(slog.DiscardHandler)
			row.config.Getenv = func(name string) string { return row.env[name] }
			_, err := core.New(row.config)
			if len(row.want) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var faults *core.ConfigError
			if !errors.As(err, &faults) || len(faults.Problems) != 1 {
				t.Fatalf("New says %v", err)
			}
			for _, word := range row.want {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("no %s in %v", word, err)
				}
			}
		})
	}
	_, err := core.New(core.Config{
		URL: "ada:canary@localhost:3000", Secrets: []core.Secret{testSecret}, Getenv: func(string) string { return "" },
	})
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("a password in %v", err)
	}
}

// TestBasePathOfURL compares the path of URL with BasePath, exactly as Auth.js does.
func TestBasePathOfURL(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		url, base, public   string
		redundant, mismatch bool
	}{
		{"https://app.test", "/auth", "", false, false},
		{"https://app.test/", "/auth", "", false, false},
		{"https://app.test/auth", "", "", false, false},
		{"https://app.test/auth/", "", "", false, false},
		{"https://app.test/auth", "/auth", "", true, false},
		{"https://app.test/auth/", "/auth", "", true, true},
		{"https://app.test/other", "/auth", "", true, true},
		{"https://app.test/app/auth", "/auth", "/app", true, false},
	} {
		t.Run(row.url+" with "+row.base, func(t *testing.T) {
			var log bytes.Buffer
			a, err := core.New(core.Config{
				BasePath: row.base, PublicPath: row.public, Secrets: []core.Secret{testSecret},
				Logger: slog.New(slog.NewTextHandler(&log, nil)),
				Getenv: func(name string) string { return map[string]string{"AUTH_URL": row.url}[name] },
			})
			if err != nil || a.BasePath() != "/auth" {
				t.Fatalf("base path %q, %v", a.BasePath(), err)
			}
			for code, want := range map[string]bool{
				"env-url-basepath-redundant": row.redundant, "env-url-basepath-mismatch": row.mismatch,
			} {
				if got := strings.Contains(log.String(), "code="+code); got != want {
					t.Errorf("%s: %v", code, got)
				}
			}
		})
	}
}

// TestNoProviders checks that New warns if there are no providers.
func TestNoProviders(t *testing.T) {
	t.Parallel()
	if a := newApp(t, core.Config{}); !strings.Contains(a.log.String(), "code=no-providers") {
		t.Errorf("New says %s", a.log)
	}
}

// TestSignInLinks checks that a GET request to signin/<id> shows the sign-in page and starts no sign-in.
func TestSignInLinks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, accept, location string }{
		{"browser", "text/html,application/xhtml+xml", "https://app.test/auth/signin"},
		{"API client", "application/json", "https://app.test/auth/error?error=Configuration"},
		{"nothing said", "", "https://app.test/auth/error?error=Configuration"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{Providers: []core.Provider{passwords(), (&service{}).provider("op")}})
			b := visit(t, a)
			if row.accept != "" {
				b.header.Set("Accept", row.accept)
			}
			r := b.get("/auth/signin/op")
			if r.Status != 302 || r.Redirect != row.location {
				t.Errorf("got status %d to %s", r.Status, r.Redirect)
			}
			for name := range b.cookies {
				if strings.Contains(name, "pkce") || strings.Contains(name, "state") {
					t.Errorf("a sign-in began: %s", name)
				}
			}
			if !strings.Contains(a.log.String(), "answers POST only") || strings.Contains(a.log.String(), "level=ERROR") {
				t.Errorf("the log says %s", a.log)
			}
		})
	}
}

func TestNewReportsAllErrorsTogether(t *testing.T) {
	t.Parallel()
	_, err := core.New(core.Config{
		Secrets: []core.Secret{"short", ""}, BasePath: "/a/../b", URL: "app.example", Session: core.SessionConfig{MaxAge: -1},
		Providers: []core.Provider{
			&core.OAuthProvider{ID: "x", Type: core.TypeOIDC}, &core.CredentialsProvider{}, &core.EmailProvider{},
			&core.EmailProvider{},
		},
		Cookies: core.CookiesConfig{CSRFToken: core.CookieOptions{Domain: "example.com"}},
		Getenv:  func(string) string { return "" },
	})
	var faults *core.ConfigError
	if !errors.As(err, &faults) {
		t.Fatalf("got %v", err)
	}
	for _, word := range []string{
		"Secrets[0]", "Secrets[1]", "BasePath", "URL", "Session.MaxAge", "Issuer", "ClientID", "Authorize", "Store", "Send",
		"two providers",
	} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("nothing about %s in\n%v", word, err)
		}
	}
	if !errors.Is(err, core.ErrorType("MissingAuthorize")) || !errors.Is(err, core.ErrMissingStore) ||
		strings.Contains(err.Error(), "short") && strings.Contains(err.Error(), `"short"`) {
		t.Errorf("types, or a secret, in\n%v", err)
	}
}

func TestProxyNeedsKnownHosts(t *testing.T) {
	t.Parallel()
	provider := &core.OAuthProvider{
		ID: "p", Type: core.TypeOIDC, Issuer: "https://op.example", ClientID: "id", ClientSecret: "s",
	}
	config := core.Config{
		TrustHost: core.True, Secrets: []core.Secret{testSecret}, Getenv: func(string) string { return "" },
		Providers: []core.Provider{provider}, RedirectProxyURL: "https://auth.example/auth",
	}
	if _, err := core.New(config); err == nil || !strings.Contains(err.Error(), "redirect proxy") {
		t.Errorf("open hosts behind a redirect proxy: %v", err)
	}
	config.TrustedHosts = []string{"*.preview.example"}
	if _, err := core.New(config); err != nil {
		t.Errorf("listed hosts: %v", err)
	}
}
