package core

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/latchkey-go/latchkey/internal/oauth"
)

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

// signedSecretAge is the lifetime of a signed secret.
const signedSecretAge = 5 * time.Minute

// Maker returns a function for MakeClientSecret of an [OAuthProvider]. It returns an error if a field is missing or if
// the key does not match Alg. Errors do not contain the key.
func (s SignedSecret) Maker() (func(clientID string, now time.Time) (Secret, error), error) {
	if s.KeyID == "" || s.Issuer == "" || s.Audience == "" {
		return nil, errors.New("core: signed client secret: KeyID, Issuer and Audience are required")
	}
	key, _, err := ParseClientKey(s.Key)
	if err != nil {
		return nil, err
	}
	alg, err := oauth.SignatureAlgorithm(key)
	if err != nil || string(alg) != s.Alg {
		return nil, fmt.Errorf("core: signed client secret: the key is for %s, but Alg is %q", alg, s.Alg)
	}
	signing := jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: s.KeyID}}
	signer, err := jose.NewSigner(signing, nil)
	if err != nil {
		return nil, fmt.Errorf("core: signed client secret: %w", err)
	}
	issuer, audience := s.Issuer, s.Audience
	return func(clientID string, now time.Time) (Secret, error) {
		token, err := jwt.Signed(signer).Claims(map[string]any{ // aud as a string; jwt.Claims would write an array
			"iss": issuer, "sub": clientID, "aud": audience, "iat": now.Unix(), "exp": now.Add(signedSecretAge).Unix(),
		}).Serialize()
		return Secret(token), err
	}, nil
}
