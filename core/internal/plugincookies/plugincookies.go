// Package plugincookies has the encrypted cookies of plugins, and the names of those that core stores in the same way.
package plugincookies

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/actions"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/sessioncookies"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/purposekey"
)

// Cookies of core that share their prefix with the cookies of plugins.
const (
	// Pending identifies a pending sign-in.
	Pending = "pending"
	// Locale stores the language that a query parameter requested. A redirect of the sign-in loses the parameter, and the
	// pages after it must use the same language.
	Locale = "locale"
	// Address has the email address between the two pages of PagesConfig.EmailFirst.
	Address = "address"
	// Remember stores the choice of "Keep me signed in" until the session starts. Its value is "1". Without it the session
	// is short.
	Remember = "remember"
	// Unknown has the ID of a passkey that the site does not know, for the sign-in page.
	Unknown = "passkey-unknown"
	// Known identifies a browser in which a user has signed in before.
	Known = "known"
	// Code begins the names of the cookies with the keys of package emailcode. The purpose of the code follows.
	Code = "code-"
)

var reserved = [...]string{Pending, Locale, Known, Address, Remember, Unknown, sessioncookies.BrowserCookie}

// CheckName returns an error if a plugin cannot use a name: it is invalid, or that of a cookie of core.
func CheckName(name string) error {
	if !actions.IsName(name) || slices.Contains(reserved[:], name) || strings.HasPrefix(name, Code) {
		return fmt.Errorf("core: SetEncryptedCookie: invalid name %q: use at most 32 lower-case letters, digits and "+
			"hyphens, and none of %q", name, reserved)
	}
	return nil
}

// Cookies reads and makes encrypted cookies for one kind of origin. A cookie can only be read under its name.
type Cookies struct {
	Set  *cookies.Set
	Keys *purposekey.Keys
}

// maxValue is the maximum length of a cookie value. Browsers accept 4,096 bytes (RFC 6265 section 6.1); the rest is for
// the name and the attributes.
const maxValue = 3900

func purpose(name string) string { return "cookie " + name }

// New returns the cookie with a name that contains v until expires.
func (c Cookies) New(name string, v any, expires time.Time) (cookie.Cookie, error) {
	sealed, err := c.Keys.Encrypt(purpose(name), v, expires)
	if err != nil {
		return cookie.Cookie{}, err
	}
	if len(sealed) > maxValue {
		return cookie.Cookie{}, fmt.Errorf("core: SetEncryptedCookie: %q has %d bytes encrypted, the limit is %d", name,
			len(sealed), maxValue)
	}
	spec := c.Set.Plugin(name)
	made := spec.SetUntil(sealed, expires)
	made.HasMaxAge, made.MaxAge = true, int(expires.Sub(c.Keys.Now()).Seconds())
	return made, nil
}

// Read decrypts the cookie with a name into v. It returns false if there is none, or if it is not valid.
func (c Cookies) Read(jar cookie.Jar, name string, v any) bool {
	spec := c.Set.Plugin(name)
	value, ok := jar.Get(spec.Name())
	return ok && c.Keys.Decrypt(purpose(name), value, v) == nil
}
