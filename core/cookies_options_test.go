package core_test

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// setOfAll are the cookies that a browser is given on its way through all flows, by the field of CookiesConfig, as
// options of one kind make them.
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
		t.Fatalf("%d cookies came: %v", len(set), set)
	}
	return set
}

// TestEveryCookieTakesItsOptions sets each option on each cookie. The others keep their default.
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
		{"HTTPOnly", func(_ string, o *core.CookieOptions) { o.HTTPOnly = core.Off },
			func(_ string, c *core.Cookie) { c.HTTPOnly = false }},
		{"Secure", func(field string, o *core.CookieOptions) { o.Name, o.Secure = "own."+field, core.Off },
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
