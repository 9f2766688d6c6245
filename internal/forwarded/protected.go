package forwarded

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

var (
	errNotAProxy      = errors.New("the peer is not in Config.TrustedProxies")
	errNotOneOrigin   = errors.New("the request needs exactly one X-Forwarded-Host and one X-Forwarded-Proto")
	errOriginUnlisted = errors.New("X-Forwarded-Proto and X-Forwarded-Host are not those of a protected origin")
)

// Protected returns the origin that a trusted proxy asks about with X-Forwarded-Proto and X-Forwarded-Host (forward
// authentication). It must be one of list.
func (p Proxies) Protected(r *Request, list []weburl.Origin) (string, error) {
	if !p.Trust(r) {
		return "", errNotAProxy
	}
	host, proto := r.Header["X-Forwarded-Host"], r.Header["X-Forwarded-Proto"]
	if len(host) != 1 || len(proto) != 1 || strings.Contains(proto[0], ",") {
		return "", errNotOneOrigin
	}
	// A list of hosts is no valid host.
	at, err := weburl.ResolveOrigin(weburl.Options{TrustHost: true, ForwardedTrusted: true}, "", host, nil, proto)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errOriginUnlisted, err)
	}
	if !slices.Contains(list, at) {
		return "", errOriginUnlisted
	}
	return at.String(), nil
}

// ParseProtected parses an origin that a proxy protects. A browser must send a cookie of own with the attribute Domain
// there; the zero value of own is not known yet.
func ParseProtected(text string, own weburl.Origin, domain string) (weburl.Origin, error) {
	at, path, err := weburl.ParseOrigin(text)
	switch {
	case err != nil || path != "":
		return at, errors.New("write https://app.example.com, without a path")
	case own == weburl.Origin{}:
		return at, nil
	case at.Scheme != own.Scheme:
		return at, fmt.Errorf("browsers send no session cookie there, because URL is %s: use the same scheme", own)
	case !sendsCookie(at, own, domain):
		return at, errors.New("browsers send no session cookie there: set Cookies.SessionToken.Domain to the domain that " +
			"it has in common with URL, for example example.com")
	}
	return at, nil
}

// sendsCookie reports whether a browser sends a cookie of own with the attribute Domain to at, too (RFC 6265 section
// 5.1.3). domain is empty if the cookie has none.
func sendsCookie(at, own weburl.Origin, domain string) bool {
	host := withoutPort(at.Host)
	if domain == "" {
		return host == withoutPort(own.Host)
	}
	domain = strings.ToLower(strings.TrimPrefix(domain, "."))
	return host == domain || strings.HasSuffix(host, "."+domain)
}

func withoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}
