package core

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Cookies of this package that are named as those of parts are, behind the prefix.
const (
	// pendingCookie is that of a held sign-in.
	pendingCookie = "pending"
	// localeCookie is the one with the language that a parameter has asked for. The parameter is gone with the next
	// redirect of a sign-in, and the pages after it are to be in the same language.
	localeCookie = "locale"
)

// ownCookies are all of them: no plugin keeps a cookie with such a name.
var ownCookies = [...]string{pendingCookie, localeCookie, knownCookie, stepUpCookie}

// partCookie is the cookie of that name which parts keep: "__Host-latchkey.<name>".
func (v *arrival) partCookie(name string) cookieSpec {
	spec := cookieSpec{attributes: v.cookies.parts.attributes}
	spec.attributes.Name += name
	return spec
}

// Keep has the browser keep v, encrypted, for ttl, in a cookie that scripts cannot read and that is this host's alone.
// Kept reads it in later requests. name is lower-case letters, digits and hyphens, and the part's own among all parts:
// begin it with the part's Name. A browser keeps about 3,000 bytes of JSON. The visitor can keep a copy and present it
// again until ttl is over: what must happen once needs a record.
func (c *Call) Keep(name string, v any, ttl time.Duration) error {
	if !isActionName(name) || slices.Contains(ownCookies[:], name) {
		return fmt.Errorf("core: Keep: the name %q is none: lower-case letters, digits and hyphens, 32 at most, and "+
			"none of %q", name, ownCookies)
	}
	cookie, err := c.parts.cookie(&c.in.arrival, name, v, c.parts.now().Add(ttl))
	if err == nil {
		c.keep(cookie)
	}
	return err
}

// cookie seals v into the cookie that parts keep under a name.
func (ps *parts) cookie(at *arrival, name string, v any, expires time.Time) (Cookie, error) {
	sealed, err := ps.seals.seal("cookie "+name, v, expires)
	if err != nil {
		return Cookie{}, err
	}
	if len(sealed) > maxKeptCookie {
		return Cookie{}, fmt.Errorf("core: Keep: %q has %d bytes sealed, and browsers keep %d", name, len(sealed),
			maxKeptCookie)
	}
	spec := at.partCookie(name)
	cookie := spec.setUntil(sealed, expires)
	cookie.HasMaxAge, cookie.MaxAge = true, int(expires.Sub(ps.now()).Seconds())
	return cookie, nil
}

// kept reads into v what is kept under a name.
func (ps *parts) kept(at *arrival, name string, v any) bool {
	spec := at.partCookie(name)
	value, ok := at.jar.Get(spec.name())
	return ok && ps.seals.open("cookie "+name, value, v) == nil
}

// maxKeptCookie leaves room for name and attributes: a browser keeps 4,096 bytes (RFC 6265 section 6.1).
const maxKeptCookie = 3900

// Kept reads into v, a pointer, what Keep had the browser keep. false: the browser has nothing, or what it has is too
// old, altered, or of another shape.
func (c *Call) Kept(name string, v any) bool {
	return name != pendingCookie && name != stepUpCookie && c.parts.kept(&c.in.arrival, name, v)
}

// Drop has the browser forget what Keep kept.
func (c *Call) Drop(name string) {
	spec := c.in.partCookie(name)
	c.keep(spec.clear(spec.name()))
}

// keep sets a cookie in place of one of that name which this answer would set.
func (c *Call) keep(cookie Cookie) {
	for i := range c.kept {
		if c.kept[i].Name == cookie.Name {
			c.kept[i] = cookie
			return
		}
	}
	c.kept = append(c.kept, cookie)
}

// KnowBrowser makes this browser a known browser of a user (Config.Limits.KnownBrowsers). Call it after the user has
// authenticated without being signed in. [Call.SignIn] does the same. The browser is known for the user's ID, and for
// their address if it is verified.
func (c *Call) KnowBrowser(ctx context.Context, user *User) {
	for _, cookie := range c.parts.limits.known.remember(ctx, c.in, verifiedNames(user)...) {
		c.keep(cookie)
	}
}
