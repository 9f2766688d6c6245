package password

import (
	"bytes"
	"encoding/hex"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Lucia verifies the hashes of Lucia and Oslo: "s2:<salt>:<key>" of Lucia 2, "<salt>:<key>" of Lucia 1 and Oslo
// (scrypt), and argon2id and bcrypt of Oslo. They hash the password in NFKC. List it before [Bcrypt], which does not
// normalize.
func Lucia() Verifier {
	return verifier{isLucia, func(encoded string, password []byte) (bool, error) {
		normal := norm.NFKC.Bytes(password)
		switch {
		case strings.HasPrefix(encoded, "$argon2id$"):
			// The caller has already compared such a hash with the password as typed.
			if bytes.Equal(normal, password) {
				return false, nil
			}
			return argon2Matches(encoded, normal)
		case isBcrypt(encoded):
			return bcryptMatches(encoded, normal)
		}
		salt, key, blocks, ok := luciaScrypt(encoded)
		if !ok {
			return false, errMalformed
		}
		s := scryptHash{n: 16384, r: blocks, p: 1, salt: []byte(salt), key: key}
		return s.matches(normal)
	}}
}

func isLucia(encoded string) bool {
	_, _, _, ok := luciaScrypt(encoded)
	return ok || isBcrypt(encoded) || strings.HasPrefix(encoded, "$argon2id$")
}

// luciaScrypt parses a scrypt hash. Lucia 1 used a block size of 8 and salts that are not hexadecimal.
func luciaScrypt(encoded string) (salt string, key []byte, blocks uint64, ok bool) {
	rest, second := strings.CutPrefix(encoded, "s2:")
	salt, text, found := strings.Cut(rest, ":")
	key, err := hex.DecodeString(text)
	blocks = 16
	if !second && (len(salt) != 32 || !isHex(salt)) {
		blocks = 8
	}
	return salt, key, blocks, found && err == nil && len(key) == 64 && isAlnum(salt)
}

// isAlnum reports whether a salt is one of Lucia: 16 to 32 lower-case letters and digits.
func isAlnum(text string) bool {
	return len(text) >= 16 && len(text) <= 32 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}
