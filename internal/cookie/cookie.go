// Package cookie parses Cookie headers, formats Set-Cookie headers, and splits long session tokens into numbered
// cookies (docs/protocol.md §3.3). Encryption, lifetimes and names are up to the caller.
package cookie

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/ascii"
)

// MaxSize is the number of bytes that every browser accepts for one cookie, including its name and attributes (RFC 6265
// section 6.1).
const MaxSize = 4096

// Cookie is a cookie to set. A field with the zero value omits the attribute.
//
// String and Append do not validate a Cookie. Call Validate for cookies whose name or attributes are configured.
type Cookie struct {
	// Name is an HTTP token (RFC 9110 section 5.6.2). A prefix "__Host-" or "__Secure-" restricts the other fields.
	Name string
	// Value is the unencoded value. It is percent-encoded in the header, as encodeURIComponent does.
	Value string
	// Path is the path prefix of requests with the cookie.
	Path string
	// Domain includes subdomains. If it is empty, the cookie is for this host only.
	Domain string
	// Expires is the expiry, in UTC with whole seconds. Zero omits the attribute.
	Expires time.Time
	// MaxAge is the lifetime in seconds. It is written only if HasMaxAge is set, because 0 means "delete now".
	MaxAge int
	// HasMaxAge reports whether MaxAge is written.
	HasMaxAge bool
	// HTTPOnly hides the cookie from scripts.
	HTTPOnly bool
	// Secure restricts the cookie to https.
	Secure bool
	// Partitioned separates the cookie by top-level site (CHIPS). It requires Secure.
	Partitioned bool
	// Priority is "Low", "Medium", "High", or empty. Chromium deletes cookies of low priority first if a site has too
	// many.
	Priority string
	// SameSite is "Lax", "Strict", "None", or empty.
	SameSite string
}

// String returns c as the value of a Set-Cookie header.
func (c Cookie) String() string {
	var room [1536]byte // on the stack; a longer cookie is allocated
	return string(c.Append(room[:0]))
}

// Append appends c as the value of a Set-Cookie header to dst. The attributes have the same order as in Auth.js, so
// that recorded responses can be compared as text.
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

// httpDate is http.TimeFormat (RFC 9110 section 5.6.7). It is repeated here to avoid a dependency on net/http.
const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"

// appendDate appends a UTC time in the format httpDate. It is faster than package time, which takes longer to parse the
// layout than formatting the rest of a cookie does.
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

// Validate returns an error with all problems that would make a browser reject c or make a server split the header. The
// texts name the attribute and never contain the value.
//
// The rules are those of RFC 6265bis sections 4.1.1 to 4.1.3. Prefixes are case-insensitive, as in browsers (RFC
// 6265bis section 5.4).
func (c Cookie) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("cookie: "+format, args...))
	}
	if !isToken(c.Name) {
		// The name is configured, not user input, and it is quoted, so the error may contain it.
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

// NeedsSecure reports whether browsers reject a cookie of that name without Secure (RFC 6265bis section 4.1.3).
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

// isDomain reports whether s consists of dot-separated labels of letters, digits and hyphens. A leading dot is allowed
// for old configurations: browsers ignore it (RFC 6265 section 5.2.3).
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
