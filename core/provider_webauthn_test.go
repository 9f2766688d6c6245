package core_test

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// certificate is the fingerprint of an app's signing certificate, and appOrigin the origin of the app.
var (
	certificate = strings.Repeat("AB:", 31) + "AB"
	appOrigin   = "android:apk-key-hash:" + base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{0xab}, 32))
)

// appsOf returns the relying party of a site with one Android app.
func appsOf(name string, certificates ...string) core.RelyingParty {
	return core.RelyingParty{ID: "app.test", AndroidApps: []core.AndroidApp{{Package: name, Certificates: certificates}}}
}

// TestAppsOfARelyingParty checks that New validates the apps.
func TestAppsOfARelyingParty(t *testing.T) {
	t.Parallel()
	apple := func(app string) core.RelyingParty { return core.RelyingParty{AppleApps: []string{app}} }
	for _, row := range []struct {
		name string
		rp   core.RelyingParty
		want string // in the error
	}{
		{"an Android app", appsOf("test.app", certificate), ""},
		{"two certificates", appsOf("test.app", certificate, strings.ReplaceAll(certificate, "AB", "01")), ""},
		{"no package", appsOf("", certificate), "AndroidApps[0]"},
		{"a package with one part", appsOf("app", certificate), "AndroidApps[0]"},
		{"a package with a wildcard", appsOf("test.*", certificate), "AndroidApps[0]"},
		{"a package with a line break", appsOf("test.app\n", certificate), "AndroidApps[0]"},
		{"no certificate", appsOf("test.app"), "AndroidApps[0]"},
		{"a shorter fingerprint", appsOf("test.app", certificate[3:]), "Certificates[0]"},
		{"a longer fingerprint", appsOf("test.app", certificate+":AB"), "Certificates[0]"},
		{"lower case", appsOf("test.app", strings.ToLower(certificate)), "Certificates[0]"},
		{"no colons", appsOf("test.app", strings.ReplaceAll(certificate, ":", "")), "Certificates[0]"},
		{"an origin", appsOf("test.app", certificate, appOrigin), "Certificates[1]"},
		{"an Apple app", apple("ABCDE12345.test.app"), ""},
		{"an Apple app without a team", apple("test.app"), "AppleApps[0]"},
		{"a wildcard of Apple", apple("ABCDE12345.*"), "AppleApps[0]"},
		{"a team only", apple("ABCDE12345."), "AppleApps[0]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := core.New(core.Config{
				URL: "https://app.test", Secrets: []core.Secret{testSecret}, Getenv: func(string) string { return "" },
				Store: newPeople().as(power{true, true, true, true}), EnableWebAuthn: true,
				Providers: []core.Provider{&core.WebAuthnProvider{Verifier: anyPasskey{}, RelyingParty: row.rp}},
			})
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("New returned %v", err)
			}
		})
	}
}

// TestOriginsOfApps checks that verifiers accept the origins of the configured apps, and no others.
func TestOriginsOfApps(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		rp   core.RelyingParty
		want []string
	}{
		{"no apps", core.RelyingParty{ID: "app.test"}, nil},
		{"Android", appsOf("test.app", certificate, certificate), []string{appOrigin}},
		{
			"Android and other origins", core.RelyingParty{
				Origins: []string{appOrigin, "https://www.app.test"}, AndroidApps: appsOf("test.app", certificate).AndroidApps,
			},
			[]string{appOrigin, "https://www.app.test"},
		},
		{
			"Apple", core.RelyingParty{ID: "app.test", Origin: "https://login.app.test", AppleApps: []string{"ABCDE12345.a"}},
			[]string{"https://app.test"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			verifier := &ceremoniesOf{}
			w := newTown(t, power{true, true, true, true}, core.StrategyJWT, func(c *core.Config) {
				for _, p := range c.Providers {
					if passkeys, ok := p.(*core.WebAuthnProvider); ok {
						passkeys.Verifier, passkeys.RelyingParty = verifier, row.rp
					}
				}
			})
			b := w.browser()
			w.signedIn(b, w.passkey(b, "action=register&email=ada%40x.example", "register", "key"))
			again := w.browser()
			w.signedIn(again, w.passkey(again, "action=authenticate", "authenticate", "key"))
			for _, c := range verifier.seen {
				if !slices.Equal(c.Origins, row.want) {
					t.Errorf("the origins are %q, want %q", c.Origins, row.want)
				}
			}
		})
	}
}
