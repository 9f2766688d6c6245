package core_test

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// TestPasskeyOrigins: further origins of a passkey provider are checked when the application starts.
func TestPasskeyOrigins(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("a certificate"))
	hash := base64.RawURLEncoding.EncodeToString(sum[:])
	for origin, ok := range map[string]bool{
		"https://www.app.test": true, "https://app.test:8443": true, "https://related.example": true,
		"http://localhost:3000": true, "android:apk-key-hash:" + hash: true,
		"": false, "app.test": false, "https://app.test/": false, "https://app.test/login": false, "https://App.test": false,
		"https://app.test:443": false, "http://www.app.test": false, "https://*.app.test": false,
		"https://ada@app.test": false,
		"https://app.test?x":   false, "null": false, "ios:bundle-id:test.app": false, "android:apk-key-hash:": false,
		"android:apk-key-hash:" + hash + "=": false, "android:apk-key-hash:" + hash[1:]: false,
		"android:apk-key-hash:" + base64.StdEncoding.EncodeToString(sum[:]): false, "javascript:alert(1)": false,
	} {
		t.Run(origin, func(t *testing.T) {
			t.Parallel()
			_, err := core.New(core.Config{
				URL: "https://app.test", Secrets: []core.Secret{testSecret}, Getenv: func(string) string { return "" },
				Store: newPeople().as(power{true, true, true, true}), EnableWebAuthn: true,
				Providers: []core.Provider{&core.WebAuthnProvider{
					Verifier: anyPasskey{}, RelyingParty: core.RelyingParty{ID: "app.test", Origins: []string{origin}},
				}},
			})
			if (err == nil) != ok {
				t.Errorf("ok %v, want %v: %v", err == nil, ok, err)
			}
			if err != nil && !strings.Contains(err.Error(), "RelyingParty.Origins[0]") {
				t.Error(err)
			}
		})
	}
}

// ceremoniesOf is a verifier that keeps what it was asked to verify.
type ceremoniesOf struct {
	anyPasskey
	seen []core.WebAuthnCeremony
}

func (v *ceremoniesOf) VerifyRegistration(data []byte, want core.WebAuthnCeremony) (*store.Authenticator, error) {
	v.seen = append(v.seen, want)
	return v.anyPasskey.VerifyRegistration(data, want)
}

func (v *ceremoniesOf) VerifyAuthentication(
	data []byte, stored *store.Authenticator, want core.WebAuthnCeremony,
) (uint32, error) {
	v.seen = append(v.seen, want)
	return v.anyPasskey.VerifyAuthentication(data, stored, want)
}

// TestVerifiersGetAllOrigins: registration and authentication pass all origins to the verifier. If the
// application changes its slice later, this has no effect.
func TestVerifiersGetAllOrigins(t *testing.T) {
	t.Parallel()
	verifier, origins := &ceremoniesOf{}, []string{"https://www.app.test"}
	w := newTown(t, power{true, true, true, true}, core.StrategyJWT, func(c *core.Config) {
		for _, p := range c.Providers {
			if passkeys, ok := p.(*core.WebAuthnProvider); ok {
				passkeys.Verifier, passkeys.RelyingParty.Origins = verifier, origins
			}
		}
	})
	origins[0] = "https://evil.example"
	ada := w.browser()
	w.signedIn(ada, w.passkey(ada, "action=register&email=ada%40x.example", "register", "key"))
	again := w.browser()
	w.signedIn(again, w.passkey(again, "action=authenticate", "authenticate", "key"))
	if len(verifier.seen) != 2 {
		t.Fatalf("%d ceremonies", len(verifier.seen))
	}
	for _, c := range verifier.seen {
		if c.Origin != "https://app.test" || len(c.Origins) != 1 || c.Origins[0] != "https://www.app.test" {
			t.Errorf("the origins are %q, %q", c.Origin, c.Origins)
		}
	}
}
