package faults

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"time"
)

const (
	issuer       = "https://op.test"
	clientID     = "client"
	clientSecret = "a-client-secret-5a1"
)

// signer is the provider's key.
var signer = func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}()

var metadata = map[string]any{
	"issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token",
	"userinfo_endpoint": issuer + "/userinfo", "jwks_uri": issuer + "/jwks",
	"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
	"id_token_signing_alg_values_supported": []string{"RS256"},
}

var keySet = map[string]any{"keys": []any{map[string]string{
	"kty": "RSA", "kid": "k1", "use": "sig", "alg": "RS256",
	"n": base64.RawURLEncoding.EncodeToString(signer.N.Bytes()),
	"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(signer.E)).Bytes()),
}}}

// logoutToken returns a token that ends a subject's sessions (OpenID Connect Back-Channel Logout 1.0 section 2.4).
func logoutToken(subject string, now time.Time) string {
	return signed("logout+jwt", map[string]any{
		"iss": issuer, "aud": clientID, "sub": subject, "iat": now.Unix(), "exp": now.Unix() + 120, "jti": rand.Text(),
		"events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}},
	})
}

// idToken returns an ID token of a person that the provider's SDK gives to the app.
func idToken(person, nonce string, now time.Time) string {
	return signed("JWT", map[string]any{
		"iss": issuer, "aud": sdkClientID, "sub": person, "iat": now.Unix(), "exp": now.Unix() + 3600, "nonce": nonce,
		"email": address(person), "email_verified": true,
	})
}

// signed returns a token of the provider.
func signed(kind string, claims map[string]any) string {
	text := part(map[string]string{"alg": "RS256", "kid": "k1", "typ": kind}) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, signer, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func part(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}
