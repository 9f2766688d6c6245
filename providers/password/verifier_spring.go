package password

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
)

// Spring verifies the hashes of Spring Security's DelegatingPasswordEncoder: {bcrypt}, {pbkdf2}, {scrypt}, {argon2},
// each also with @SpringSecurity_v5_8, and {sha256}, with the parameters of their factories. It rejects {noop}, which
// is not a hash, and {MD4}, {MD5}, {SHA-1}, {SHA-256} and {ldap}, which are broken. Their users must choose a new
// password.
func Spring() Verifier {
	return verifier{
		func(encoded string) bool { _, _, ok := springHash(encoded); return ok },
		func(encoded string, password []byte) (bool, error) {
			compare, rest, ok := springHash(encoded)
			if !ok {
				return false, errMalformed
			}
			return compare(rest, password)
		},
	}
}

// springEncoders are the encoders of PasswordEncoderFactories, by name.
var springEncoders = map[string]func(encoded string, password []byte) (bool, error){
	"bcrypt": bcryptMatches,
	"argon2": argon2Matches, "argon2@SpringSecurity_v5_8": argon2Matches,
	"scrypt": springScrypt, "scrypt@SpringSecurity_v5_8": springScrypt,
	"pbkdf2":                     springPBKDF2("sha1", "185000", 8),
	"pbkdf2@SpringSecurity_v5_8": springPBKDF2("sha256", "310000", 16),
	"sha256":                     springSHA256,
}

// springHash splits {name}hash.
func springHash(encoded string) (compare func(string, []byte) (bool, error), rest string, ok bool) {
	rest, ok = strings.CutPrefix(encoded, "{")
	name, rest, closed := strings.Cut(rest, "}")
	compare, known := springEncoders[name]
	return compare, rest, ok && closed && known
}

// springPBKDF2 checks a salt and key in one text of hexadecimal digits.
func springPBKDF2(digest, rounds string, salt int) func(string, []byte) (bool, error) {
	return func(encoded string, password []byte) (bool, error) {
		raw, err := hex.DecodeString(encoded)
		if err != nil || len(raw) < salt {
			return false, errMalformed
		}
		return pbkdf2Matches(digest, rounds, raw[:salt], raw[salt:], nil, password)
	}
}

// springScrypt checks "$<costs>$<salt>$<key>". The costs are one hexadecimal number: the logarithm of N, then 8 bits
// for r and 8 bits for p.
func springScrypt(encoded string, password []byte) (bool, error) {
	parts := strings.Split(encoded, "$")
	if len(parts) != 4 || parts[0] != "" {
		return false, errMalformed
	}
	costs, err := strconv.ParseUint(parts[1], 16, 32)
	salt, err1 := base64.StdEncoding.DecodeString(parts[2])
	key, err2 := base64.StdEncoding.DecodeString(parts[3])
	if err != nil || err1 != nil || err2 != nil || costs>>16 > 40 {
		return false, errMalformed
	}
	s := scryptHash{n: 1 << (costs >> 16), r: costs >> 8 & 0xff, p: costs & 0xff, salt: salt, key: key}
	return s.matches(password)
}

// springSHA256 checks the hash of StandardPasswordEncoder: 8 bytes of salt and 1,024 rounds of SHA-256.
func springSHA256(encoded string, password []byte) (bool, error) {
	raw, err := hex.DecodeString(encoded)
	if err != nil || len(raw) != 8+sha256.Size {
		return false, errMalformed
	}
	sum := sha256.Sum256(append(raw[:8:8], password...))
	for range 1023 {
		sum = sha256.Sum256(sum[:])
	}
	return subtle.ConstantTimeCompare(sum[:], raw[8:]) == 1, nil
}
