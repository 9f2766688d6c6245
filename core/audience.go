package core

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// boundTo derives from a secret the one of an audience, so that nothing which an Auth has sealed, signed or hashed is
// good for an Auth of another audience. Without an audience the secret is used as it is, as Auth.js does.
func boundTo(audience, secret string) string {
	if audience == "" {
		return secret
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("latchkey audience\x00" + audience))
	return hex.EncodeToString(mac.Sum(nil))
}

// cookieFamily begins the names of an Auth's cookies behind their prefix. Those of an audience are its own, so that
// several Auths on one host do not overwrite each other's: a browser keeps one cookie of a name.
func cookieFamily(audience string) string {
	if audience == "" {
		return "authjs."
	}
	sum := sha256.Sum256([]byte(audience))
	return "authjs." + hex.EncodeToString(sum[:4]) + "."
}
