package jwe

import "errors"

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
