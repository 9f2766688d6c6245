package password

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"golang.org/x/crypto/scrypt"
	"golang.org/x/text/unicode/norm"
)

// Django verifies the hashes of Django: pbkdf2_sha256, pbkdf2_sha1, scrypt, bcrypt, bcrypt_sha256 and argon2, which is
// argon2id, or argon2i before Django 3.2. It rejects md5 and sha1, salted or not. Their users must choose a new
// password.
func Django() Verifier {
	return verifier{
		func(encoded string) bool {
			name, _, ok := strings.Cut(encoded, "$")
			switch name {
			case "pbkdf2_sha256", "pbkdf2_sha1", "scrypt", "bcrypt", "bcrypt_sha256", "argon2":
				return ok
			}
			return false
		},
		func(encoded string, password []byte) (bool, error) {
			name, rest, _ := strings.Cut(encoded, "$")
			switch name {
			case "bcrypt":
				return Bcrypt().Verify(rest, password)
			case "bcrypt_sha256":
				sum := sha256.Sum256(password)
				return Bcrypt().Verify(rest, []byte(hex.EncodeToString(sum[:])))
			case "argon2":
				return argon2Matches("$"+rest, password)
			case "scrypt":
				return djangoScrypt(rest, password)
			}
			parts := strings.Split(rest, "$")
			if len(parts) != 3 {
				return false, errMalformed
			}
			key, err := standard64(parts[2])
			return pbkdf2Matches(strings.TrimPrefix(name, "pbkdf2_"), parts[0], []byte(parts[1]), key, err, password)
		},
	}
}

// djangoScrypt checks "<N>$<salt>$<r>$<p>$<key>".
func djangoScrypt(encoded string, password []byte) (bool, error) {
	parts := strings.Split(encoded, "$")
	if len(parts) != 5 {
		return false, errMalformed
	}
	key, err := standard64(parts[4])
	s, err := scryptOf(parts[0], parts[2], parts[3], []byte(parts[1]), key, err)
	if err != nil {
		return false, err
	}
	return s.matches(password)
}

// FirebaseParams are the password hash parameters of a Firebase project, from the Firebase console.
type FirebaseParams struct {
	// SignerKey and SaltSeparator are in base64, as the console shows them. SaltSeparator may be empty.
	SignerKey, SaltSeparator string
	// Rounds and MemCost are required. They are usually 8 and 14.
	Rounds, MemCost int
}

// Firebase verifies "firebase$<salt>$<hash>" hashes, both in base64 as `firebase auth:export` writes them. p are the
// parameters of the project. If they are invalid, every hash is malformed.
func Firebase(p FirebaseParams) Verifier {
	return verifier{
		func(encoded string) bool { return strings.HasPrefix(encoded, "firebase$") },
		func(encoded string, password []byte) (bool, error) {
			parts := strings.Split(encoded, "$")
			if len(parts) != 3 {
				return false, errMalformed
			}
			salt, err1 := standard64(parts[1])
			want, err2 := standard64(parts[2])
			separator, err3 := standard64(p.SaltSeparator)
			signer, err4 := standard64(p.SignerKey)
			if err1 != nil || err2 != nil || err3 != nil || err4 != nil ||
				len(signer) == 0 || len(want) != len(signer) || p.MemCost < 1 || p.MemCost > 24 || p.Rounds < 1 {
				return false, errMalformed
			}
			return p.matches(password, append(salt, separator...), signer, want)
		},
	}
}

// matches derives a key with scrypt, encrypts the signer key with it (AES-256 in counter mode) and compares the result.
func (p FirebaseParams) matches(password, salt, signer, want []byte) (bool, error) {
	bound := scryptHash{n: 1 << p.MemCost, r: uint64(p.Rounds), p: 1, key: make([]byte, sha256.Size)} //nolint:gosec // > 0
	if err := bound.check(); err != nil {
		return false, err
	}
	key, err := scrypt.Key(password, salt, 1<<p.MemCost, p.Rounds, 1, sha256.Size)
	if err != nil {
		return false, errMalformed
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return false, err
	}
	got := make([]byte, len(signer))
	start := make([]byte, aes.BlockSize)
	cipher.NewCTR(block, start).XORKeyStream(got, signer) //nolint:gosec // as Firebase does; each key encrypts one text
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

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
