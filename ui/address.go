package ui

import (
	"net/url"
	"strings"

	"github.com/a-h/templ"
)

// link returns address for an href or action attribute. If it is neither an http(s) URL nor a path of this site,
// templ's placeholder URL is returned.
func link(address string) templ.SafeURL {
	if !safeAddress(address) {
		return templ.FailedSanitizationURL
	}
	return templ.SafeURL(address)
}

// safeAddress reports whether s is an absolute http or https URL with a host, or a path that starts with one slash.
// Control characters, spaces and backslashes are rejected anywhere, because browsers remove or convert them and then
// read another address ("/\evil.example", "/\t/evil.example": WHATWG URL Standard, section 4.4).
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

// hostPattern matches host names, IP addresses and ports. net/url also accepts semicolons and commas, which would end
// the directive of a Content-Security-Policy that contains the host.
var hostPattern = lazyRegexp(`^[A-Za-z0-9._:\[\]-]+$`)

var dataImage = lazyRegexp(`^data:image/(?:png|jpeg|gif|webp|avif|svg\+xml|x-icon)` +
	`(?:;[a-z0-9=-]+)*,[A-Za-z0-9+/=%._~!*()'-]*$`)

// safeImage reports whether s is a valid image source. Scripts inside an SVG data URL do not run in an img element.
func safeImage(s string) bool { return safeAddress(s) || dataImage().MatchString(s) }

// safePicture reports whether s is an https URL or a path of this site. A page never loads a user's picture over http.
func safePicture(s string) bool {
	return safeAddress(s) && (s[0] == '/' || len(s) > 8 && strings.EqualFold(s[:8], "https://"))
}

// ImageSource returns the source expression (CSP Level 3, section 2.3.1) that the Content-Security-Policy directive
// img-src needs for a logo: "'self'" for a path, "data:" for a data URL, the origin for a URL. It returns "" for an
// empty or invalid logo.
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

// withCallback adds the query parameter callbackUrl to address.
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
