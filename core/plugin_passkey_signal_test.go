package core_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestUnknownPasskeySignal: after a sign-in with a passkey that is not stored, the sign-in page tells the browser.
func TestUnknownPasskeySignal(t *testing.T) {
	t.Parallel()
	const signal = `data-passkey-signals="{&#34;rpId&#34;:&#34;app.test&#34;,&#34;unknown&#34;:[&#34;Z29uZQ&#34;]}"`
	rp := func(c *core.Config) *core.RelyingParty {
		for _, p := range c.Providers {
			if passkeys, ok := p.(*core.WebAuthnProvider); ok {
				return &passkeys.RelyingParty
			}
		}
		return nil
	}
	for _, row := range []struct {
		name       string
		configure  func(*core.Config)
		credential string
		field      url.Values
		want       bool
	}{
		{"asked", nil, "gone", url.Values{"signal": {"1"}}, true},
		{"not asked", nil, "gone", nil, false},
		{"another value", nil, "gone", url.Values{"signal": {"2"}}, false},
		{"a known passkey", nil, "known", url.Values{"signal": {"1"}}, false},
		{
			"a relying party of several hosts", func(c *core.Config) { rp(c).ID = "test" }, "gone",
			url.Values{"signal": {"1"}}, false,
		},
		{"one of several sites", func(c *core.Config) { c.Audience = "shop" }, "gone", url.Values{"signal": {"1"}}, false},
	} {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			t.Run(row.name+"/"+string(strategy), func(t *testing.T) {
				t.Parallel()
				configure := row.configure
				if configure == nil {
					configure = func(*core.Config) {}
				}
				w := newTown(t, power{true, true, true, true}, strategy, configure)
				owner := w.browser()
				w.signedIn(owner, w.passkey(owner, "action=register&email=ada@x.example", "register", "known"))
				before := w.browser()
				b := w.browser()
				b.get("/auth/webauthn-options/passkey?action=authenticate")
				id := map[string]string{"gone": "Z29uZQ", "known": "a25vd24"}[row.credential]
				form := url.Values{"action": {"authenticate"}, "data": {`{"id":"` + id + `"}`}}
				for name, values := range row.field {
					form[name] = values
				}
				b.submit("/auth/callback/passkey", form)
				for range 2 { // core could cache the second page
					page := string(b.get("/auth/signin").Body)
					if strings.Contains(page, signal) != row.want || strings.Contains(page, "data-passkey-signals") != row.want {
						t.Errorf("the page has a signal: %t, want %t", !row.want, row.want)
					}
					if strings.Contains(string(before.get("/auth/signin").Body), "data-passkey-signals") {
						t.Error("the page of another browser has the signal")
					}
				}
				for name := range b.cookies { // an attacker at a sibling subdomain can set cookies
					if strings.HasSuffix(name, "passkey-unknown") {
						b.cookies[name] = `{"rp":"app.test","id":"a25vd24"}`
					}
				}
				if strings.Contains(string(b.get("/auth/signin").Body), "data-passkey-signals") {
					t.Error("a forged cookie counts")
				}
			})
		}
	}
}
