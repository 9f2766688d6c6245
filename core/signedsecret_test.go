package core_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/core"
)

// pemKey returns a new ECDSA key and its PEM text.
func pemKey(t *testing.T, curve elliptic.Curve) (*ecdsa.PrivateKey, core.Secret) {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, core.Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// TestSignedSecret creates a secret and verifies it with the public key.
func TestSignedSecret(t *testing.T) {
	t.Parallel()
	key, text := pemKey(t, elliptic.P256())
	s := core.SignedSecret{Key: text, KeyID: "k1", Alg: "ES256", Issuer: "team", Audience: "https://id.example"}
	secretOf, err := s.Maker()
	if err != nil {
		t.Fatal(err)
	}
	secret, err := secretOf("app", time.Unix(1_900_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := jose.ParseSignedCompact(string(secret), []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := signed.Verify(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	if kid := signed.Signatures[0].Protected.KeyID; kid != "k1" {
		t.Errorf("key id %q", kid)
	}
	want := `{"aud":"https://id.example","exp":1900000300,"iat":1900000000,"iss":"team","sub":"app"}`
	if string(payload) != want {
		t.Errorf("claims %s, want %s", payload, want)
	}
	if shown := fmt.Sprintf("%v %+v %#v", s, s, s); strings.Contains(shown, "PRIVATE KEY") {
		t.Errorf("the printed value contains the key: %s", shown)
	}
	if shown, _ := json.Marshal(s); strings.Contains(string(shown), "PRIVATE KEY") {
		t.Errorf("the JSON contains the key: %s", shown)
	}
}

func TestSignedSecretRefuses(t *testing.T) {
	t.Parallel()
	_, text := pemKey(t, elliptic.P256())
	_, long := pemKey(t, elliptic.P384())
	good := core.SignedSecret{Key: text, KeyID: "k1", Alg: "ES256", Issuer: "team", Audience: "https://id.example"}
	for _, row := range []struct {
		name   string
		change func(*core.SignedSecret)
		want   string
	}{
		{"no key", func(s *core.SignedSecret) { s.Key = "" }, "neither PEM nor a JSON Web Key"},
		{"a broken key", func(s *core.SignedSecret) { s.Key = text[:100] }, "client key"},
		{"a key on another curve", func(s *core.SignedSecret) { s.Key = long }, `the key is for ES384, but Alg is "ES256"`},
		{"no algorithm", func(s *core.SignedSecret) { s.Alg = "" }, "the key is for ES256"},
		{"no key id", func(s *core.SignedSecret) { s.KeyID = "" }, "KeyID"},
		{"no issuer", func(s *core.SignedSecret) { s.Issuer = "" }, "Issuer"},
		{"no audience", func(s *core.SignedSecret) { s.Audience = "" }, "Audience"},
	} {
		s := good
		row.change(&s)
		secretOf, err := s.Maker()
		if err == nil || secretOf != nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}
