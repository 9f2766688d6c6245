package apikey

import (
	"crypto/sha256"
	"crypto/subtle"
	"hash/crc32"
	"io"
	"strings"

	"github.com/latchkey-go/latchkey/internal/ascii"
)

// The lengths of the parts of a key, in characters of the alphabet: 95 bits, 190 bits, and a CRC-32.
const (
	idLen       = 16
	secretLen   = 32
	checksumLen = 6
)

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// token is a parsed key: "<prefix>_<id>_<secret><checksum>".
type token struct {
	id     string
	secret string
}

// newToken returns a token with a random ID and secret.
func newToken(random io.Reader) (token, error) {
	id, err := randomText(random, idLen)
	if err != nil {
		return token{}, err
	}
	secret, err := randomText(random, secretLen)
	return token{id, secret}, err
}

// text returns the key as the client sends it.
func (t token) text(prefix string) string {
	key := prefix + "_" + t.id + "_" + t.secret
	return key + checksum(key)
}

// hash returns the SHA-256 of the secret. A slow hash is not needed for a secret of 190 bits.
func (t token) hash() [sha256.Size]byte { return sha256.Sum256([]byte(t.secret)) }

// hasHash reports, in constant time, whether the secret has this hash.
func (t token) hasHash(stored []byte) bool {
	own := t.hash()
	return subtle.ConstantTimeCompare(own[:], stored) == 1
}

// parseToken reads a key. It returns false if the key has another prefix or form, or if its checksum is wrong. The
// checksum is public: it only detects keys that were cut off or mistyped.
func parseToken(prefix, key string) (t token, ok bool) {
	rest, ok := strings.CutPrefix(key, prefix+"_")
	if !ok || len(rest) != idLen+1+secretLen+checksumLen || rest[idLen] != '_' {
		return token{}, false
	}
	if !inAlphabet(rest[:idLen]) || !inAlphabet(rest[idLen+1:]) {
		return token{}, false
	}
	body := key[:len(key)-checksumLen]
	if checksum(body) != key[len(body):] {
		return token{}, false
	}
	return token{id: rest[:idLen], secret: rest[idLen+1 : idLen+1+secretLen]}, true
}

// permitted are the characters of the alphabet.
var permitted = ascii.SetOf(ascii.IsAlnum)

// inAlphabet reports whether a text has characters of the alphabet only.
func inAlphabet(text string) bool { return permitted.Lead(text) == len(text) }

// checksum returns the CRC-32 (IEEE) of a text in six characters of the alphabet.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	var out [checksumLen]byte
	for i := checksumLen - 1; i >= 0; i-- {
		out[i] = alphabet[sum%uint32(len(alphabet))]
		sum /= uint32(len(alphabet))
	}
	return string(out[:])
}

// randomText returns n random characters of the alphabet, each with the same probability.
func randomText(random io.Reader, n int) (string, error) {
	out := make([]byte, 0, n)
	var b [1]byte
	for len(out) < n {
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return "", err
		}
		if v := b[0] & 63; int(v) < len(alphabet) { // 62 and 63 would make some characters more likely
			out = append(out, alphabet[v])
		}
	}
	return string(out), nil
}

// isPrefix reports whether a text can be Options.Prefix: letters, digits and single underscores between them.
func isPrefix(s string) bool {
	return s != "" && len(s) <= 20 && strings.Trim(s, alphabet+"_") == "" && !strings.Contains(s, "__") &&
		s[0] != '_' && s[len(s)-1] != '_'
}
