package webauthn

import (
	"crypto/ecdh"
	"errors"
	"math/big"
	"slices"

	"github.com/fxamacker/cbor/v2"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// errKey is returned for a public key that cannot verify any signature.
var errKey = errors.New("the public key is not valid for its algorithm")

// leastModulus is the minimum size of an RSA key in bits (NIST SP 800-131A).
const leastModulus = 2048

// checkKey checks the public key of a registration (RFC 9053 section 7, RFC 8230 section 4). go-webauthn checks it only
// when it verifies a signature, so a passkey with an invalid key could be stored and never be used.
func checkKey(raw []byte) error {
	parsed, err := webauthncose.ParsePublicKey(raw)
	if err != nil {
		return errKey
	}
	valid := false
	switch key := parsed.(type) {
	case webauthncose.EC2PublicKeyData:
		valid = onCurve(key)
	case webauthncose.RSAPublicKeyData:
		valid = isRSA(key)
	case webauthncose.OKPPublicKeyData:
		var further struct {
			Curve int64 `cbor:"-1,keyasint"` // go-webauthn does not read it
		}
		err = cbor.Unmarshal(raw, &further)
		valid = err == nil && key.Algorithm == int64(webauthncose.AlgEdDSA) && further.Curve == int64(webauthncose.Ed25519) &&
			isEd25519(key.XCoord)
	}
	if !valid {
		return errKey
	}
	return nil
}

// onCurve reports whether a key is a point on the curve of its algorithm (WebAuthn section 5.8.5).
func onCurve(key webauthncose.EC2PublicKeyData) bool {
	curves := map[int64]struct {
		number int64
		curve  ecdh.Curve
		bytes  int
	}{
		int64(webauthncose.AlgES256): {int64(webauthncose.P256), ecdh.P256(), 32},
		int64(webauthncose.AlgES384): {int64(webauthncose.P384), ecdh.P384(), 48},
		int64(webauthncose.AlgES512): {int64(webauthncose.P521), ecdh.P521(), 66},
	}
	of, known := curves[key.Algorithm]
	if !known || key.Curve != of.number || len(key.XCoord) != of.bytes || len(key.YCoord) != of.bytes {
		return false
	}
	_, err := of.curve.NewPublicKey(slices.Concat([]byte{4}, key.XCoord, key.YCoord))
	return err == nil
}

// isRSA reports whether a key is large enough and its numbers are odd.
func isRSA(key webauthncose.RSAPublicKeyData) bool {
	switch webauthncose.COSEAlgorithmIdentifier(key.Algorithm) {
	case webauthncose.AlgRS256, webauthncose.AlgRS384, webauthncose.AlgRS512,
		webauthncose.AlgPS256, webauthncose.AlgPS384, webauthncose.AlgPS512:
	default:
		return false
	}
	n, e := new(big.Int).SetBytes(key.Modulus), new(big.Int).SetBytes(key.Exponent)
	return n.BitLen() >= leastModulus && n.BitLen() <= 16384 && n.Bit(0) == 1 && len(key.Exponent) <= 4 &&
		e.Cmp(big.NewInt(3)) >= 0 && e.BitLen() <= 31 && e.Bit(0) == 1
}

// isEd25519 reports whether 32 bytes are a point on the curve (RFC 8032 section 5.1.3).
func isEd25519(point []byte) bool {
	if len(point) != 32 {
		return false
	}
	digits := slices.Clone(point)
	digits[31] &= 0x7f // the highest bit is the sign of x
	slices.Reverse(digits)
	one := big.NewInt(1)
	p := new(big.Int).Sub(new(big.Int).Lsh(one, 255), big.NewInt(19))
	y := new(big.Int).SetBytes(digits)
	if y.Cmp(p) >= 0 {
		return false
	}
	// x² = (y² - 1) / (d·y² + 1), where d = -121665/121666.
	d := new(big.Int).Mul(big.NewInt(-121665), new(big.Int).ModInverse(big.NewInt(121666), p))
	square := new(big.Int).Mul(y, y)
	above := new(big.Int).Sub(square, one)
	below := new(big.Int).Add(new(big.Int).Mul(d, square), one)
	x := new(big.Int).Mul(above, new(big.Int).ModInverse(below.Mod(below, p), p))
	return x.Mod(x, p).Sign() != 0 && new(big.Int).ModSqrt(x, p) != nil
}
