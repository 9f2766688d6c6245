// Package recoverycode makes recovery codes, and compares them with their hashes.
package recoverycode

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"strings"
)

const (
	// Count is the number of codes in a set.
	Count = 10
	// Low is the largest number of remaining codes that makes the pages ask for new ones.
	Low = 2
	// Length is the length of a code without hyphens. The first character is the number of the code, and each of the
	// others has 5 bits: 75 bits together.
	Length     = 16
	saltLength = 16
	keyLength  = 32
)

// Rounds are the PBKDF2 iterations for a code of [New]. A code has less than 112 bits, so its hash must be salted and
// slow (OWASP ASVS 5.0, 6.5.2); the 75 bits make more iterations unnecessary. It is a variable for programs that test
// second factors with hundreds of users: they lower it before the first test.
var Rounds = 10_000

// alphabet is Crockford's base32, without I, L, O and U.
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// Hash is a salted hash of a code.
type Hash struct {
	Rounds int    `json:"n"`
	Salt   []byte `json:"s"`
	Hash   []byte `json:"h"`
}

// New returns a code without hyphens. number is less than Count.
func New(random io.Reader, number int) (string, error) {
	var bytes [Length - 1]byte
	if _, err := io.ReadFull(random, bytes[:]); err != nil {
		return "", fmt.Errorf("random bytes: %w", err)
	}
	code := []byte{alphabet[number]}
	for _, b := range bytes {
		code = append(code, alphabet[b%32])
	}
	return string(code), nil
}

// Format returns a code of New in the form that users see, with hyphens.
func Format(code string) string {
	return code[:4] + "-" + code[4:8] + "-" + code[8:12] + "-" + code[12:]
}

// Clean returns a typed code without separators. The characters I, L and O are replaced by the digits that they look
// like.
func Clean(typed string) string {
	return strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(typed))
}

// Number returns the number of a code of New. It is -1 if the text cannot be one.
func Number(code string) int {
	if len(code) != Length {
		return -1
	}
	return strings.IndexByte(alphabet[:Count], code[0])
}

// NewHash returns a Hash with a random salt, without the hash of a code.
func NewHash(random io.Reader, rounds int) (Hash, error) {
	h := Hash{Rounds: rounds, Salt: make([]byte, saltLength)}
	if _, err := io.ReadFull(random, h.Salt); err != nil {
		return Hash{}, fmt.Errorf("random bytes: %w", err)
	}
	return h, nil
}

// Compute returns the hash of a code with the salt of h.
func (h *Hash) Compute(code string) ([]byte, error) {
	return pbkdf2.Key(sha256.New, code, h.Salt, h.Rounds, keyLength)
}

// Matches compares a result of Compute with the hash, in constant time.
func (h *Hash) Matches(sum []byte) bool { return subtle.ConstantTimeCompare(sum, h.Hash) == 1 }
