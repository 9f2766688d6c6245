package oauth_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/internal/oauth"
)

func TestParseKey(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	pkcs8 := func(key any) string {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return text("PRIVATE KEY", der)
	}
	sec1, err := x509.MarshalECPrivateKey(ecKey)
	if err != nil {
		t.Fatal(err)
	}
	jwk := func(key any) string {
		raw, err := (&jose.JSONWebKey{Key: key, KeyID: "k-1"}).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for _, row := range []struct {
		name, text, keyID string
		good              bool
	}{
		{"PKCS #8, RSA", pkcs8(rsaKey), "", true},
		{"PKCS #8, ECDSA", pkcs8(ecKey), "", true},
		{"PKCS #8, Ed25519", pkcs8(edKey), "", true},
		{"PKCS #1", text("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey)), "", true},
		{"SEC 1", text("EC PRIVATE KEY", sec1), "", true},
		{"line ends of an environment", strings.ReplaceAll(pkcs8(ecKey), "\n", `\n`), "", true},
		{"JWK", jwk(ecKey), "k-1", true},
		{"JWK, RSA", " " + jwk(rsaKey) + "\n", "k-1", true},

		{"public JWK", jwk(public), "", false},
		{"symmetric JWK", jwk([]byte("canary-canary-canary-canary")), "", false},
		{"broken JWK", `{"kty":"EC","d":"canary"`, "", false},
		{"certificate", text("CERTIFICATE", []byte("canary")), "", false},
		{"wrong label", text("RSA PRIVATE KEY", sec1), "", false},
		{"no key", "canary", "", false},
		{"empty", "", "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			key, keyID, err := oauth.ParseKey(row.text)
			if (err == nil) != row.good || (key != nil) != row.good || keyID != row.keyID {
				t.Errorf("key %v, id %q, error %v", key != nil, keyID, err)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the error holds the text: %v", err)
			}
		})
	}
}
