package password

import (
	"slices"

	"github.com/latchkey-go/latchkey/core"
)

// begun is the cookie of the browser that signs up: digests of the tokens, the newest first. In it the link finishes
// with one click; in any other it asks for the password, as a stranger may have signed somebody else up in the hope
// that they press the link.
type begun struct {
	Digests []string `json:"d"`
}

const (
	signUpCookie = "password-signup"
	// mostBegun is how many sign-ups a browser remembers: two tabs, a mistyped address.
	mostBegun = 5
)

// begin has the browser remember the sign-up of a key. One without cookies is asked for the password.
func begin(c *core.Call, key string) error {
	var known begun
	c.Kept(signUpCookie, &known)
	known.Digests = append([]string{key}, known.Digests...)
	known.Digests = known.Digests[:min(len(known.Digests), mostBegun)]
	return c.Keep(signUpCookie, known, signUpFor)
}

// began reports whether the visitor's browser is the one that signed up, with a token of these keys.
func began(c *core.Call, keys []string) bool {
	var known begun
	if len(keys) == 0 || !c.Kept(signUpCookie, &known) {
		return false
	}
	return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(known.Digests, key) })
}

// finish has the browser forget a sign-up that is finished.
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
