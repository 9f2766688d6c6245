package core

import (
	"crypto"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// clientAssertion makes the JWT that proves the client (RFC 7523, OpenID Connect Core section 9).
func (a *Auth) clientAssertion(c *oauthClient, at endpoints) (string, error) {
	id, err := a.uuid()
	if err != nil {
		return "", err
	}
	audience := jwt.Audience{at.token}
	if c.Issuer != "" {
		audience = jwt.Audience{c.Issuer, at.token}
	}
	now := a.now()
	claims := jwt.Claims{
		Issuer: c.ClientID, Subject: c.ClientID, Audience: audience, ID: id,
		IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(time.Minute)),
	}
	if c.ClientAuth == ClientSecretJWT {
		return signWithSecret(string(c.ClientSecret), claims)
	}
	alg, err := signatureAlgorithm(c.ClientKey)
	if err != nil {
		return "", err
	}
	if alg == jose.EdDSA && at.wantsEd25519() {
		return a.signAsEd25519(c, claims)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: c.ClientKey, KeyID: c.ClientKeyID}}, nil)
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(claims).Serialize()
}

// wantsEd25519 tells whether the provider takes assertions signed with Ed25519 under that name alone (RFC 9864 section 2.2): most know
// "EdDSA".
func (e endpoints) wantsEd25519() bool {
	return e.metadata != nil && slices.Contains(e.metadata.TokenEndpointAuthSigningAlgs, "Ed25519") && !slices.Contains(e.metadata.TokenEndpointAuthSigningAlgs, "EdDSA")
}

// signAsEd25519 signs claims under the name that go-jose does not know yet.
func (a *Auth) signAsEd25519(c *oauthClient, claims any) (string, error) {
	header, err := json.Marshal(struct {
		Alg string `json:"alg"`
		Kid string `json:"kid,omitempty"`
	}{"Ed25519", c.ClientKeyID})
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(payload)
	signature, err := c.ClientKey.Sign(a.rand, []byte(text), crypto.Hash(0)) // the key hashes (RFC 8032)
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// signWithSecret signs claims with HS256 (RFC 7515 appendix A.1). go-jose refuses secrets of fewer than 32 bytes, as RFC 7518
// section 3.2 asks; a client secret is as long as the provider made it.
func signWithSecret(secret string, claims any) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), nil
}
