package core

import (
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/sessioncookies"
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

// Cookies of core that share their prefix with the cookies of plugins.
const (
	// pendingCookie identifies a pending sign-in.
	pendingCookie = "pending"
	// localeCookie stores the language that a query parameter requested. A redirect of the sign-in loses the parameter,
	// and the pages after it must use the same language.
	localeCookie = "locale"
	// addressCookie has the email address between the two pages of PagesConfig.EmailFirst.
	addressCookie = "address"
	// rememberCookie stores the choice of "Keep me signed in" until the session starts. Its value is "1". Without it the
	// session is short.
	rememberCookie = "remember"
	// unknownCookie has the ID of a passkey that the site does not know, for the sign-in page.
	unknownCookie = "passkey-unknown"
)

// reservedCookies lists the names of core's own cookies. Plugins cannot use them.
var reservedCookies = [...]string{
	pendingCookie, localeCookie, knownCookie, addressCookie, rememberCookie, unknownCookie, sessioncookies.BrowserCookie,
}

const knownCookie = "known"

// codeCookie begins the names of the cookies with the keys of package emailcode. The purpose of the code follows.
const codeCookie = "code-"
