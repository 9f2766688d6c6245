package password

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // PBKDF2 with SHA-1 is what older systems stored
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"hash"
	"regexp"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

// Func returns a Verifier that calls knows and verify, for other formats.
func Func(knows func(encoded string) bool, verify func(encoded string, password []byte) (bool, error)) Verifier {
	return verifier{knows, verify}
}

type verifier struct {
	knows  func(encoded string) bool
	verify func(encoded string, password []byte) (bool, error)
}

func (v verifier) Knows(encoded string) bool { return v.knows(encoded) }

func (v verifier) Verify(encoded string, password []byte) (bool, error) {
	return v.verify(encoded, password)
}

// maxBcrypt is the maximum cost of bcrypt hashes. Each step doubles the time, and 15 takes about two seconds.
const maxBcrypt = 15

// Bcrypt verifies $2a$, $2b$ and $2y$ hashes of Auth0, Clerk, Supabase, Rails, Laravel and others, and $bcrypt-sha256$
// hashes of passlib. As everywhere, bcrypt uses only the first 72 bytes of a password; $bcrypt-sha256$ uses all of it.
func Bcrypt() Verifier {
	return verifier{
		func(encoded string) bool { return isBcrypt(encoded) || strings.HasPrefix(encoded, "$bcrypt-sha256$") },
		func(encoded string, password []byte) (bool, error) {
			if strings.HasPrefix(encoded, "$bcrypt-sha256$") {
				return bcryptSHA256Matches(encoded, password)
			}
			return bcryptMatches(encoded, password)
		},
	}
}

// bcryptMatches compares with bcrypt, if the cost is acceptable.
func bcryptMatches(encoded string, password []byte) (bool, error) {
	cost, err := bcrypt.Cost([]byte(encoded))
	switch {
	case err != nil || !isBcrypt(encoded):
		return false, errMalformed
	case cost > maxBcrypt:
		return false, errCostly
	}
	err = bcrypt.CompareHashAndPassword([]byte(encoded), password)
	if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
		return false, nil
	}
	return err == nil, err
}

// passlibBcrypt matches $bcrypt-sha256$ hashes of passlib. Version 2 ("v=2,t=2b,r=12") keys SHA-256 with the salt,
// version 1 ("2a,12") does not.
var passlibBcrypt = regexp.MustCompile(
	`^\$bcrypt-sha256\$(?:(v=2,t=)2b,r=([0-9]{1,2})|(2[ab]),([0-9]{1,2}))\$([./A-Za-z0-9]{22})\$([./A-Za-z0-9]{31})$`)

// bcryptSHA256Matches compares with bcrypt of the base64 of the password's SHA-256.
func bcryptSHA256Matches(encoded string, password []byte) (bool, error) {
	m := passlibBcrypt.FindStringSubmatch(encoded)
	if m == nil {
		return false, errMalformed
	}
	version2, salt, cost := m[1] != "", m[5], m[2]+m[4]
	sum := sha256.New()
	if version2 {
		sum = hmac.New(sha256.New, []byte(salt))
	}
	sum.Write(password)
	if len(cost) == 1 {
		cost = "0" + cost
	}
	return bcryptMatches("$2b$"+cost+"$"+salt+m[6], []byte(base64.StdEncoding.EncodeToString(sum.Sum(nil))))
}

// Argon2i verifies $argon2i$v=19$… hashes of PHP, Laravel and passlib. Hashes of argon2id need no Verifier.
func Argon2i() Verifier {
	return verifier{func(encoded string) bool { return strings.HasPrefix(encoded, "$argon2i$") }, argon2Matches}
}

// argon2Matches compares with argon2id or argon2i, with at most ten times the default costs.
func argon2Matches(encoded string, password []byte) (bool, error) {
	variant := "argon2id"
	if strings.HasPrefix(encoded, "$argon2i$") {
		variant = "argon2i"
	}
	e, err := parseArgon2(encoded, variant)
	if err == nil {
		err = e.affordable(Params{}.withDefaults())
	}
	if err != nil {
		return false, err
	}
	return e.matches(password), nil
}

var bcryptShape = regexp.MustCompile(`^\$2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}$`)

func isBcrypt(encoded string) bool { return bcryptShape.MatchString(encoded) }

// digests are the hash functions of PBKDF2.
var digests = map[string]func() hash.Hash{
	"sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
}
