package password

import (
	"slices"

	"github.com/latchkey-go/latchkey/core"
)

// begun is the cookie of the browser that signed up. It contains the digests of the tokens, newest first. In this
// browser the link needs one click. In any other it asks for the password, because an attacker may have signed up with
// the victim's address and hopes that the victim opens the link.
type begun struct {
	Digests []string `json:"d"`
}

const (
	signUpCookie = "password-signup"
	// mostBegun is the number of sign-ups that a browser remembers, for example two tabs and a mistyped address.
	mostBegun = 5
)

// begin adds a sign-up to the browser's cookie. Browsers without cookies have to type the password.
func begin(c *core.Call, key string) error {
	var known begun
	c.Kept(signUpCookie, &known)
	known.Digests = append([]string{key}, known.Digests...)
	known.Digests = known.Digests[:min(len(known.Digests), mostBegun)]
	return c.Keep(signUpCookie, known, signUpFor)
}

// began reports whether this browser started one of the sign-ups with these keys.
func began(c *core.Call, keys []string) bool {
	var known begun
	if len(keys) == 0 || !c.Kept(signUpCookie, &known) {
		return false
	}
	return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(known.Digests, key) })
}

// finish removes a sign-up from the browser's cookie.
func finish(c *core.Call, key string) error {
	var known begun
	if !c.Kept(signUpCookie, &known) {
		return nil
	}
	known.Digests = slices.DeleteFunc(known.Digests, func(d string) bool { return d == key })
	if len(known.Digests) == 0 {
		c.Drop(signUpCookie)
		return nil
	}
	return c.Keep(signUpCookie, known, signUpFor)
}
