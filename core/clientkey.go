package core

import (
	"crypto"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/internal/oauth"
)

// ParseClientKey parses a private key for [PrivateKeyJWT]: PEM (PKCS #8, PKCS #1 or SEC 1) or a JSON Web Key, whose key
// ID it returns. Line breaks may be written as \n, which some environments require. Errors contain no part of the text.
func ParseClientKey(text Secret) (key crypto.Signer, keyID string, err error) {
	key, keyID, err = oauth.ParseKey(string(text))
	if err != nil {
		return nil, "", fmt.Errorf("core: client key: %w", err)
	}
	return key, keyID, nil
}

// SignedSecret creates client secrets that are JSON Web Tokens, as Apple requires. Each token request has a new one,
// which is valid for five minutes.
type SignedSecret struct {
	// Key is the private key, in a format that [ParseClientKey] reads. KeyID is the provider's ID of the key.
	Key   Secret
	KeyID string
	// Alg is the algorithm that the provider requires, such as "ES256". A key for another algorithm is an error.
	Alg string
	// Issuer is the claim iss: the provider's ID of the owner of the key. Audience is the claim aud: the provider itself.
	Issuer, Audience string
}

// Maker returns a function for MakeClientSecret of an [OAuthProvider]. It returns an error if a field is missing or if
// the key does not match Alg. Errors do not contain the key.
func (s SignedSecret) Maker() (func(clientID string, now time.Time) (Secret, error), error) {
	signed := oauth.SignedSecret{Key: string(s.Key), KeyID: s.KeyID, Alg: s.Alg, Issuer: s.Issuer, Audience: s.Audience}
	sign, err := signed.Maker()
	if err != nil {
		return nil, fmt.Errorf("core: %w", err)
	}
	return func(clientID string, now time.Time) (Secret, error) {
		secret, err := sign(clientID, now)
		return Secret(secret), err
	}, nil
}
