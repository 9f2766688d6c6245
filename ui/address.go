package ui

import (
	"net/url"
	"strings"

	"github.com/a-h/templ"
)

// link returns address for an href or an action, or templ's harmless stand-in when it is neither an http(s) URL nor a
// path of this site.
func link(address string) templ.SafeURL {
	if !safeAddress(address) {
		return templ.FailedSanitizationURL
	}
	return templ.SafeURL(address)
}

// safeAddress reports whether s is an absolute http or https URL with a host, or a path that starts with one slash.
// Control characters, blanks and backslashes are refused anywhere, since browsers drop or turn them and then read
// another address ("/\evil.example", "/\t/evil.example": WHATWG URL Standard, section 4.4).
func safeAddress(s string) bool {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return false
	}
	if s[0] == '/' {
		return !strings.HasPrefix(s, "//")
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && hostPattern().MatchString(u.Host)
}

// hostPattern admits host names, addresses and ports. A semicolon or a comma, which net/url lets through, would end the
// directive of a Content-Security-Policy that names the host.
var hostPattern = lazily(`^[A-Za-z0-9._:\[\]-]+$`)

var dataImage = lazily(`^data:image/(?:png|jpeg|gif|webp|avif|svg\+xml|x-icon)` +
	`(?:;[a-z0-9=-]+)*,[A-Za-z0-9+/=%._~!*()'-]*$`)

// safeImage reports whether s may be the source of a picture. A script inside a data:image SVG does not run there.
func safeImage(s string) bool { return safeAddress(s) || dataImage().MatchString(s) }

// ImageSource returns the Content-Security-Policy source expression (CSP Level 3, section 2.3.1) that img-src needs for
// a logo: "'self'" for a path, "data:" for a data URL, the origin for a URL, empty for no logo or one that is not
// shown.
func ImageSource(logo string) string {
	switch {
	case logo == "" || !safeImage(logo):
		return ""
	case logo[0] == '/':
		return "'self'"
	case strings.HasPrefix(logo, "data:"):
		return "data:"
	}
	u, err := url.Parse(logo)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// withCallback returns address with the parameter callbackUrl, next to the parameters it has.
func withCallback(address, callbackURL string) string {
	if callbackURL == "" {
		return address
	}
	address, fragment, hasFragment := strings.Cut(address, "#")
	mark := "?"
	if strings.Contains(address, "?") {
		mark = "&"
	}
	address += mark + "callbackUrl=" + url.QueryEscape(callbackURL)
	if hasFragment {
		address += "#" + fragment
	}
	return address
}
