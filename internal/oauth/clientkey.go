package oauth

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// ParseKey parses a private key for [PrivateKeyJWT]: PEM (PKCS #8, PKCS #1 or SEC 1) or a JSON Web Key, whose key ID it
// returns. Line breaks may be written as \n, which some environments require. Errors contain no part of the text.
func ParseKey(text string) (key crypto.Signer, keyID string, err error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		key, keyID, err = parseJWK(text)
	} else {
		key, err = parsePEM(strings.ReplaceAll(text, `\n`, "\n"))
	}
	if err == nil {
		_, err = SignatureAlgorithm(key)
	}
	if err != nil {
		return nil, "", err
	}
	return key, keyID, nil
}

func parseJWK(s string) (crypto.Signer, string, error) {
	var jwk jose.JSONWebKey
	if jwk.UnmarshalJSON([]byte(s)) != nil { // its error may quote the key
		return nil, "", errors.New("invalid JSON Web Key")
	}
	key, ok := jwk.Key.(crypto.Signer)
	if !ok || !jwk.Valid() {
		return nil, "", errors.New("the JSON Web Key is not a private key")
	}
	return key, jwk.KeyID, nil
}

func parsePEM(s string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(s))
	if block == nil {
		return nil, errors.New("it is neither PEM nor a JSON Web Key")
	}
	var key any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		return nil, fmt.Errorf("the PEM block is a %.40q: provide an unencrypted private key", block.Type)
	}
	signer, ok := key.(crypto.Signer)
	if err != nil || !ok {
		return nil, fmt.Errorf("the PEM block %q contains no signing key", block.Type)
	}
	return signer, nil
}

// SignedSecret describes client secrets that are JSON Web Tokens.
type SignedSecret struct {
	// Key is the text of the private key, and KeyID its ID. Alg is the algorithm that the key must be for.
	Key, KeyID, Alg string
	// Issuer and Audience are the claims iss and aud.
	Issuer, Audience string
}

// signedSecretAge is the lifetime of a signed secret.
const signedSecretAge = 5 * time.Minute

// Maker returns a function that signs a new secret. It returns an error if a field is missing or if the key does not
// match Alg. Errors do not contain the key.
func (s SignedSecret) Maker() (func(clientID string, now time.Time) (string, error), error) {
	if s.KeyID == "" || s.Issuer == "" || s.Audience == "" {
		return nil, errors.New("signed client secret: KeyID, Issuer and Audience are required")
	}
	key, _, err := ParseKey(s.Key)
	if err != nil {
		return nil, fmt.Errorf("client key: %w", err)
	}
	alg, err := SignatureAlgorithm(key)
	if err != nil || string(alg) != s.Alg {
		return nil, fmt.Errorf("signed client secret: the key is for %s, but Alg is %q", alg, s.Alg)
	}
	signing := jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: s.KeyID}}
	signer, err := jose.NewSigner(signing, nil)
	if err != nil {
		return nil, fmt.Errorf("signed client secret: %w", err)
	}
	issuer, audience := s.Issuer, s.Audience
	return func(clientID string, now time.Time) (string, error) {
		return jwt.Signed(signer).Claims(map[string]any{ // aud as a string; jwt.Claims would write an array
			"iss": issuer, "sub": clientID, "aud": audience, "iat": now.Unix(), "exp": now.Add(signedSecretAge).Unix(),
		}).Serialize()
	}, nil
}
