package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// secretPrefix is the beginning of a secret for symmetric signatures.
const secretPrefix = "whsec_"

// NewSecret returns a new secret for an endpoint, with 256 random bits. The receiver of the webhooks needs it too.
func NewSecret() core.Secret {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never returns an error
	return encodeSecret(key)
}

func encodeSecret(key []byte) core.Secret {
	return core.Secret(secretPrefix + base64.StdEncoding.EncodeToString(key))
}

// secretKey returns the key of a secret, which must have 24 to 64 bytes.
func secretKey(secret core.Secret) ([]byte, bool) {
	text, ok := strings.CutPrefix(string(secret), secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	return key, ok && err == nil && len(key) >= 24 && len(key) <= 64
}

// signatures returns the value of the header webhook-signature: a signature with each secret. The signed text is the
// ID, the time and the body, separated by dots.
func signatures(secrets []core.Secret, id string, at time.Time, body []byte) string {
	all := make([]string, 0, len(secrets))
	for _, secret := range secrets {
		key, ok := secretKey(secret)
		if !ok {
			continue
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(all, " ")
}
