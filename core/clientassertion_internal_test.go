package core

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/oidc"
)

// TestAssertionsNameEd25519 signs an assertion with an Ed25519 key under the name that the provider lists (RFC 9864).
func TestAssertionsNameEd25519(t *testing.T) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	a := &Auth{now: func() time.Time { return time.Unix(1_900_000_000, 0) }, rand: bytes.NewReader(make([]byte, 1<<10))}
	c := &oauthClient{OAuthProvider: OAuthProvider{ClientID: "client", ClientAuth: PrivateKeyJWT, ClientKey: key, ClientKeyID: "k1"}}
	for _, row := range []struct {
		listed []string
		want   string
	}{
		{nil, "EdDSA"},
		{[]string{"RS256", "EdDSA"}, "EdDSA"},
		{[]string{"EdDSA", "Ed25519"}, "EdDSA"},
		{[]string{"RS256", "Ed25519"}, "Ed25519"},
	} {
		at := endpoints{token: "https://op.example/token", metadata: &oidc.Metadata{TokenEndpointAuthSigningAlgs: row.listed}}
		assertion, err := a.clientAssertion(c, at)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(assertion, ".")
		var header struct{ Alg, Kid string }
		var claims struct{ Iss, Sub string }
		for i, into := range []any{&header, &claims} {
			raw, _ := base64.RawURLEncoding.DecodeString(parts[i])
			if err := json.Unmarshal(raw, into); err != nil {
				t.Fatal(err)
			}
		}
		signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
		if header.Alg != row.want || header.Kid != "k1" || claims.Iss != "client" || claims.Sub != "client" || !ed25519.Verify(key.Public().(ed25519.PublicKey), []byte(parts[0]+"."+parts[1]), signature) {
			t.Errorf("where %q are listed: %+v, %+v", row.listed, header, claims)
		}
	}
}
