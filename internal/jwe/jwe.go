// Package jwe encrypts and decrypts session tokens and check cookies: compact JWE (RFC 7516 section 7.1) with a key
// derived from a secret, as in Auth.js.
//
//	BASE64URL(header) .. BASE64URL(IV) . BASE64URL(ciphertext) . BASE64URL(tag)
//
// The header is {"alg":"dir","enc":"A256CBC-HS512","kid":"…"}: there is no encrypted key, and the derived key is used
// directly. A256GCM can be decrypted but is never used for encryption. Keys are derived with HKDF-SHA256. The info
// contains the salt, so that a token for one cookie name is invalid for another.
//
// Open deliberately supports less than RFC 7516. Other features of general libraries (compression, key wrapping, key
// references, JSON serialization, base64 with white space) have led to vulnerabilities or denial of service, and none
// is needed here. A token has exactly one encoding: texts that differ in white space, padding or unused bits never
// decrypt to the same payload.
//
// The caller must check the payload, including its expiry.
package jwe

import (
	"encoding/base64"
	"errors"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// ErrInvalid is the error of [Keyring.Open] for any invalid token.
var ErrInvalid = errors.New("jwe: token refused")

// refusal is an error of Open: ErrInvalid with a fixed reason for the log. It contains nothing of the token. All
// failures that depend on the key have the same reason, so that it reveals no more than the response does.
type refusal string

const (
	refuseLength    refusal = "longer than allowed"
	refuseForm      refusal = "not five parts, the second empty"
	refuseEncoding  refusal = "part that is not canonical base64url"
	refuseHeader    refusal = "header that is not the JSON expected"
	refuseParameter refusal = "header parameter not supported"
	refuseAlgorithm refusal = "alg or enc not supported"
	refuseKey       refusal = "kid of no configured secret"
	refuseSeal      refusal = "made with another key or changed"
)

func (r refusal) Error() string { return ErrInvalid.Error() + ": " + string(r) }

// Unwrap returns ErrInvalid.
func (r refusal) Unwrap() error { return ErrInvalid }

// maxHeader is the maximum length of the encoded header. The header of Seal has 174 characters.
const maxHeader = 2048

// header contains the supported header parameters of a token.
type header struct {
	alg, enc, kid string
	hasKid        bool
}

// parseHeader parses the header of a token. It rejects unknown parameters, although RFC 7516 section 4 would ignore
// them. The registered ones either change the meaning of the token (zip, crit, cty) or contain or reference a key (jku,
// jwk, x5u, x5c, epk, p2s), and Seal writes none.
func parseHeader(part string) (h header, err error) {
	if len(part) > maxHeader {
		return header{}, refuseHeader
	}
	text, err := appendDecoded(nil, part)
	if err != nil {
		return header{}, err
	}
	err = exactjson.Object(text, func(name string, value []byte) error {
		var into *string
		switch name {
		case "alg":
			into = &h.alg
		case "enc":
			into = &h.enc
		case "kid":
			into, h.hasKid = &h.kid, true
		case "typ":
			into = new(string) // applications may distinguish types of tokens (RFC 7516 section 4.1.11)
		default:
			return refuseParameter
		}
		s, ok := exactjson.Text(value)
		if !ok {
			return refuseHeader
		}
		*into = s
		return nil
	})
	switch {
	case err == nil:
		return h, nil
	case errors.Is(err, refuseParameter):
		return header{}, refuseParameter
	default:
		return header{}, refuseHeader
	}
}

// strict rejects non-zero unused bits at the end, which would allow two encodings of the same bytes.
var strict = base64.RawURLEncoding.Strict()

// appendDecoded appends a decoded part of a token to dst. Package encoding/base64 ignores line breaks even in strict
// mode, so appendDecoded also checks the length.
func appendDecoded(dst []byte, part string) ([]byte, error) {
	n := len(dst)
	dst, err := strict.AppendDecode(dst, []byte(part))
	if err != nil || len(part) != strict.EncodedLen(len(dst)-n) {
		return nil, refuseEncoding
	}
	return dst, nil
}
