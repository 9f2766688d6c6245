package jwe

import (
	"slices"
	"strings"
)

// MaxLength is the maximum length of a token in bytes. Most servers and proxies reject headers of that size, and it is
// decrypted in a fraction of a millisecond.
const MaxLength = 64 << 10

// token contains the encoded parts of a token.
type token struct {
	header, iv, ciphertext, tag string
}

// split splits a token into its parts.
func split(text string) (t token, ok bool) {
	if t.header, text, ok = strings.Cut(text, ".."); !ok {
		return token{}, false
	}
	if t.iv, text, ok = strings.Cut(text, "."); !ok {
		return token{}, false
	}
	// Another dot would be in the tag, which is then invalid base64.
	t.ciphertext, t.tag, ok = strings.Cut(text, ".")
	return t, ok
}

// Open returns the payload of a token that was encrypted with one of the secrets and the same salt. If the token has a
// key ID (kid), Open uses that key, otherwise the key of the first secret. It tries no other key. All errors are
// [ErrInvalid]; the text contains a reason for the log and nothing of the token.
func (k *Keyring) Open(text string) (string, error) {
	if len(text) > MaxLength {
		return "", refuseLength
	}
	t, ok := split(text)
	if !ok {
		return "", refuseForm
	}
	all, err := k.derived()
	if err != nil {
		return "", err
	}
	return all.open(&t)
}

func (k *keys) open(t *token) (string, error) {
	// The common case: the token has exactly the header that Seal writes.
	if key := k.cbcOf(t.header); key != nil {
		return openCBC(key, key.header, t)
	}
	h, err := parseHeader(t.header)
	if err != nil {
		return "", err
	}
	if h.alg != "dir" {
		return "", refuseAlgorithm
	}
	switch h.enc {
	case encCBC:
		key := pick(k.cbc, func(c *cbcKey) bool { return same(h.kid, c.kid) }, h.hasKid)
		if key == nil {
			return "", refuseKey
		}
		return openCBC(key, []byte(t.header), t)
	case encGCM:
		key := pick(k.gcm, func(c *gcmKey) bool { return same(h.kid, c.kid) }, h.hasKid)
		if key == nil {
			return "", refuseKey
		}
		return openGCM(key, []byte(t.header), t)
	default:
		return "", refuseAlgorithm
	}
}

// cbcOf returns the key whose tokens have this header, or nil. The header is not secret, so the comparison need not
// take constant time.
func (k *keys) cbcOf(header string) *cbcKey {
	for _, key := range k.cbc {
		if header == string(key.header) {
			return key
		}
	}
	return nil
}

// pick returns the first key that matches or, without a kid, the first key. It compares all keys, so that the duration
// does not reveal which one matches.
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

// raw decodes IV, ciphertext and tag into room, one after the other. It extends room if necessary.
func (t *token) raw(room *[]byte, iv, tag int) ([]byte, error) {
	if len(t.iv) != strict.EncodedLen(iv) || len(t.tag) != strict.EncodedLen(tag) {
		return nil, refuseEncoding
	}
	*room = slices.Grow((*room)[:0], iv+strict.DecodedLen(len(t.ciphertext))+tag)
	buf := *room
	for _, part := range [...]string{t.iv, t.ciphertext, t.tag} {
		var err error
		if buf, err = appendDecoded(buf, part); err != nil {
			return nil, err
		}
	}
	return buf, nil
}

func openCBC(key *cbcKey, header []byte, t *token) (string, error) {
	w := key.workers.Get().(*worker)
	defer key.workers.Put(w)
	buf, err := t.raw(&w.raw, cbcIV, cbcTag)
	if err != nil {
		return "", err
	}
	end := len(buf) - cbcTag
	payload, err := w.decrypt(header, buf[:end], buf[end:])
	return string(payload), err
}

func openGCM(key *gcmKey, header []byte, t *token) (string, error) {
	var room []byte
	buf, err := t.raw(&room, gcmIV, gcmTag)
	if err != nil {
		return "", err
	}
	payload, err := key.decrypt(header, buf[:gcmIV], buf[gcmIV:])
	return string(payload), err
}
