// Package purposekey encrypts values and computes message authentication codes, with a separate key for each purpose.
package purposekey

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/jwe"
	"github.com/latchkey-go/latchkey/internal/random"
)

// Keys derives the keys from secrets. It is safe for concurrent use.
type Keys struct {
	// Secrets are the secrets, the newest first. It encrypts; all decrypt.
	Secrets []string
	// Rand is the source of randomness, and Now is the clock.
	Rand io.Reader
	Now  func() time.Time

	keyrings sync.Map // from purpose to *jwe.Keyring
}

var (
	errExpired = errors.New("core: open: the value has expired")
	errType    = errors.New("core: open: the value does not fit the type of v")
)

func (k *Keys) keyring(purpose string) (*jwe.Keyring, error) {
	if keys, ok := k.keyrings.Load(purpose); ok {
		return keys.(*jwe.Keyring), nil
	}
	keys, err := jwe.NewKeyring(k.Secrets, "latchkey "+purpose)
	if err != nil {
		return nil, fmt.Errorf("core: keys of a plugin: %w", err)
	}
	k.keyrings.Store(purpose, keys)
	return keys, nil
}

// Encrypt encrypts v as JSON until expires, which is rounded down to the second. The zero time means no expiry.
func (k *Keys) Encrypt(purpose string, v any, expires time.Time) (string, error) {
	keys, err := k.keyring(purpose)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("core: seal: %w", err)
	}
	payload := append(exactjson.AppendName([]byte{'{'}, "v"), text...)
	if !expires.IsZero() {
		payload = strconv.AppendInt(exactjson.AppendName(payload, "exp"), expires.Unix(), 10)
	}
	var iv jwe.IV
	if err := random.Fill(k.Rand, iv[:]); err != nil {
		return "", err
	}
	return keys.Seal(iv, append(payload, '}'))
}

// Decrypt decrypts a result of Encrypt for the same purpose into v, a pointer. The error does not reveal the content.
func (k *Keys) Decrypt(purpose, text string, v any) error {
	keys, err := k.keyring(purpose)
	if err != nil {
		return err
	}
	payload, err := keys.Open(text)
	if err != nil {
		return fmt.Errorf("core: open: %w", err)
	}
	var value []byte
	expired := false
	err = exactjson.Object([]byte(payload), func(name string, raw []byte) error {
		switch name {
		case "v":
			value = raw
		case "exp":
			at, ok := exactjson.Int64(raw)
			expired = !ok || !time.Unix(at, 0).After(k.Now())
		}
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("core: open: %w", err)
	case expired:
		return errExpired
	case value == nil || json.Unmarshal(value, v) != nil:
		return errType
	}
	return nil
}

// Digest returns a message authentication code of text (HMAC-SHA-256, RFC 2104) in base64url.
func Digest(secret, purpose, text string) string {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "latchkey digest "+purpose, sha256.Size)
	if err != nil { // only if the length is invalid, or a FIPS module rejects the secret
		panic(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Digests returns the digests of text under all secrets, in their order.
func Digests(secrets []string, purpose, text string) []string {
	all := make([]string, len(secrets))
	for i, secret := range secrets {
		all[i] = Digest(secret, purpose, text)
	}
	return all
}
