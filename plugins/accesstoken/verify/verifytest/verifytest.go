// Package verifytest is an issuer of access tokens for tests of services that use package verify.
package verifytest

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/plugins/accesstoken/verify"
)

// Issuer publishes a key at a local address and signs tokens with it.
type Issuer struct {
	// URL is the issuer.
	URL string

	t   testing.TB
	key ed25519.PrivateKey
}

// keyID is the ID of the key.
const keyID = "test"

// New starts an issuer. It stops at the end of the test.
func New(t testing.TB) *Issuer {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	jwks := encode(t, map[string]any{"keys": []any{map[string]string{
		"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": keyID,
		"x": base64.RawURLEncoding.EncodeToString(public),
	}}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/jwks.json" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/jwk-set+json")
		_, _ = w.Write(jwks)
	}))
	t.Cleanup(server.Close)
	return &Issuer{server.URL, t, key}
}

// Verifier returns a verifier of the issuer's tokens for an audience.
func (i *Issuer) Verifier(audience string) *verify.Verifier {
	i.t.Helper()
	v, err := verify.New(verify.Options{Issuer: i.URL, Audience: audience})
	if err != nil {
		i.t.Fatal(err)
	}
	return v
}

// Token returns a token that is valid for five minutes. claims are added, and replace the default ones; a nil value
// removes one.
func (i *Issuer) Token(audience string, claims map[string]any) string {
	i.t.Helper()
	now := time.Now().Unix()
	all := map[string]any{
		"iss": i.URL, "aud": audience, "sub": "user", "client_id": i.URL, "jti": rand.Text(), "iat": now, "exp": now + 300,
	}
	maps.Copy(all, claims)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	header := encode(i.t, map[string]string{"typ": "at+jwt", "alg": "EdDSA", "kid": keyID})
	text := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(encode(i.t, all))
	return text + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(i.key, []byte(text)))
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
