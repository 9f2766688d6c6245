package password

import (
	"slices"

	"github.com/latchkey-go/latchkey/core"
)

// startedSignUps is the cookie of the browser that signed up. It contains the digests of the tokens, newest first. In
// this browser the link needs one click. In any other it asks for the password, because an attacker may have signed up
// with the victim's address and hopes that the victim opens the link.
type startedSignUps struct {
	Digests []string `json:"d"`
}

const (
	signUpCookie = "password-signup"
	// maxSignUps is the number of sign-ups that a browser remembers, for example two tabs and a mistyped address.
	maxSignUps = 5
)

// rememberSignUp adds a sign-up to the browser's cookie. Browsers without cookies have to type the password.
func rememberSignUp(c *core.ActionRequest, key string) error {
	var known startedSignUps
	c.EncryptedCookie(signUpCookie, &known)
	known.Digests = append([]string{key}, known.Digests...)
	known.Digests = known.Digests[:min(len(known.Digests), maxSignUps)]
	return c.SetEncryptedCookie(signUpCookie, known, signUpTTL)
}

// startedSignUp reports whether this browser started one of the sign-ups with these keys.
func startedSignUp(c *core.ActionRequest, keys []string) bool {
	var known startedSignUps
	if len(keys) == 0 || !c.EncryptedCookie(signUpCookie, &known) {
		return false
	}
	return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(known.Digests, key) })
}

// forgetSignUp removes a sign-up from the browser's cookie.
func forgetSignUp(c *core.ActionRequest, key string) error {
	var known startedSignUps
	if !c.EncryptedCookie(signUpCookie, &known) {
		return nil
	}
	known.Digests = slices.DeleteFunc(known.Digests, func(d string) bool { return d == key })
	if len(known.Digests) == 0 {
		c.DeleteEncryptedCookie(signUpCookie)
		return nil
	}
	return c.SetEncryptedCookie(signUpCookie, known, signUpTTL)
}
