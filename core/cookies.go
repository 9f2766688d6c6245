package core

import (
	"time"

	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/jwe"
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

const (
	// checkTTL is the lifetime of the cookies of a flow.
	checkTTL = 15 * time.Minute
	// formAnswerTTL is the lifetime of a form_post response, which the browser's next request reads.
	formAnswerTTL = time.Minute
)

// cookieSpec is the specification of one cookie: its name, its attributes, and its keys if the value is encrypted.
type cookieSpec struct {
	attributes Cookie
	maxAge     time.Duration // the Max-Age attribute; zero: none
	keys       *jwe.Keyring
}

func (s *cookieSpec) name() string { return s.attributes.Name }

// set returns the cookie with a value and without an expiry date.
func (s *cookieSpec) set(value string) Cookie {
	c := s.attributes
	c.Value = value
	c.HasMaxAge, c.MaxAge = s.maxAge > 0, int(s.maxAge/time.Second)
	return c
}

// setUntil returns the cookie with a value and an expiry date.
func (s *cookieSpec) setUntil(value string, expires time.Time) Cookie {
	c := s.set(value)
	c.Expires = expires
	return c
}

// setSession returns a session cookie. If expires is zero, it has no Max-Age either, whatever the configuration says.
func (s *cookieSpec) setSession(value string, expires time.Time) Cookie {
	c := s.setUntil(value, expires)
	if expires.IsZero() {
		c.HasMaxAge, c.MaxAge = false, 0
	}
	return c
}

// clear returns the cookie that deletes the cookie with that name. It repeats the attributes, because browsers match
// them.
func (s *cookieSpec) clear(name string) Cookie {
	c := s.attributes
	c.Name, c.HasMaxAge, c.MaxAge = name, true, 0
	return c
}

// cookieSet has the cookies for one kind of origin, http or https.
type cookieSet struct {
	session, callbackURL, csrf, pkce, state, nonce, challenge cookieSpec

	logout     cookieSpec // the provider session for RP-initiated logout
	askedLinks cookieSpec // the sign-in links that this browser requested
	flow       cookieSpec // prefix of the names of flow cookies
	formAnswer cookieSpec // prefix of the names of form_post responses
	plugins    cookieSpec // prefix of the names of plugin cookies, with their attributes
}

// check returns the cookie of a check.
func (s *cookieSet) check(k Check) *cookieSpec {
	switch k {
	case CheckState:
		return &s.state
	case CheckPKCE:
		return &s.pkce
	default:
		return &s.nonce
	}
}

// partFamily is the prefix of the names of plugin cookies, after "__Host-".
const partFamily = "latchkey"

// place is a public origin of the application and the values derived from it. It is shared by requests and read-only.
type place struct {
	at weburl.Origin
	// origin is at as text, base the public URL of the auth routes, and home that of the application.
	origin, base, home string
	// homeInCookie is home in the encoding of the callback-url cookie.
	homeInCookie string
	// cookies are the cookies for the origin's scheme. It is nil if the origin is unknown.
	cookies *cookieSet
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
	// accountsCookie identifies the browser that has the sessions of further accounts.
	accountsCookie = "accounts"
)

// ownCookies lists the names of core's own cookies. Plugins cannot use them.
var ownCookies = [...]string{
	pendingCookie, localeCookie, knownCookie, addressCookie, rememberCookie, unknownCookie, accountsCookie,
}

const knownCookie = "known"

// codeCookie begins the names of the cookies with the keys of package emailcode. The purpose of the code follows.
const codeCookie = "code-"
