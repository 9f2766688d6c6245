package core

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
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
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: c.ClientKey, KeyID: c.ClientKeyID}}, nil)
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(claims).Serialize()
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
