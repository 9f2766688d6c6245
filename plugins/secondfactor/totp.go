package secondfactor

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the hash that authenticator apps use; HMAC does not need collision resistance
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// totpKey is the secret of an authenticator app and the parameters of its codes (RFC 6238).
type totpKey struct {
	Secret []byte `json:"s"`
	// Algorithm is "SHA1", "SHA256" or "SHA512". The empty text means SHA1.
	Algorithm string `json:"a,omitempty"`
	// Digits and Period are the length of a code and its lifetime in seconds. Zero means 6 and 30.
	Digits int `json:"d,omitempty"`
	Period int `json:"p,omitempty"`
}

const (
	defaultDigits, defaultPeriod = 6, 30
	// secretBytes is the length of new secrets: that of the output of SHA-1 (RFC 4226 section 4).
	secretBytes = 20
	// tolerance is the number of time steps before and after the present one that are accepted (RFC 6238 section 5.2).
	tolerance = 1
)

func (k *totpKey) digits() int {
	if k.Digits == 0 {
		return defaultDigits
	}
	return k.Digits
}

func (k *totpKey) period() int64 {
	if k.Period == 0 {
		return defaultPeriod
	}
	return int64(k.Period)
}

// step returns the time step of a time (RFC 6238 section 4.2).
func (k *totpKey) step(at time.Time) int64 { return at.Unix() / k.period() }

// code returns the code of a time step (RFC 4226 section 5.3).
func (k *totpKey) code(step int64) string {
	var newHash func() hash.Hash
	switch k.Algorithm {
	case "SHA256":
		newHash = sha256.New
	case "SHA512":
		newHash = sha512.New
	default:
		newHash = sha1.New
	}
	mac := hmac.New(newHash, k.Secret)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(step))) //nolint:gosec // times after 1970
	sum := mac.Sum(nil)
	number := binary.BigEndian.Uint32(sum[sum[len(sum)-1]&0xf:]) & 0x7fffffff
	modulus := uint32(1)
	for range k.digits() {
		modulus *= 10
	}
	return fmt.Sprintf("%0*d", k.digits(), number%modulus)
}

// match returns the accepted time step that a code belongs to. All accepted steps are compared, in constant time. A
// step after used is preferred: by chance, two steps may have the same code. ok is false if the code belongs to none.
func (k *totpKey) match(code string, now time.Time, used int64) (step int64, ok bool) {
	present := k.step(now)
	for s := present - tolerance; s <= present+tolerance; s++ {
		if subtle.ConstantTimeCompare([]byte(k.code(s)), []byte(code)) == 1 && (!ok || step <= used) {
			step, ok = s, true
		}
	}
	return step, ok
}

var base32Secret = base32.StdEncoding.WithPadding(base32.NoPadding)

// text returns the secret as users type it: base32 in groups of four characters.
func (k *totpKey) text() string {
	text := base32Secret.EncodeToString(k.Secret)
	var groups []string
	for len(text) > 4 {
		groups, text = append(groups, text[:4]), text[4:]
	}
	return strings.Join(append(groups, text), " ")
}

// uri returns the otpauth URI of the key, which the QR code contains. Parameters with default values are omitted,
// because some apps reject them.
func (k *totpKey) uri(issuer, account string) string {
	query := url.Values{"secret": {base32Secret.EncodeToString(k.Secret)}, "issuer": {issuer}}
	if k.Algorithm != "" && k.Algorithm != "SHA1" {
		query.Set("algorithm", k.Algorithm)
	}
	if k.digits() != defaultDigits {
		query.Set("digits", strconv.Itoa(k.digits()))
	}
	if k.period() != defaultPeriod {
		query.Set("period", strconv.FormatInt(k.period(), 10))
	}
	label := url.PathEscape(strings.ReplaceAll(issuer, ":", " ")) + ":" + url.PathEscape(account)
	return "otpauth://totp/" + label + "?" + strings.ReplaceAll(query.Encode(), "+", "%20")
}

// parseURI reads an otpauth URI of type totp, in which other systems export secrets. label is the account's name in
// it.
func parseURI(text string) (k totpKey, label string, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "otpauth" || u.Host != "totp" { // the error would contain the secret
		return k, "", errors.New("secondfactor: not an otpauth://totp/ URI")
	}
	query := u.Query()
	secret := strings.ToUpper(strings.ReplaceAll(strings.TrimRight(query.Get("secret"), "="), " ", ""))
	if k.Secret, err = base32Secret.DecodeString(secret); err != nil || len(k.Secret) < 10 {
		return k, "", errors.New("secondfactor: the secret of an otpauth URI is not base32, or has less than 80 bits")
	}
	switch a := strings.ToUpper(query.Get("algorithm")); a {
	case "", "SHA1":
	case "SHA256", "SHA512":
		k.Algorithm = a
	default:
		return k, "", errors.New("secondfactor: the algorithm of an otpauth URI is not SHA1, SHA256 or SHA512")
	}
	for _, number := range []struct {
		name           string
		to             *int
		lowest, most   int
		impliedByEmpty int
	}{{"digits", &k.Digits, 6, 8, defaultDigits}, {"period", &k.Period, 15, 120, defaultPeriod}} {
		text := query.Get(number.name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < number.lowest || n > number.most {
			return k, "", fmt.Errorf("secondfactor: %s of an otpauth URI must be between %d and %d", number.name,
				number.lowest, number.most)
		}
		if n != number.impliedByEmpty {
			*number.to = n
		}
	}
	_, label, found := strings.Cut(strings.TrimPrefix(u.Path, "/"), ":")
	if !found {
		label = strings.TrimPrefix(u.Path, "/")
	}
	return k, strings.TrimSpace(label), nil
}
