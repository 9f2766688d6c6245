// Package accountcookie has the format of the cookies with the sessions of further accounts in one browser: a code, the
// user ID in base64url and the session token, separated by dots. The code is a message authentication code that
// includes an identifier of the browser. A sibling subdomain can plant cookies of these names, but not with a valid
// code.
package accountcookie

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/internal/purposekey"
	"github.com/latchkey-go/latchkey/internal/random"
)

const (
	codeLen = 22 // characters of base64url: 132 bits
	refLen  = 16
)

// Keys are the secrets of an application, the newest first.
type Keys []string

func code(secret, browser, payload string) string {
	return purposekey.Digest(secret, "kept session", browser+"\x00"+payload)[:codeLen]
}

// Ref returns the reference of an account in forms and in JSON. It differs between browsers and is no secret.
func (k Keys) Ref(browser, userID string) string {
	return purposekey.Digest(k[0], "kept account", browser+"\x00"+userID)[:refLen]
}

// Pack returns the value of the cookie with a session token.
func (k Keys) Pack(browser, userID, token string) string {
	payload := base64.RawURLEncoding.EncodeToString([]byte(userID)) + "." + token
	return code(k[0], browser, payload) + "." + payload
}

// Unpack reads the value of a cookie. It returns false if the value was made for another browser, or without a secret
// of the application.
func (k Keys) Unpack(browser, value string) (userID, token string, ok bool) {
	sent, payload, _ := strings.Cut(value, ".")
	if browser == "" || !slices.ContainsFunc(k, func(secret string) bool {
		return random.Same(sent, code(secret, browser, payload))
	}) {
		return "", "", false
	}
	encoded, token, _ := strings.Cut(payload, ".")
	id, err := base64.RawURLEncoding.DecodeString(encoded)
	return string(id), token, err == nil && len(id) > 0 && token != ""
}
