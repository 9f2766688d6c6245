package core_test

import (
	"context"
	"log/slog"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// setOfAll returns the cookies that all flows set in a browser, by the field of CookiesConfig, with the given options.
func setOfAll(t *testing.T, option func(field string) core.CookieOptions) map[string]core.Cookie {
	t.Helper()
	w := newTown(t, power{true, true, true, true}, core.StrategyJWT, func(c *core.Config) {
		all := reflect.ValueOf(&c.Cookies).Elem()
		for i := range all.NumField() {
			all.Field(i).Set(reflect.ValueOf(option(all.Type().Field(i).Name)))
		}
		c.Providers = append(c.Providers,
			(&service{}).provider("checked", core.CheckState, core.CheckPKCE, core.CheckNonce))
	})
	b := w.browser()
	var came []core.Cookie
	keep := func(r *core.Response) { came = append(came, r.Cookies...) }
	first := b.get("/auth/csrf")
	keep(first)
	_, rest, _ := strings.Cut(string(first.Body), `"csrfToken":"`)
	form := url.Values{"csrfToken": {strings.TrimSuffix(rest, `"}`)}, "id": {"u1"}}
	keep(b.post("/auth/signin/checked", form))
	keep(b.get("/auth/webauthn-options/passkey?action=authenticate"))
	keep(b.post("/auth/callback/credentials", form))

	names := map[string]string{
		"CSRFToken": "csrf", "CallbackURL": "callback-url", "State": "state", "Nonce": "nonce",
		"PKCECodeVerifier": "pkce", "WebAuthnChallenge": "challenge", "SessionToken": "session",
	}
	set := map[string]core.Cookie{}
	for _, c := range came {
		for field, part := range names {
			if c.Value != "" && (strings.Contains(c.Name, part) || strings.HasSuffix(c.Name, field)) {
				set[field] = c
			}
		}
	}
	if len(set) != len(names) {
		t.Fatalf("%d cookies were set: %v", len(set), set)
	}
	return set
}

// TestEveryCookieTakesItsOptions sets each option on each cookie. The other cookies keep their default.
func TestEveryCookieTakesItsOptions(t *testing.T) {
	t.Parallel()
	defaults := setOfAll(t, func(string) core.CookieOptions { return core.CookieOptions{} })
	for _, row := range []struct {
		option string
		set    func(field string, o *core.CookieOptions)
		want   func(field string, c *core.Cookie)
	}{
		{"Name", func(field string, o *core.CookieOptions) { o.Name = "own." + field },
			func(field string, c *core.Cookie) { c.Name = "own." + field }},
		{"Domain", func(field string, o *core.CookieOptions) { o.Name, o.Domain = "own."+field, "app.test" },
			func(field string, c *core.Cookie) { c.Name, c.Domain = "own."+field, "app.test" }},
		{"Path", func(field string, o *core.CookieOptions) { o.Name, o.Path = "own."+field, "/auth" },
			func(field string, c *core.Cookie) { c.Name, c.Path = "own."+field, "/auth" }},
		{"MaxAge", func(_ string, o *core.CookieOptions) { o.MaxAge = 5 * time.Minute },
			func(_ string, c *core.Cookie) { c.HasMaxAge, c.MaxAge = true, 300 }},
		{"SameSite", func(_ string, o *core.CookieOptions) { o.SameSite = "strict" },
			func(_ string, c *core.Cookie) { c.SameSite = "Strict" }},
		{"HTTPOnly", func(_ string, o *core.CookieOptions) { o.HTTPOnly = core.False },
			func(_ string, c *core.Cookie) { c.HTTPOnly = false }},
		{"Secure", func(field string, o *core.CookieOptions) { o.Name, o.Secure = "own."+field, core.False },
			func(field string, c *core.Cookie) { c.Name, c.Secure = "own."+field, false }},
		{"Partitioned", func(_ string, o *core.CookieOptions) { o.Partitioned = true },
			func(_ string, c *core.Cookie) { c.Partitioned = true }},
		{"Priority", func(_ string, o *core.CookieOptions) { o.Priority = "high" },
			func(_ string, c *core.Cookie) { c.Priority = "High" }},
	} {
		t.Run(row.option, func(t *testing.T) {
			t.Parallel()
			set := setOfAll(t, func(field string) core.CookieOptions {
				var o core.CookieOptions
				row.set(field, &o)
				return o
			})
			for field, want := range defaults {
				got := set[field]
				row.want(field, &want)
				want.Value, want.Expires, got.Value, got.Expires = "", time.Time{}, "", time.Time{}
				if got != want {
					t.Errorf("%s: %+v, want %+v", field, got, want)
				}
			}
		})
	}
}

// TestNamesWithPrefixes: a custom name with a prefix sets the attributes that the prefix needs. An option that the
// prefix forbids is an error.
func TestNamesWithPrefixes(t *testing.T) {
	t.Parallel()
	authorize := func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil }
	for _, row := range []struct {
		name, url string
		options   core.CookieOptions
		fault     string
	}{
		{"https", "https://app.example", core.CookieOptions{Name: "__Secure-id"}, ""},
		{"https, host", "https://app.example", core.CookieOptions{Name: "__Host-id"}, ""},
		{"any origin", "", core.CookieOptions{Name: "__Secure-id"}, ""},
		{"a developer's machine", "http://localhost:3000", core.CookieOptions{Name: "__Secure-id"}, ""},
		{"for all sites", "https://app.example", core.CookieOptions{Name: "__Secure-id", SameSite: "none"}, ""},
		{"switched off", "https://app.example", core.CookieOptions{Name: "__Secure-id", Secure: core.False}, "needs Secure"},
		{"a domain", "https://app.example", core.CookieOptions{Name: "__Host-id", Domain: "app.example"}, "no Domain"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			auth, err := core.New(core.Config{
				URL: row.url, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
				Cookies:   core.CookiesConfig{SessionToken: row.options},
				Providers: []core.Provider{&core.CredentialsProvider{Authorize: authorize}},
				Getenv:    func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
			})
			if row.fault != "" {
				if err == nil || !strings.Contains(err.Error(), row.fault) {
					t.Errorf("error %v, want one that contains %q", err, row.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			made, err := auth.NewSession(t.Context(), &core.Request{
				Method: "GET", Target: "/", Hosts: []string{"localhost:3000"}, Scheme: "http", RemoteAddr: "127.0.0.1:1",
			}, &core.User{ID: "1"})
			if err != nil || len(made) == 0 {
				t.Fatal(made, err)
			}
			for _, c := range made {
				if c.Name == row.options.Name && !c.Secure {
					t.Errorf("cookie %s lacks Secure", c.Name)
				}
			}
		})
	}
}
