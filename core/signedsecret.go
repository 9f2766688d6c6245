package core

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/latchkey-go/latchkey/core/internal/oauth"
)

// SignedSecret describes client secrets that are JSON Web Tokens, as Apple wants them: each token request has its own,
// which is good for five minutes.
type SignedSecret struct {
	// Key is the private key that signs, as text that [ParseClientKey] reads; KeyID is the service's name for it.
	Key   Secret
	KeyID string
	// Alg is the algorithm that the service wants, such as "ES256": a key of another kind is refused.
	Alg string
	// Issuer is the service's name for the owner of the key, Audience the service's own.
	Issuer, Audience string
}

// signedSecretAge is how long a signed secret is good.
const signedSecretAge = 5 * time.Minute

// Maker returns a function for MakeClientSecret of an [OAuthProvider]. It fails when the description is incomplete or
// the key is not one for Alg; its errors hold nothing of the key.
func (s SignedSecret) Maker() (func(clientID string, now time.Time) (Secret, error), error) {
	if s.KeyID == "" || s.Issuer == "" || s.Audience == "" {
		return nil, errors.New("core: signed client secret: KeyID, Issuer and Audience are needed")
	}
	key, _, err := ParseClientKey(s.Key)
	if err != nil {
		return nil, err
	}
	alg, err := oauth.SignatureAlgorithm(key)
	if err != nil || string(alg) != s.Alg {
		return nil, fmt.Errorf("core: signed client secret: the key signs with %s, the service wants %s", alg, s.Alg)
	}
	signing := jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: s.KeyID}}
	signer, err := jose.NewSigner(signing, nil)
	if err != nil {
		return nil, fmt.Errorf("core: signed client secret: %w", err)
	}
	issuer, audience := s.Issuer, s.Audience
	return func(clientID string, now time.Time) (Secret, error) {
		token, err := jwt.Signed(signer).Claims(map[string]any{ // aud as a text, which jwt.Claims would put into a list
			"iss": issuer, "sub": clientID, "aud": audience, "iat": now.Unix(), "exp": now.Add(signedSecretAge).Unix(),
		}).Serialize()
		return Secret(token), err
	}, nil
}
