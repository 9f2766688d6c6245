package jwe

import (
	"slices"
	"strings"
)

// MaxLength is the longest token, in bytes, that is opened or made. Most servers and proxies refuse headers of that
// size, and it is decrypted in a fraction of a millisecond.
const MaxLength = 64 << 10

// token is a token taken apart, still encoded.
type token struct {
	header, iv, ciphertext, tag string
	// room is where it is decoded.
	room *[]byte
}

// split takes a token apart.
func split(text string) (t token, ok bool) {
	if t.header, text, ok = strings.Cut(text, ".."); !ok {
		return token{}, false
	}
	if t.iv, text, ok = strings.Cut(text, "."); !ok {
		return token{}, false
	}
	// A further dot would be in the tag, and fail as base64.
	t.ciphertext, t.tag, ok = strings.Cut(text, ".")
	return t, ok
}

// Open returns the payload of a token that was sealed with one of the secrets for the same salt. The payload is the
// caller's to change. A token that names a key (kid) is opened with that one, a token that names none with that of the
// first secret, and no other is tried. Every error is [ErrInvalid]; its text adds a reason for the log and nothing of
// the token.
func (k *Keyring) Open(text string) ([]byte, error) {
	var room []byte
	return k.OpenIn(&room, text)
}

// OpenIn is [Keyring.Open] that works in room, which it makes longer where it is too short: the payload is a part of
// it, good until room is used again.
func (k *Keyring) OpenIn(room *[]byte, text string) ([]byte, error) {
	if len(text) > MaxLength {
		return nil, refuseLength
	}
	t, ok := split(text)
	if !ok {
		return nil, refuseForm
	}
	if strings.IndexByte(text, '\n') >= 0 || strings.IndexByte(text, '\r') >= 0 {
		return nil, refuseEncoding
	}
	all, err := k.derived()
	if err != nil {
		return nil, err
	}
	t.room = room
	return all.open(&t)
}

func (k *keys) open(t *token) ([]byte, error) {
	// Nearly all tokens have been sealed here, and their header part is known to the letter.
	if key := k.cbcOf(t.header); key != nil {
		return openCBC(key, key.header, t)
	}
	h, err := parseHeader(t.header)
	if err != nil {
		return nil, err
	}
	if h.alg != "dir" {
		return nil, refuseAlgorithm
	}
	switch h.enc {
	case encCBC:
		key := pick(k.cbc, func(c *cbcKey) bool { return same(h.kid, c.kid) }, h.hasKid)
		if key == nil {
			return nil, refuseKey
		}
		return openCBC(key, []byte(t.header), t)
	case encGCM:
		key := pick(k.gcm, func(c *gcmKey) bool { return same(h.kid, c.kid) }, h.hasKid)
		if key == nil {
			return nil, refuseKey
		}
		return openGCM(key, []byte(t.header), t)
	default:
		return nil, refuseAlgorithm
	}
}

// cbcOf returns the key whose tokens have this header part, nil when there is none. Whoever has a token can read that
// part: how long the comparison takes tells nothing.
func (k *keys) cbcOf(header string) *cbcKey {
	for _, key := range k.cbc {
		if header == string(key.header) {
			return key
		}
	}
	return nil
}

// pick returns the first key that matches, or the first of all without a kid to match. All are compared, so that the
// time does not tell which one it was.
func pick[K any](keys []*K, matches func(*K) bool, hasKid bool) (found *K) {
	if !hasKid {
		return keys[0]
	}
	for _, key := range keys {
		if matches(key) && found == nil {
			found = key
		}
	}
	return found
}

// raw decodes IV, ciphertext and tag into the room, one behind the other.
func (t *token) raw(iv, tag int) ([]byte, error) {
	if len(t.iv) != strict.EncodedLen(iv) || len(t.tag) != strict.EncodedLen(tag) {
		return nil, refuseEncoding
	}
	size := iv + strict.DecodedLen(len(t.ciphertext)) + tag
	*t.room = slices.Grow((*t.room)[:0], size)
	buf := (*t.room)[:size]
	at := 0
	for _, part := range [...]string{t.iv, t.ciphertext, t.tag} {
		n, err := strict.Decode(buf[at:], []byte(part))
		if err != nil {
			return nil, refuseEncoding
		}
		at += n
	}
	return buf[:at], nil
}

func openCBC(key *cbcKey, header []byte, t *token) ([]byte, error) {
	buf, err := t.raw(cbcIV, cbcTag)
	if err != nil {
		return nil, err
	}
	end := len(buf) - cbcTag
	return key.decrypt(header, buf[:end], buf[end:])
}

func openGCM(key *gcmKey, header []byte, t *token) ([]byte, error) {
	buf, err := t.raw(gcmIV, gcmTag)
	if err != nil {
		return nil, err
	}
	return key.decrypt(header, buf[:gcmIV], buf[gcmIV:])
}
