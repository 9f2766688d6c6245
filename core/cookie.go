package core

import (
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
)

// Cookie is a cookie to be set: one Set-Cookie line. The zero value of every field but Name leaves the attribute out.
type Cookie struct {
	// Name is the cookie's name; a "__Host-" or "__Secure-" prefix binds the other fields (RFC 6265bis section 4.1.3).
	Name string
	// Value is the plain value; [Cookie.String] percent-encodes it, as Auth.js does.
	Value string
	// Path is the path below which the browser sends the cookie.
	Path string
	// Domain opens the cookie to subdomains; empty means this host only.
	Domain string
	// Expires is when the browser forgets the cookie, to the second; zero: with the browser's session.
	Expires time.Time
	// MaxAge is the time to live in seconds, which goes before Expires. It counts where HasMaxAge is set: 0 means "delete
	// now".
	MaxAge int
	// HasMaxAge writes MaxAge.
	HasMaxAge bool
	// HTTPOnly hides the cookie from scripts.
	HTTPOnly bool
	// Secure keeps the cookie off plain http.
	Secure bool
	// Partitioned asks for one jar for each top-level site (CHIPS); it needs Secure.
	Partitioned bool
	// Priority is "Low", "Medium" or "High": which cookies Chromium evicts first when a site has too many.
	Priority string
	// SameSite is "Lax", "Strict" or "None".
	SameSite string
}

// String returns the value of the Set-Cookie header.
func (c Cookie) String() string { return cookie.Cookie(c).String() }
