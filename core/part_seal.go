package core

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

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/jwe"
)

// partSeals seals for parts, with keys for each purpose.
type partSeals struct {
	secrets  []string
	rand     io.Reader
	now      func() time.Time
	keyrings sync.Map // of *jwe.Keyring by purpose
}

func (s *partSeals) keys(purpose string) (*jwe.Keyring, error) {
	if keys, ok := s.keyrings.Load(purpose); ok {
		return keys.(*jwe.Keyring), nil
	}
	keys, err := jwe.NewKeyring(s.secrets, "latchkey "+purpose)
	if err != nil {
		return nil, fmt.Errorf("core: keys of a part: %w", err)
	}
	s.keyrings.Store(purpose, keys)
	return keys, nil
}

// Seal encrypts v as JSON, so that [Host.Open] with the same purpose reads it until expires, to the second; zero: for
// ever. The key is derived from Config.Secrets for the purpose, a text of the part's own such as "totp secret", and for
// Config.Audience; the newest secret seals and all open. The result is ASCII of about 200 bytes more than 4/3 of the
// JSON, and fits into a URL, a cookie or a record. Who holds it can present it as often as they like.
func (h *Host) Seal(purpose string, v any, expires time.Time) (string, error) {
	return h.parts.seals.seal(purpose, v, expires)
}

// Open reads into v, a pointer, what Seal has sealed for the purpose. The error says nothing of what is in it: it was
// made for something else, with a secret that is gone, or has expired.
func (h *Host) Open(purpose, sealed string, v any) error {
	return h.parts.seals.open(purpose, sealed, v)
}

func (s *partSeals) seal(purpose string, v any, expires time.Time) (string, error) {
	keys, err := s.keys(purpose)
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
	if err := fillRandom(s.rand, iv[:]); err != nil {
		return "", err
	}
	sealed, err := keys.Seal(iv, append(payload, '}'))
	if err != nil {
		return "", errorf(ErrAuth, "%w", err)
	}
	return sealed, nil
}

func (s *partSeals) open(purpose, sealed string, v any) error {
	keys, err := s.keys(purpose)
	if err != nil {
		return err
	}
	payload, err := keys.Open(sealed)
	if err != nil {
		return fmt.Errorf("core: open: %w", err)
	}
	var t Token
	if err := t.readClaims(payload, false); err != nil {
		return fmt.Errorf("core: open: %w", err)
	}
	if !t.Expires.IsZero() && !t.Expires.After(s.now()) {
		return errExpired
	}
	if raw, ok := t.Extra["v"]; !ok || json.Unmarshal(raw, v) != nil {
		return errors.New("core: open: the value is not of this shape")
	}
	return nil
}

// Digest is an authentication code over a text (HMAC-SHA-256, RFC 2104), in base64url, with a key derived from the
// newest of Config.Secrets for the purpose: the key of a record that is to tell a reader of the store nothing, for
// example. [Host.Digests] finds it again when the secrets have been rotated.
func (h *Host) Digest(purpose, text string) string {
	return digest(h.parts.seals.secrets[0], purpose, text)
}

// Digests are the digests of a text by all of Config.Secrets, that of the newest first.
func (h *Host) Digests(purpose, text string) []string {
	all := make([]string, len(h.parts.seals.secrets))
	for i, secret := range h.parts.seals.secrets {
		all[i] = digest(secret, purpose, text)
	}
	return all
}

func digest(secret, purpose, text string) string {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "latchkey digest "+purpose, sha256.Size)
	if err != nil { // only a length that SHA-256 cannot give, and a FIPS module that refuses the secret
		panic(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
