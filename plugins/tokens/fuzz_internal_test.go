package tokens

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// FuzzUserCode checks that only the characters of user codes are accepted, in any case and with separators.
func FuzzUserCode(f *testing.F) {
	for _, text := range []string{"BCDF-GHJK", " bcdf ghjk ", "BCDFGHJ", "AEIOUAEI", "ſſſſſſſſ", "BCDFGHJK-"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code, ok := readUserCode(text)
		if ok && (len(code) != userCodeLen || strings.Trim(code, userCodeLetters) != "") {
			t.Errorf("%q is read as %q", text, code)
		}
		if again, still := readUserCode(code); ok && (!still || again != code) {
			t.Errorf("%q is read as %q", code, again)
		}
	})
}

// FuzzRedirectURI checks that an app accepts only its own redirect URIs, with any port on the same computer.
func FuzzRedirectURI(f *testing.F) {
	app := App{RedirectURIs: []string{
		"http://127.0.0.1/callback", "http://[::1]/x?y=1", "https://app.example/link", "com.example.app:/callback",
	}}
	for _, text := range append([]string{
		"http://127.0.0.1:7777/callback", "http://127.0.0.1@evil.example/callback", "http://127.0.0.1:80:80/callback",
		"http://127.0.0.1/callback#x", "https://app.example/link/", "com.example.app:/callback?x", "javascript:alert(1)",
		"http://[::1%25x]/x?y=1", "HTTP://127.0.0.1/callback", "http://localhost/callback",
	}, app.RedirectURIs...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !app.accepts(text) {
			return
		}
		u, err := url.Parse(text)
		if err != nil || u.Fragment != "" || u.User != nil || strings.Contains(text, "#") {
			t.Fatalf("%q is accepted", text)
		}
		if u.Scheme == "http" {
			u.Host = strings.TrimSuffix(u.Host, ":"+u.Port())
			text = u.String()
			if host := u.Hostname(); host != "127.0.0.1" && host != "::1" {
				t.Errorf("%q is accepted", text)
			}
			return
		}
		if text != app.RedirectURIs[2] && text != app.RedirectURIs[3] {
			t.Errorf("%q is accepted", text)
		}
	})
}

// FuzzCredentials checks that texts that this site has not issued are no tokens and no nonces.
func FuzzCredentials(f *testing.F) {
	plugin := New(Options{Apps: []App{{ID: "cli", Name: "CLI", Device: true}}})
	_, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: memory.New(),
		Getenv: func(string) string { return "" }, Plugins: []core.Plugin{plugin},
	})
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"", "zzzzzz.AAAA.BBBB", "..", "-1.x.y", "lkr_", "lkr_a.b.c.d.e", "lka_eyJ.."} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, text, challenge string) {
		if plugin.isNonce(plugin.app("cli"), text) {
			t.Errorf("%q is a nonce", text)
		}
		if _, ok := plugin.parseRefresh(text); ok {
			t.Errorf("%q is a refresh token", text)
		}
		if p, err := plugin.verify(t.Context(), text, netip.Prefix{}); p != nil || err != nil {
			t.Errorf("%q is an access token: %v", text, err)
		}
		if isChallenge(challenge) && len(challenge) != 43 {
			t.Errorf("%q is a challenge", challenge)
		}
		p, problem := plugin.requested(plugin.app("cli"), text, strings.Fields(challenge))
		if problem == nil && len(p.Scopes)+len(p.Resources) > 0 {
			t.Errorf("%q allows %v", text, p)
		}
	})
}
