// Package jwe seals and opens the session token and the check cookies: compact JWE (RFC 7516 section 7.1) under a key
// derived from a secret, as Auth.js writes it.
//
//	BASE64URL(header) .. BASE64URL(IV) . BASE64URL(ciphertext) . BASE64URL(tag)
//
// The header is {"alg":"dir","enc":"A256CBC-HS512","kid":"…"}: no encrypted key, the derived key is used directly.
// A256GCM is opened and never written. Keys come from HKDF-SHA256 with the salt in the info as well, so that a token
// made for one cookie name opens under no other.
//
// Open is narrower than RFC 7516 on purpose. What a general library supports beyond these two forms (compression, key
// wrapping, keys by reference, JSON serialisation, base64 with blanks) has been a way in or a way to stall a server
// somewhere, and none of it is needed here. A token has one spelling: two texts never open to the same payload by
// differing in blanks, padding or unused bits.
//
// What the payload says, expiry included, is for the caller to judge.
package jwe

import (
	"encoding/base64"
	"errors"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// ErrInvalid is what every error of [Keyring.Open] is, whatever is wrong with the token.
var ErrInvalid = errors.New("jwe: token refused")

// refusal is an error of Open: ErrInvalid with a fixed reason for the log. Bytes of the token are never in it. What
// depends on the key has one reason alone, so that it shows no more than the answer does.
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

// Unwrap makes every refusal an ErrInvalid.
func (r refusal) Unwrap() error { return ErrInvalid }

// maxHeader is how many characters the header part may have: ours has 174.
const maxHeader = 2048

// header is what a token says about itself.
type header struct {
	alg, enc, kid string
	hasKid        bool
}

// parseHeader reads the header part of a token. Parameters that are not known here are refused although RFC 7516
// section 4 would ignore them: every one of the registered ones changes what the token means (zip, crit, cty) or brings
// a key along (jku, jwk, x5u, x5c, epk, p2s), and none of ours has any.
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
			into = new(string) // for applications that tell types of tokens apart (RFC 7516 section 4.1.11)
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

// strict refuses bits behind the last byte, of which two spellings of the same bytes could be made.
var strict = base64.RawURLEncoding.Strict()

// appendDecoded appends what a part of a token says to dst. Package encoding/base64 skips line ends even when strict: a
// part that has one is longer than what it says would be.
func appendDecoded(dst []byte, part string) ([]byte, error) {
	n := len(dst)
	dst, err := strict.AppendDecode(dst, []byte(part))
	if err != nil || len(part) != strict.EncodedLen(len(dst)-n) {
		return nil, refuseEncoding
	}
	return dst, nil
}
