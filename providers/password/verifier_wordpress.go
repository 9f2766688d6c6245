package password

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // stored by WordPress before 6.8 and phpBB, with salt and thousands of rounds
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"regexp"
	"strings"
)

// maxPhpass is the maximum exponent of phpass rounds. 2^18 rounds take about 50 ms; WordPress uses 2^13.
const maxPhpass = 18

// WordPress verifies $wp$2y$… hashes of WordPress 6.8 and later, which are bcrypt of an HMAC of the password, and $P$…
// and $H$… hashes (phpass) of earlier versions and phpBB. Add [Bcrypt] for $2y$… hashes of plugins. As in WordPress,
// leading and trailing spaces of a password are ignored.
func WordPress() Verifier {
	return verifier{
		func(encoded string) bool {
			return strings.HasPrefix(encoded, "$wp$2y$") || phpassShape.MatchString(encoded)
		},
		func(encoded string, password []byte) (bool, error) {
			password = bytes.Trim(password, " \t\n\r\x00\x0b")
			rest, ok := strings.CutPrefix(encoded, "$wp")
			if !ok {
				return phpassMatches(encoded, password)
			}
			mac := hmac.New(sha512.New384, []byte("wp-sha384"))
			mac.Write(password)
			return bcryptMatches(rest, []byte(base64.StdEncoding.EncodeToString(mac.Sum(nil))))
		},
	}
}

// phpassShape matches $P$, the exponent of the rounds, eight characters of salt, and the hash.
var phpassShape = regexp.MustCompile(`^\$[PH]\$[./0-9A-Za-z]{31}$`)

// itoa64 are the digits of phpass, least significant bits first.
const itoa64 = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// phpassMatches computes the portable hash of phpass: MD5 of salt and password, then of each sum and the password.
func phpassMatches(encoded string, password []byte) (bool, error) {
	if !phpassShape.MatchString(encoded) {
		return false, errMalformed
	}
	exponent := strings.IndexByte(itoa64, encoded[3])
	switch {
	case exponent < 7: // phpass rejects it too
		return false, errMalformed
	case exponent > maxPhpass:
		return false, errCostly
	}
	sum := md5.Sum(append([]byte(encoded[4:12]), password...)) //nolint:gosec // see the import
	next := make([]byte, 0, len(sum)+len(password))
	for range 1 << exponent {
		sum = md5.Sum(append(append(next[:0], sum[:]...), password...)) //nolint:gosec // see the import
	}
	return subtle.ConstantTimeCompare([]byte(phpass64(sum[:])), []byte(encoded[12:])) == 1, nil
}

// Drupal verifies $S$… hashes of Drupal 7 to 10.0: SHA-512 in the manner of phpass. Add [Bcrypt] for $2y$… hashes of
// Drupal 10.1 and later. Hashes of Drupal 6 that Drupal 7 has converted (U$S$…) contain unsalted MD5 and are rejected.
// Their users must choose a new password.
func Drupal() Verifier {
	return verifier{drupalShape.MatchString, drupalMatches}
}

// drupalShape matches $S$, the exponent of the rounds, eight characters of salt, and the first 43 characters of the
// hash.
var drupalShape = regexp.MustCompile(`^\$S\$[./0-9A-Za-z]{52}$`)

const (
	// minDrupal and maxDrupal are the exponents of the rounds of SHA-512. Drupal uses 2^15 and 2^16. 2^18 rounds take
	// about 200 ms.
	minDrupal = 7
	maxDrupal = 18
	// maxDrupalPassword is the maximum length of a password in Drupal, in bytes.
	maxDrupalPassword = 512
)

// drupalMatches computes SHA-512 of salt and password, then of each sum and the password.
func drupalMatches(encoded string, password []byte) (bool, error) {
	if !drupalShape.MatchString(encoded) {
		return false, errMalformed
	}
	exponent := strings.IndexByte(itoa64, encoded[3])
	switch {
	case exponent < minDrupal:
		return false, errMalformed
	case exponent > maxDrupal:
		return false, errCostly
	case len(password) > maxDrupalPassword:
		return false, nil
	}
	sum := sha512.Sum512(append([]byte(encoded[4:12]), password...))
	next := make([]byte, 0, len(sum)+len(password))
	for range 1 << exponent {
		sum = sha512.Sum512(append(append(next[:0], sum[:]...), password...))
	}
	want := encoded[12:]
	return subtle.ConstantTimeCompare([]byte(phpass64(sum[:])[:len(want)]), []byte(want)) == 1, nil
}

// phpass64 encodes in the base64 of phpass.
func phpass64(sum []byte) string {
	var out strings.Builder
	for i := 0; i < len(sum); i += 3 {
		var bits uint
		for j, b := range sum[i:min(i+3, len(sum))] {
			bits |= uint(b) << (8 * j)
		}
		for n := range min(len(sum)-i, 3) + 1 {
			out.WriteByte(itoa64[bits>>(6*n)&63])
		}
	}
	return out.String()
}
