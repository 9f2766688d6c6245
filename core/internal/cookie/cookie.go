// Package cookie reads and writes the cookies of the wire: the Cookie request header in, Set-Cookie values out, and the
// numbered chunks that a long session token is split into (docs/protocol.md §3.3). It decides what a cookie is, not
// what it means: sealing, lifetimes and names belong to its caller.
package cookie

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/ascii"
)

// MaxSize is the number of bytes a browser is sure to keep for one cookie, its name, value and attributes together
// (RFC 6265 section 6.1).
const MaxSize = 4096

// Cookie is one cookie to be set. The zero value of every field but Name leaves the attribute out.
//
// A Cookie is written by String or Append, which do not check it; call Validate once for cookies whose name or
// attributes come from a configuration.
type Cookie struct {
	// Name is an HTTP token (RFC 9110 section 5.6.2). A "__Host-" or "__Secure-" prefix binds the other fields.
	Name string
	// Value is the plain value; it is percent-encoded when written, as encodeURIComponent does.
	Value string
	// Path is the path below which the browser sends the cookie.
	Path string
	// Domain opens the cookie to subdomains; empty means this host only.
	Domain string
	// Expires is the absolute end of its life, written in UTC to the second; zero means no Expires attribute.
	Expires time.Time
	// MaxAge is the time to live in seconds. It is written only when HasMaxAge is set, because 0 means "delete now".
	MaxAge int
	// HasMaxAge reports whether MaxAge is written.
	HasMaxAge bool
	// HTTPOnly hides the cookie from scripts.
	HTTPOnly bool
	// Secure keeps the cookie off plain http.
	Secure bool
	// Partitioned asks for one jar per top-level site (CHIPS); it needs Secure.
	Partitioned bool
	// Priority is "Low", "Medium", "High", or empty for no attribute: which cookies Chromium evicts first when a site has
	// too many.
	Priority string
	// SameSite is "Lax", "Strict", "None", or empty for no attribute.
	SameSite string
}

// String returns c as the value of a Set-Cookie header.
func (c Cookie) String() string {
	var room [1536]byte // on the stack; what is longer moves
	return string(c.Append(room[:0]))
}

// Append appends c as the value of a Set-Cookie header to dst and returns the extended slice. The attributes stand in
// the order recorded from Auth.js, so that golden answers compare as text.
func (c *Cookie) Append(dst []byte) []byte {
	dst = append(dst, c.Name...)
	dst = append(dst, '=')
	dst = appendEncoded(dst, c.Value)
	if c.HasMaxAge {
		dst = append(dst, "; Max-Age="...)
		dst = strconv.AppendInt(dst, int64(c.MaxAge), 10)
	}
	if c.Domain != "" {
		dst = append(dst, "; Domain="...)
		dst = append(dst, c.Domain...)
	}
	if c.Path != "" {
		dst = append(dst, "; Path="...)
		dst = append(dst, c.Path...)
	}
	if !c.Expires.IsZero() {
		dst = appendDate(append(dst, "; Expires="...), c.Expires.UTC())
	}
	if c.HTTPOnly {
		dst = append(dst, "; HttpOnly"...)
	}
	if c.Secure {
		dst = append(dst, "; Secure"...)
	}
	if c.Partitioned {
		dst = append(dst, "; Partitioned"...)
	}
	if c.Priority != "" {
		dst = append(dst, "; Priority="...)
		dst = append(dst, c.Priority...)
	}
	if c.SameSite != "" {
		dst = append(dst, "; SameSite="...)
		dst = append(dst, c.SameSite...)
	}
	return dst
}

// httpDate is http.TimeFormat (RFC 9110 section 5.6.7), repeated to keep net/http out of this leaf.
const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"

// appendDate appends a time of UTC as httpDate has it. To read the layout takes package time longer than all the rest
// of a cookie.
func appendDate(dst []byte, t time.Time) []byte {
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(dst, httpDate)
	}
	hour, minute, second := t.Clock()
	dst = append(dst, t.Weekday().String()[:3]...)
	dst = append(appendTwo(append(dst, ", "...), day), ' ')
	dst = append(append(dst, month.String()[:3]...), ' ')
	dst = append(appendTwo(appendTwo(dst, year/100), year%100), ' ')
	dst = append(appendTwo(dst, hour), ':')
	dst = append(appendTwo(dst, minute), ':')
	return append(appendTwo(dst, second), " GMT"...)
}

// appendTwo appends a number below 100 as two digits.
func appendTwo(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// Validate reports everything that a browser would punish by dropping c or a server by splitting the header, joined
// into one error; nil means none of it. The texts name the attribute and never the value.
//
// The rules are those of RFC 6265bis sections 4.1.1 to 4.1.3. Prefixes are recognised in any letter case, as
// browsers do (RFC 6265bis section 5.4).
func (c Cookie) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("cookie: "+format, args...))
	}
	if !isToken(c.Name) {
		// The name is a configuration's own text and quoting makes it printable, so it may be shown.
		bad("name %q is not a token: use letters, digits and !#$%%&'*+-.^_`|~ only", c.Name)
	}
	if c.Path != "" && !isPath(c.Path) {
		bad("Path of %q must start with / and hold printable ASCII without semicolons", c.Name)
	}
	if c.Domain != "" && !isDomain(c.Domain) {
		bad("Domain of %q must be a host name", c.Name)
	}
	if y := c.Expires.UTC().Year(); !c.Expires.IsZero() && (y < 1601 || y > 9999) {
		bad("Expires of %q must lie between the years 1601 and 9999", c.Name)
	}
	switch c.SameSite {
	case "", "Lax", "Strict", "None":
	default:
		bad("SameSite of %q must be Lax, Strict or None", c.Name)
	}
	switch c.Priority {
	case "", "Low", "Medium", "High":
	default:
		bad("Priority of %q must be Low, Medium or High", c.Name)
	}
	if c.SameSite == "None" && !c.Secure {
		bad("SameSite=None of %q needs Secure", c.Name)
	}
	if c.Partitioned && !c.Secure {
		bad("Partitioned of %q needs Secure", c.Name)
	}
	switch {
	case hasPrefixFold(c.Name, "__Host-"):
		if !c.Secure || c.Path != "/" || c.Domain != "" {
			bad("%q carries the __Host- prefix: it needs Secure, Path=/ and no Domain", c.Name)
		}
	case hasPrefixFold(c.Name, "__Secure-"):
		if !c.Secure {
			bad("%q carries the __Secure- prefix: it needs Secure", c.Name)
		}
	}
	if n := len(c.String()); n > MaxSize {
		bad("%q takes %d bytes with its attributes, browsers keep %d", c.Name, n, MaxSize)
	}
	return errors.Join(errs...)
}

// NeedsSecure reports whether browsers drop a cookie of that name which lacks Secure (RFC 6265bis section 4.1.3).
func NeedsSecure(name string) bool {
	return hasPrefixFold(name, "__Secure-") || hasPrefixFold(name, "__Host-")
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// isToken reports whether s is a token of RFC 9110 section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !ascii.IsAlnum(c) && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

func isPath(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == ';' {
			return false
		}
	}
	return s[0] == '/'
}

// isDomain accepts letters, digits and hyphens in dot-separated labels. A leading dot is kept for old configurations:
// RFC 6265 section 5.2.3 tells browsers to ignore it.
func isDomain(s string) bool {
	s = strings.TrimPrefix(s, ".")
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if !ascii.IsAlnum(label[i]) && label[i] != '-' {
				return false
			}
		}
	}
	return true
}
