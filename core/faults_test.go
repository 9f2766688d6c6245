package core_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// faulty is a configuration in which everything that has fields of its own is wrong.
func faulty() core.Config {
	return core.Config{
		Pages: core.PagesConfig{SignIn: "in", SignOut: "out", Error: "error", VerifyRequest: "verify", NewUser: "new"},
		Providers: []core.Provider{
			&core.OAuthProvider{
				ID: "acme", Type: core.TypeOIDC, ClientID: "id", ClientSecret: "s", Issuer: "acme", Authorization: core.Endpoint{URL: "a"},
				Token: core.Endpoint{URL: "t"}, Userinfo: core.Endpoint{URL: "u"}, RequestToken: core.Endpoint{URL: "r"}, RedirectProxyURL: "p",
			},
			&core.OAuthProvider{ID: "half", Type: core.TypeOAuth, Fault: errors.New("the tenant is missing")},
			&core.WebAuthnProvider{UserVerification: "a", ResidentKey: "b"},
		},
		Cookies: core.CookiesConfig{
			SessionToken: core.CookieOptions{Path: "no path"}, CallbackURL: core.CookieOptions{SameSite: "sometimes"},
			CSRFToken: core.CookieOptions{Domain: "example.com"}, State: core.CookieOptions{Priority: "urgent"},
			Nonce: core.CookieOptions{Name: "two words"},
		},
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Getenv: func(string) string { return "" },
	}
}

// TestFaultsAreNamedTogether: a missing secret hides neither the cookies nor the providers, and each fault is told once.
func TestFaultsAreNamedTogether(t *testing.T) {
	_, err := core.New(faulty())
	var faults *core.ConfigError
	if !errors.As(err, &faults) {
		t.Fatalf("got %v", err)
	}
	text := err.Error()
	for _, fault := range []string{
		"Secrets is empty", "Pages.SignIn:", "Pages.SignOut:", "Pages.Error:", "Pages.VerifyRequest:", "Pages.NewUser:",
		`provider "acme": Issuer:`, `"acme": Authorization.URL:`, `"acme": Token.URL:`, `"acme": Userinfo.URL:`, `"acme": RequestToken.URL:`, `"acme": RedirectProxyURL:`,
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
			t.Errorf("told twice: %v", p)
		}
		seen[p.Error()] = true
	}
	if strings.Contains(text, `"half" has`) {
		t.Errorf("more than its own fault about a provider that names it\n%s", text)
	}
}

// TestFaultsHaveAnOrder: the same configuration is the same text, so that logs and tests can be compared.
func TestFaultsHaveAnOrder(t *testing.T) {
	_, first := core.New(faulty())
	for range 50 {
		if _, err := core.New(faulty()); err.Error() != first.Error() {
			t.Fatalf("one configuration, two texts:\n%v\n%v", first, err)
		}
	}
}

// TestCookieFaultsUnderEveryPolicy: the faults of cookies are found whichever names are in use.
func TestCookieFaultsUnderEveryPolicy(t *testing.T) {
	for name, secure := range map[string]core.Toggle{"by origin": core.Auto, "always secure": core.On, "never": core.Off} {
		t.Run(name, func(t *testing.T) {
			_, err := core.New(core.Config{
				Secrets: []core.Secret{testSecret}, URL: "https://app.test", UseSecureCookies: secure, Getenv: func(string) string { return "" },
				Cookies: core.CookiesConfig{SessionToken: core.CookieOptions{Path: "no path"}},
			})
			if err == nil || strings.Count(err.Error(), "Cookies.SessionToken") != 1 {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestJWTCallbackThatNeverRuns: a Store alone must not silence the callback that adds a role.
func TestJWTCallbackThatNeverRuns(t *testing.T) {
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
				Secrets: []core.Secret{testSecret}, Logger: slog.New(slog.NewTextHandler(&log, nil)), Getenv: func(string) string { return "" },
			})
			if (err != nil) != row.fault || row.fault && (!strings.Contains(err.Error(), "Callbacks.JWT would never run") || !strings.Contains(err.Error(), "StrategyJWT")) {
				t.Errorf("New says %v", err)
			}
			if warned := strings.Contains(log.String(), "code=unused-jwt-callback"); warned != row.warning {
				t.Errorf("the log says %s", &log)
			}
		})
	}
}
