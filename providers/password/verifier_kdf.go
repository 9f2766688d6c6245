package password

import (
	"crypto/pbkdf2"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"math/bits"
	"strconv"
	"strings"

	"golang.org/x/crypto/scrypt"
	"golang.org/x/text/unicode/norm"
)

const (
	// maxIterations is the maximum number of PBKDF2 iterations. Django's next default is 1.5 million; five million take
	// seconds.
	maxIterations = 5_000_000
	// maxScrypt is the maximum memory of scrypt in bytes: ten times that of the default Params.
	maxScrypt = maxCostFactor * 19456 << 10
	// maxScryptWork is the maximum of N·r·p: four times the maximum for memory alone.
	maxScryptWork = maxScrypt / 128 * 4
	maxKey        = 128
)

// Scrypt verifies "$scrypt$ln=16,r=8,p=1$<salt>$<key>" hashes of passlib, and "scrypt:32768:8:1$<salt>$<hex>" hashes of
// Werkzeug (Flask).
func Scrypt() Verifier {
	return verifier{
		func(encoded string) bool {
			return strings.HasPrefix(encoded, "$scrypt$") || strings.HasPrefix(encoded, "scrypt:")
		},
		func(encoded string, password []byte) (bool, error) {
			s, err := parseScrypt(encoded)
			if err != nil {
				return false, err
			}
			return s.matches(password)
		},
	}
}

// scryptHash is a parsed scrypt hash (RFC 7914).
type scryptHash struct {
	n, r, p   uint64
	salt, key []byte
}

func (s *scryptHash) matches(password []byte) (bool, error) {
	if err := s.check(); err != nil {
		return false, err
	}
	key, err := scrypt.Key(password, s.salt, int(s.n), int(s.r), int(s.p), len(s.key)) //nolint:gosec // check bounds them
	if err != nil {
		return false, errMalformed
	}
	return subtle.ConstantTimeCompare(key, s.key) == 1, nil
}

func (s *scryptHash) check() error {
	const most = 1 << 24 // no product below can overflow
	switch {
	case s.n < 2 || s.r < 1 || s.p < 1 || bits.OnesCount64(s.n) != 1 || len(s.key) < 16 || len(s.key) > maxKey:
		return errMalformed
	case s.n > most || s.r > 1<<10 || s.p > 1<<10 || 128*s.n*s.r > maxScrypt || s.n*s.r*s.p > maxScryptWork:
		return errCostly
	}
	return nil
}

func parseScrypt(encoded string) (*scryptHash, error) {
	if rest, ok := strings.CutPrefix(encoded, "scrypt:"); ok { // Werkzeug
		parts := strings.Split(rest, "$")
		if len(parts) != 3 {
			return nil, errMalformed
		}
		costs := strings.Split(parts[0], ":")
		if len(costs) != 3 {
			return nil, errMalformed
		}
		key, err := hex.DecodeString(parts[2])
		return scryptOf(costs[0], costs[1], costs[2], []byte(parts[1]), key, err)
	}
	parts := strings.Split(encoded, "$")
	if len(parts) != 5 {
		return nil, errMalformed
	}
	costs := strings.Split(parts[2], ",")
	if len(costs) != 3 {
		return nil, errMalformed
	}
	log, ok1 := number(costs[0], "ln=", 6)
	r, ok2 := strings.CutPrefix(costs[1], "r=")
	p, ok3 := strings.CutPrefix(costs[2], "p=")
	salt, err1 := adapted64(parts[3])
	key, err2 := adapted64(parts[4])
	if !ok1 || !ok2 || !ok3 || err1 != nil || log > 40 {
		return nil, errMalformed
	}
	return scryptOf(strconv.FormatUint(1<<log, 10), r, p, salt, key, err2)
}

func scryptOf(n, r, p string, salt, key []byte, err error) (*scryptHash, error) {
	s := &scryptHash{salt: salt, key: key}
	var ok [3]bool
	s.n, ok[0] = number(n, "", 63)
	s.r, ok[1] = number(r, "", 32)
	s.p, ok[2] = number(p, "", 32)
	if err != nil || ok != [3]bool{true, true, true} {
		return nil, errMalformed
	}
	return s, nil
}

// PBKDF2 verifies "$pbkdf2-sha256$<rounds>$<salt>$<key>" hashes of passlib, with SHA-256, SHA-512 or (if no digest is
// named) SHA-1, and "pbkdf2:sha256:600000$<salt>$<hex>" hashes of Werkzeug (Flask).
func PBKDF2() Verifier {
	return verifier{
		func(encoded string) bool {
			return strings.HasPrefix(encoded, "$pbkdf2$") || strings.HasPrefix(encoded, "$pbkdf2-sha") ||
				strings.HasPrefix(encoded, "pbkdf2:")
		},
		func(encoded string, password []byte) (bool, error) {
			parts := strings.Split(strings.TrimPrefix(encoded, "$"), "$")
			if rest, ok := strings.CutPrefix(encoded, "pbkdf2:"); ok { // Werkzeug
				parts = strings.Split(rest, "$")
				digest, rounds, found := strings.Cut(parts[0], ":")
				if len(parts) != 3 || !found {
					return false, errMalformed
				}
				key, err := hex.DecodeString(parts[2])
				return pbkdf2Matches(digest, rounds, []byte(parts[1]), key, err, password)
			}
			if len(parts) != 4 {
				return false, errMalformed
			}
			digest := "sha1"
			if parts[0] != "pbkdf2" {
				digest = strings.TrimPrefix(parts[0], "pbkdf2-")
			}
			salt, err := adapted64(parts[2])
			if err != nil {
				return false, errMalformed
			}
			key, err := adapted64(parts[3])
			return pbkdf2Matches(digest, parts[1], salt, key, err, password)
		},
	}
}

// pbkdf2Matches compares with PBKDF2 (RFC 8018 section 5.2). err is the error of decoding key.
func pbkdf2Matches(digest, rounds string, salt, key []byte, err error, password []byte) (bool, error) {
	function := digests[digest]
	n, ok := number(rounds, "", 32)
	if err != nil || function == nil || !ok || len(key) < 16 || len(key) > maxKey {
		return false, errMalformed
	}
	if n > maxIterations {
		return false, errCostly
	}
	got, err := pbkdf2.Key(function, string(password), salt, int(n), len(key))
	if err != nil {
		return false, errMalformed
	}
	return subtle.ConstantTimeCompare(got, key) == 1, nil
}

// BetterAuth verifies "<salt>:<key>" hashes of better-auth, in hexadecimal: scrypt with N=16,384, r=16, p=1 of the
// password in NFKC.
func BetterAuth() Verifier {
	return verifier{
		func(encoded string) bool {
			salt, key, ok := strings.Cut(encoded, ":")
			return ok && len(salt) == 32 && len(key) == 128 && isHex(salt) && isHex(key)
		},
		func(encoded string, password []byte) (bool, error) {
			salt, text, _ := strings.Cut(encoded, ":")
			key, err := hex.DecodeString(text)
			if err != nil {
				return false, errMalformed
			}
			s := scryptHash{n: 16384, r: 16, p: 1, salt: []byte(salt), key: key}
			return s.matches(norm.NFKC.Bytes(password))
		},
	}
}

func isHex(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) })
}

// standard64 decodes base64 with or without padding.
func standard64(text string) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
}
