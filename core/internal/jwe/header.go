package jwe

import (
	"encoding/base64"
	"errors"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

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
