package accesstoken

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
)

// jwk is a public key (RFC 7517 section 4). The members are in the order that a thumbprint needs.
type jwk struct {
	Crv string `json:"crv"`
	Kty string `json:"kty"`
	X   string `json:"x"`
	Y   string `json:"y,omitempty"`
}

// publishedKey is a key in the JWKS.
type publishedKey struct {
	jwk
	Alg Algorithm `json:"alg"`
	Use string    `json:"use"`
	Kid string    `json:"kid"`
}

// coordinateLen is the length of the coordinates of a P-256 key, and of both halves of a signature.
const coordinateLen = 32

var encoding = base64.RawURLEncoding

// newPublishedKey describes a public key. Its key ID is the thumbprint (RFC 7638), so that it depends on the key alone.
func newPublishedKey(public crypto.PublicKey) (p publishedKey, err error) {
	switch key := public.(type) {
	case ed25519.PublicKey:
		p.Alg, p.jwk = EdDSA, jwk{Crv: "Ed25519", Kty: "OKP", X: encoding.EncodeToString(key)}
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return p, errors.New("an ECDSA key must be on the curve P-256")
		}
		point, err := key.Bytes()
		if err != nil {
			return p, fmt.Errorf("the ECDSA key is invalid: %w", err)
		}
		x, y := point[1:1+coordinateLen], point[1+coordinateLen:] // after the byte 4 of an uncompressed point
		p.Alg, p.jwk = ES256, jwk{Crv: "P-256", Kty: "EC", X: encoding.EncodeToString(x), Y: encoding.EncodeToString(y)}
	default:
		return p, fmt.Errorf("the key is a %T: use an Ed25519 or P-256 key", public)
	}
	text, err := json.Marshal(p.jwk)
	if err != nil {
		return p, err
	}
	sum := sha256.Sum256(text)
	p.Use, p.Kid = "sig", encoding.EncodeToString(sum[:])
	return p, nil
}

// sign returns a token in the compact form (RFC 7515 section 3.1).
func (k *signingKey) sign(random io.Reader, claims any) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := k.header + "." + encoding.EncodeToString(payload)
	signature, err := k.signature(random, []byte(text))
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return text + "." + encoding.EncodeToString(signature), nil
}

func (k *signingKey) signature(random io.Reader, text []byte) ([]byte, error) {
	if k.Alg == EdDSA {
		return k.signer.Sign(random, text, crypto.Hash(0))
	}
	sum := sha256.Sum256(text)
	der, err := k.signer.Sign(random, sum[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	// A crypto.Signer returns ASN.1; JSON Web Signatures are both numbers of a fixed length (RFC 7518 section 3.4).
	var numbers struct{ R, S *big.Int }
	rest, err := asn1.Unmarshal(der, &numbers)
	if err != nil || len(rest) > 0 || numbers.R.Sign() <= 0 || numbers.S.Sign() <= 0 ||
		numbers.R.BitLen() > 8*coordinateLen || numbers.S.BitLen() > 8*coordinateLen {
		return nil, errors.New("the signer returned a malformed ECDSA signature")
	}
	out := make([]byte, 2*coordinateLen)
	numbers.R.FillBytes(out[:coordinateLen])
	numbers.S.FillBytes(out[coordinateLen:])
	return out, nil
}
