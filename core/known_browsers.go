package core

import (
	"context"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/plugincookies"
	"github.com/latchkey-go/latchkey/internal/knownbrowser"
	"github.com/latchkey-go/latchkey/internal/purposekey"
)

// An attacker whose attempts use up the limit of a name could lock out its owner. Therefore a cookie identifies a
// browser in which the owner has signed in before, by any method. Attempts of this browser are counted separately:
// attackers cannot make it wait, and it gets no more guesses than they have. An attacker who steals the cookie gets the
// use of that separate count and nothing else.

// knownFor is the lifetime of the cookie.
const knownFor = 180 * 24 * time.Hour

// knownPurpose is the purpose that the cookie's encryption key is derived for.
const knownPurpose = "known browser"

// knownBrowsers reads and writes the cookie. It is nil if known browsers are off.
type knownBrowsers struct {
	seals *purposekey.Keys
	now   func() time.Time
}

func (k *knownBrowsers) read(c *call) (b knownbrowser.Browser) {
	spec := c.cookies.Plugin(plugincookies.Known)
	value, there := c.jar.Get(spec.Name())
	if !there || k.seals.Decrypt(knownPurpose, value, &b) != nil {
		return knownbrowser.Browser{}
	}
	return b
}

// of returns the ID of a browser that is known for a name, and "" for other browsers.
func (k *knownBrowsers) of(c *call, name string) string {
	if k == nil || name == "" {
		return ""
	}
	if b := k.read(c); b.Knows(name) {
		return b.ID
	}
	return ""
}

// remember returns the cookie for a browser in which a user with these names has signed in. The names are the text that
// the user typed, their email address and their ID.
func (k *knownBrowsers) remember(ctx context.Context, c *call, names ...string) []Cookie {
	if k == nil || strings.Join(names, "") == "" {
		return nil
	}
	b := k.read(c)
	expires, sealed := k.now().Add(knownFor), ""
	err := b.Remember(c.rand, names)
	if err == nil {
		sealed, err = k.seals.Encrypt(knownPurpose, b, expires)
	}
	if err != nil {
		c.log.failure(ctx, errormarks.As(err, ErrAuth), c.attrs()...)
		return nil
	}
	spec := c.cookies.Plugin(plugincookies.Known)
	cookie := Cookie(spec.SetUntil(sealed, expires))
	cookie.HasMaxAge, cookie.MaxAge = true, int(knownFor.Seconds())
	return []Cookie{cookie}
}

// verifiedNames returns the user's ID, and their address if it is verified.
func verifiedNames(user *User) []string {
	if user.EmailVerified.IsZero() {
		return []string{user.ID}
	}
	return []string{user.ID, user.Email}
}
