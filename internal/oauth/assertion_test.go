package oauth_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/latchkey-go/latchkey/internal/oauth"
)

// curve returns a new key on a curve.
func curve(t *testing.T, c elliptic.Curve) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(c, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestAssertions verifies client assertions with another library than the one that made most of them.
func TestAssertions(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ed := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	for name, row := range map[string]struct {
		key    crypto.Signer // nil means the client secret
		listed []string
		alg    string
	}{
		"RSA":                       {rsaKey, nil, "RS256"},
		"P-256":                     {curve(t, elliptic.P256()), nil, "ES256"},
		"P-384":                     {curve(t, elliptic.P384()), nil, "ES384"},
		"P-521":                     {curve(t, elliptic.P521()), nil, "ES512"},
		"Ed25519":                   {ed, nil, "EdDSA"},
		"Ed25519, EdDSA listed":     {ed, []string{"RS256", "EdDSA"}, "EdDSA"},
		"Ed25519, both names":       {ed, []string{"EdDSA", "Ed25519"}, "EdDSA"},
		"Ed25519, by that name":     {ed, []string{"RS256", "Ed25519"}, "Ed25519"}, // RFC 9864
		"a secret as short as such": {nil, nil, "HS256"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.answers["/token"] = answer{body: good}
			p.metadata["token_endpoint_auth_signing_alg_values_supported"] = row.listed
			config := p.openID()
			config.ClientAuth, config.ClientKey, config.ClientKeyID = oauth.PrivateKeyJWT, row.key, "k1"
			var verifier any = []byte(config.ClientSecret)
			if row.key == nil {
				config.ClientAuth, config.ClientKeyID = oauth.ClientSecretJWT, ""
			} else {
				verifier = row.key.Public()
			}
			if _, err := redeem(t, oauth.New(config)); err != nil {
				t.Fatal(err)
			}
			assertion := p.last(t).form.Get("client_assertion")
			token, err := jwt.ParseSigned(assertion, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(row.alg)})
			if err != nil {
				t.Fatal(err)
			}
			var claims jwt.Claims
			switch row.alg {
			case "Ed25519": // go-jose does not know the name
				err = token.UnsafeClaimsWithoutVerification(&claims)
				signed := assertion[:strings.LastIndex(assertion, ".")]
				if !ed25519.Verify(ed.Public().(ed25519.PublicKey), []byte(signed), signatureOf(t, assertion)) {
					t.Error("the signature is wrong")
				}
			case "HS256": // go-jose rejects such a short key
				err = token.UnsafeClaimsWithoutVerification(&claims)
				checkHMAC(t, assertion, config.ClientSecret)
			default:
				err = token.Claims(verifier, &claims)
			}
			if err != nil || token.Headers[0].Algorithm != row.alg || token.Headers[0].KeyID != config.ClientKeyID {
				t.Errorf("%v, header %+v", err, token.Headers[0])
			}
			if claims.Issuer != "client" || claims.Subject != "client" || claims.ID != "id-1" ||
				strings.Join(claims.Audience, " ") != p.URL+" "+p.URL+"/token" || !claims.IssuedAt.Time().Equal(clock) ||
				!claims.NotBefore.Time().Equal(clock) || !claims.Expiry.Time().Equal(clock.Add(time.Minute)) {
				t.Errorf("claims %+v", claims)
			}
		})
	}
}

// TestAssertionErrors: if an assertion cannot be made, the error names the provider and no request is sent.
func TestAssertionErrors(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(*oauth.Config)
		says   string
	}{
		"a key that nobody knows": {
			func(c *oauth.Config) { c.ClientKey = curve(t, elliptic.P224()) }, "ClientKey is of a kind that signs no assertions",
		},
		"no id": {
			func(c *oauth.Config) { c.NewID = func() (string, error) { return "", errors.New("no randomness") } },
			"no randomness",
		},
	} {
		p := newProvider(t)
		config := p.config()
		config.ClientAuth, config.ClientKey = oauth.PrivateKeyJWT, curve(t, elliptic.P256())
		row.change(&config)
		_, err := redeem(t, oauth.New(config))
		if tells(t, err, `provider "op": client assertion: `+row.says); p.times() != 0 {
			t.Errorf("%s: a request was sent anyway", name)
		}
	}
}

// signatureOf returns the last part of a token.
func signatureOf(t *testing.T, token string) []byte {
	t.Helper()
	signature, err := base64.RawURLEncoding.DecodeString(token[strings.LastIndex(token, ".")+1:])
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

// checkHMAC verifies an HS256 signature.
func checkHMAC(t *testing.T, token, secret string) {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(token[:strings.LastIndex(token, ".")]))
	if !hmac.Equal(mac.Sum(nil), signatureOf(t, token)) {
		t.Error("the signature is wrong")
	}
}
