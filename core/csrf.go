package core

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"io"
	"strings"
)

// hashed returns the lower-case hex SHA-256 of value followed by secret: what guards CSRF cookies and sign-in links (WIRE 5, 9).
func hashed(value, secret string) string {
	sum := sha256.Sum256([]byte(value + secret))
	return hex.EncodeToString(sum[:])
}

// hashes lists the hashes of value that count: one per secret, and the one over all secrets joined with commas, which the
// reference makes of a list.
func hashes(value string, secrets []string) []string {
	var all []string
	for _, s := range secrets {
		all = append(all, hashed(value, s))
	}
	if len(secrets) > 1 {
		all = append(all, hashed(value, strings.Join(secrets, ",")))
	}
	return all
}

const csrfTokenLen = 64 // hex digits

// checkCSRF settles the CSRF token of the request: the one of a cookie that verifies, else a fresh one with its cookie. The
// token is verified when a POST repeats it in its body (WIRE 5) and no browser says that the POST came from another site.
func (x *exchange) checkCSRF() error {
	if x.skipCSRF {
		x.csrfVerified = true
		return nil
	}
	if value, ok := x.jar.Get(x.cookies.csrf.name()); ok {
		if token, hash, ok := strings.Cut(value, "|"); ok && len(token) == csrfTokenLen && x.csrfHashOK(token, hash) {
			x.csrfToken = token
			sent, _ := x.fields.Text("csrfToken")
			x.csrfVerified = x.r.Method == "POST" && subtle.ConstantTimeCompare([]byte(sent), []byte(token)) == 1 &&
				x.header("Sec-Fetch-Site") != "cross-site"
			return nil
		}
	}
	token, err := x.randomHex(32)
	if err != nil {
		return err
	}
	x.csrfToken = token
	x.opening = append(x.opening, x.cookies.csrf.set(token+"|"+hashed(token, x.secrets[0])))
	return nil
}

// csrfHashOK compares the hash with that of each secret, in constant time and without allocating for the first.
func (x *exchange) csrfHashOK(token, hash string) bool {
	if len(hash) != 2*sha256.Size {
		return false
	}
	var buf [256]byte
	var digits [2 * sha256.Size]byte
	for _, secret := range x.secrets {
		sum := sha256.Sum256(append(append(buf[:0], token...), secret...))
		hex.Encode(digits[:], sum[:])
		if subtle.ConstantTimeCompare(digits[:], []byte(hash)) == 1 {
			return true
		}
	}
	return len(x.secrets) > 1 && subtle.ConstantTimeCompare([]byte(hashed(token, strings.Join(x.secrets, ","))), []byte(hash)) == 1
}

// header returns the first value of a header under its canonical name.
func (x *exchange) header(name string) string {
	if v := x.r.Header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// random returns n bytes of the configured source. A source that fails is an error, never a guessable value.
func (a *Auth) random(n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(a.rand, b); err != nil {
		return nil, errorf(AuthError, "random source: %w", err)
	}
	return b, nil
}

func (a *Auth) randomHex(n int) (string, error) {
	b, err := a.random(n)
	return hex.EncodeToString(b), err
}

// uuid returns a random UUID (RFC 9562 version 4).
func (a *Auth) uuid() (string, error) { return uuid(a.rand) }

func uuid(source io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(source, b[:]); err != nil {
		return "", errorf(AuthError, "random source: %w", err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	var s [36]byte
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:]), nil
}
