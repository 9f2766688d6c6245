package password

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"

	"golang.org/x/crypto/scrypt"
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
