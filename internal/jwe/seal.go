package jwe

import (
	"crypto/aes"
	"errors"
	"slices"
)

// IV is the initialization vector of a token. Its bytes must be unpredictable and used for one token only (NIST SP
// 800-38A section 5.3).
type IV [cbcIV]byte

// Seal returns a token that contains payload, encrypted with the first secret and A256CBC-HS512. It returns an error if
// the token would be longer than [MaxLength].
func (k *Keyring) Seal(iv IV, payload []byte) (string, error) {
	all, err := k.derived()
	if err != nil {
		return "", err
	}
	return seal(all.cbc[0], all.cbc[0].header, iv, payload)
}

// Current reports whether a token is encrypted with the first secret, in the format of Seal.
func (k *Keyring) Current(token string) bool {
	all, err := k.derived()
	if err != nil {
		return false
	}
	header := all.cbc[0].header
	return len(token) > len(header) && token[len(header)] == '.' && token[:len(header)] == string(header)
}

// unnamedHeader is the header of a token without a key ID.
var unnamedHeader = strict.AppendEncode(nil, []byte(`{"alg":"dir","enc":"`+encCBC+`"}`))

// SealUnnamed is Seal without the key ID (kid), which makes the token 127 characters shorter. [Keyring.Open] tries only
// the first secret for such a token, so it becomes invalid when a new secret is added in front.
func (k *Keyring) SealUnnamed(iv IV, payload []byte) (string, error) {
	all, err := k.derived()
	if err != nil {
		return "", err
	}
	return seal(all.cbc[0], unnamedHeader, iv, payload)
}

func seal(key *cbcKey, header []byte, iv IV, payload []byte) (string, error) {
	if len(payload) > MaxLength { // checked before any arithmetic or allocation
		return "", ErrTooLong
	}
	// PKCS #7 padding has at least one byte.
	end := cbcIV + (len(payload)/aes.BlockSize+1)*aes.BlockSize
	length := len(header) + len("..") + strict.EncodedLen(cbcIV) + len(".") + strict.EncodedLen(end-cbcIV) +
		len(".") + strict.EncodedLen(cbcTag)
	if length > MaxLength {
		return "", ErrTooLong
	}
	w := key.workers.Get().(*worker)
	defer key.workers.Put(w)
	w.raw = slices.Grow(w.raw[:0], end+cbcTag)
	buf := w.raw[:end]
	copy(buf, iv[:])
	copy(buf[cbcIV:], payload)
	w.encrypt(buf, len(payload))
	buf = append(buf, w.tag(header, buf)...)

	w.token = slices.Grow(w.token[:0], length)
	out := append(w.token, header...)
	out = append(out, ".."...)
	out = strict.AppendEncode(out, buf[:cbcIV])
	out = append(out, '.')
	out = strict.AppendEncode(out, buf[cbcIV:end])
	out = append(out, '.')
	out = strict.AppendEncode(out, buf[end:])
	return string(out), nil
}

// ErrTooLong is returned if the token would be longer than [MaxLength].
var ErrTooLong = errors.New("jwe: payload too long for a token: keep less in it")
