package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// assertion returns a JWT that authenticates the client (RFC 7523, OpenID Connect Core section 9). It is valid for one
// minute.
func (t *tokenRequest) assertion() (string, error) {
	id, err := t.NewID()
	if err != nil {
		return "", err
	}
	audience := jwt.Audience{t.at.token}
	if t.Issuer != "" {
		audience = jwt.Audience{t.Issuer, t.at.token}
	}
	now := t.Now()
	claims := jwt.Claims{
		Issuer: t.ClientID, Subject: t.ClientID, Audience: audience, ID: id,
		IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now),
		Expiry: jwt.NewNumericDate(now.Add(time.Minute)),
	}
	if t.ClientAuth == ClientSecretJWT {
		return signWithSecret(t.ClientSecret, claims)
	}
	alg, err := SignatureAlgorithm(t.ClientKey)
	if err != nil {
		return "", err
	}
	if alg == jose.EdDSA && t.at.wantsEd25519() {
		return t.signAsEd25519(claims)
	}
	key := jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: t.ClientKey, KeyID: t.ClientKeyID}}
	signer, err := jose.NewSigner(key, nil)
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(claims).Serialize()
}

// SignatureAlgorithm returns the algorithm for client assertions with a key (RFC 7518 section 3.1).
func SignatureAlgorithm(key crypto.Signer) (jose.SignatureAlgorithm, error) {
	switch k := key.Public().(type) {
	case *rsa.PublicKey:
		return jose.RS256, nil
	case ed25519.PublicKey:
		return jose.EdDSA, nil
	case *ecdsa.PublicKey:
		switch k.Curve {
		case elliptic.P256():
			return jose.ES256, nil
		case elliptic.P384():
			return jose.ES384, nil
		case elliptic.P521():
			return jose.ES512, nil
		}
	}
	return "", errors.New("ClientKey is of a kind that signs no assertions: " +
		"use RSA, ECDSA on P-256, P-384 or P-521, or Ed25519")
}

// signAsEd25519 signs claims with the algorithm name "Ed25519", which go-jose does not support yet.
func (t *tokenRequest) signAsEd25519(claims any) (string, error) {
	header, err := json.Marshal(struct {
		Alg string `json:"alg"`
		Kid string `json:"kid,omitempty"`
	}{"Ed25519", t.ClientKeyID})
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(payload)
	signature, err := t.ClientKey.Sign(t.Rand, []byte(text), crypto.Hash(0)) // Ed25519 hashes the text itself (RFC 8032)
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// signWithSecret signs claims with HS256 (RFC 7515 appendix A.1). It does not use go-jose, which rejects secrets of
// fewer than 32 bytes, following RFC 7518 section 3.2: the length of a client secret is the provider's choice.
func signWithSecret(secret string, claims any) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(payload)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), nil
}
