package providers

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// Apple signs in with Apple accounts.
//
// Register a services ID at https://developer.apple.com/account/resources/identifiers/list/serviceId with the callback URL
// {origin}/auth/callback/apple, which has to be https and not localhost. Environment: AUTH_APPLE_ID, AUTH_APPLE_SECRET.
//
// The secret is a JWT signed with a key of yours and good for half a year at most; [AppleWithKey] makes it. The
// visitor's name comes with their first sign-in alone; at later ones the user is named by the e-mail address. A
// redirect proxy is not possible.
func Apple(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "apple", Name: "Apple", Type: core.TypeOIDC,
		Issuer:        "https://appleid.apple.com",
		Authorization: core.Endpoint{Params: url.Values{"response_mode": {"form_post"}}},
		Scope:         "name email",
		Checks:        []core.Check{core.CheckNonce, core.CheckState},
		ClientAuth:    core.ClientSecretPost,
		Profile:       mapping{id: "sub", name: "user.name.firstName + user.name.lastName || email", email: "email"}.user(),
		EmailProved:   func(p core.Profile) bool { return p.Bool("email_verified") || p.Text("email_verified") == "true" },
		Style:         core.Style{Background: "#000", Text: "#fff"},
	}, options)
}

// AppleKey signs client secrets.
type AppleKey struct {
	// TeamID and KeyID are shown beside the key at https://developer.apple.com/account/resources/authkeys/list.
	TeamID, KeyID string
	// Key is the private key, P-256; [ParseAppleKey] reads the file that Apple hands out.
	Key *ecdsa.PrivateKey
}

// ParseAppleKey reads the text of a .p8 file: a private key in PEM.
func ParseAppleKey(text []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("providers: the Apple key is not in PEM: give the whole text of the .p8 file")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("providers: the Apple key is no private key in PKCS #8: give the whole text of the .p8 file")
	}
	private, ok := key.(*ecdsa.PrivateKey)
	if !ok || private.Curve.Params().BitSize != 256 {
		return nil, fmt.Errorf("providers: the Apple key is a %T: it has to be an elliptic curve key on P-256", key)
	}
	return private, nil
}

// AppleWithKey is [Apple] with a client secret that is made for each token request. Environment: AUTH_APPLE_ID.
func AppleWithKey(key AppleKey, options ...Options) *core.OAuthProvider {
	p := Apple(options...)
	p.MakeClientSecret = key.secret
	return p
}

// secret makes a client secret that is good for five minutes.
func (k AppleKey) secret(clientID string, now time.Time) (core.Secret, error) {
	if k.Key == nil || k.TeamID == "" || k.KeyID == "" {
		return "", errors.New("AppleKey needs TeamID, KeyID and Key")
	}
	header, err := json.Marshal(map[string]string{"alg": "ES256", "kid": k.KeyID})
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{
		"iss": k.TeamID, "sub": clientID, "aud": "https://appleid.apple.com", "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	})
	if err != nil {
		return "", err
	}
	signed := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(claims)
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, k.Key, digest[:])
	if err != nil {
		return "", err
	}
	var signature [64]byte // RFC 7518 section 3.4
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return core.Secret(signed + "." + base64.RawURLEncoding.EncodeToString(signature[:])), nil
}
