package core

import (
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// Cookie is a cookie to set: one Set-Cookie line. A zero field omits its attribute.
type Cookie struct {
	// Name is the name of the cookie. A "__Host-" or "__Secure-" prefix restricts the other fields (RFC 6265bis section
	// 4.1.3).
	Name string
	// Value is the plain value. [Cookie.String] percent-encodes it, as Auth.js does.
	Value string
	// Path is a path prefix. The browser sends the cookie with requests to paths below it.
	Path string
	// Domain makes the browser send the cookie to subdomains as well. Empty means this host only.
	Domain string
	// Expires is when the browser deletes the cookie, in whole seconds. The zero time means at the end of the browser
	// session.
	Expires time.Time
	// MaxAge is the lifetime in seconds. It takes precedence over Expires, and is used only if HasMaxAge is set. 0 deletes
	// the cookie.
	MaxAge int
	// HasMaxAge adds the attribute Max-Age, with the value MaxAge.
	HasMaxAge bool
	// HTTPOnly hides the cookie from JavaScript.
	HTTPOnly bool
	// Secure makes the browser send the cookie over https only.
	Secure bool
	// Partitioned gives the cookie a separate jar for each top-level site (CHIPS). It needs Secure.
	Partitioned bool
	// Priority is "Low", "Medium" or "High". Chromium evicts cookies with a low priority first if a site has too many.
	Priority string
	// SameSite is "Lax", "Strict" or "None".
	SameSite string
}

// String returns the value of the Set-Cookie header.
func (c Cookie) String() string { return cookie.Cookie(c).String() }

// place is a public origin of the application and the values derived from it. It is shared by requests and read-only.
type place struct {
	at weburl.Origin
	// origin is at as text, base the public URL of the auth routes, and home that of the application.
	origin, base, home string
	// homeInCookie is home in the encoding of the callback-url cookie.
	homeInCookie string
	// cookies are the cookies for the origin's scheme. It is nil if the origin is unknown.
	cookies *cookies.Set
}
