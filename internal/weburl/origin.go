// Package weburl parses and checks URLs: the origin of a request, redirect targets, the action in a path, and queries.
// It does no I/O.
//
// Every URL that an application sends is parsed by browsers (WHATWG URL) and by servers (RFC 3986, Go's net/url), and
// attacks exploit their differences. So this package accepts only URLs that both parse alike, and returns them in
// normalized form: ASCII, without backslashes, control characters and user information.
package weburl

import (
	"errors"
	"net/netip"
	"strings"

	"github.com/latchkey-go/latchkey/internal/ascii"
)

var (
	// ErrHost is returned if a request has no host, several hosts, or an invalid one.
	ErrHost = errors.New("weburl: request names no valid host")
	// ErrScheme is returned for a scheme other than http and https.
	ErrScheme = errors.New("weburl: scheme is neither http nor https")
	// ErrUntrusted is returned if the host is valid but not trusted by the configuration.
	ErrUntrusted = errors.New("weburl: host is not trusted: " +
		"pin the origin (AUTH_URL), list trusted hosts, or trust the host header")
)

// Origin is the scheme, host and port of a web application (RFC 6454). The zero value is not a valid origin. Origins
// can be compared with ==.
type Origin struct {
	// Scheme is "http" or "https".
	Scheme string
	// Host is the host in lower case. It includes ":port" unless that is the default port of the scheme.
	Host string
}

// String returns the origin as a URL without a path, such as "https://app.example", or "" for the zero value.
func (o Origin) String() string {
	if o == (Origin{}) {
		return ""
	}
	return o.Scheme + "://" + o.Host
}

// IsZero reports whether o is the zero value.
func (o Origin) IsZero() bool { return o == Origin{} }

// loopbackV4 is 127.0.0.0/8 (RFC 1122 section 3.2.1.3).
var loopbackV4 = netip.MustParsePrefix("127.0.0.0/8")

// Loopback reports whether o is on the client's own machine: localhost and its subdomains (RFC 6761 section 6.3),
// 127.0.0.0/8 and [::1], with any port. DNS does not resolve these names to other machines, so no page of another site
// has such an origin.
func (o Origin) Loopback() bool {
	if o.Host == "" {
		return false
	}
	name := hostname(o.Host)
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && (addr == netip.IPv6Loopback() || loopbackV4.Contains(addr))
}

// NewOrigin returns the origin of a scheme in lower case and a host[:port]. It removes the default port. The errors are
// ErrScheme and ErrHost.
func NewOrigin(scheme, host string) (Origin, error) {
	port := ""
	switch scheme {
	case "https":
		port = ":443"
	case "http":
		port = ":80"
	default:
		return Origin{}, ErrScheme
	}
	host, err := ParseHost(host)
	if err != nil {
		return Origin{}, err
	}
	if bare, ok := strings.CutSuffix(host, port); ok {
		host = bare
	}
	return Origin{Scheme: scheme, Host: host}, nil
}

// ParseOrigin splits an absolute http(s) URL into its origin and its path, which is empty or starts with a slash. It is
// for configured URLs (AUTH_URL, redirect proxies): user information, query and fragment are rejected. The errors are
// ErrMalformed, ErrScheme and ErrTooLong.
func ParseOrigin(raw string) (o Origin, path string, err error) {
	ref, err := parse(raw)
	switch {
	case errors.Is(err, ErrForeign):
		return Origin{}, "", ErrMalformed
	case err != nil:
		return Origin{}, "", err
	case ref.origin.IsZero() || ref.hasQuery || ref.hasFragment:
		return Origin{}, "", ErrMalformed
	}
	return ref.origin, ref.path, nil
}

// Options are the trust settings that determine a request's origin. The zero value trusts nothing: every request is
// ErrUntrusted.
type Options struct {
	// Pinned is the configured origin. If it is set, it is the origin of every request, and headers are ignored.
	Pinned Origin
	// TrustHost accepts any valid host if TrustedHosts is empty.
	TrustHost bool
	// TrustedHosts lists the accepted hosts in the format of ParsePattern: "app.example", "app.example:8443", or
	// "*.preview.app.example" for exactly one more label. A non-empty list implies TrustHost.
	TrustedHosts []string
	// ForwardedTrusted uses X-Forwarded-Host and X-Forwarded-Proto. Set it only if a proxy in front overwrites or checks
	// them; otherwise the client controls them.
	ForwardedTrusted bool
}

// ResolveOrigin returns the public origin of a request (docs/protocol.md §1.4). scheme is that of the connection. hosts
// are the values of the Host header, or the authority of an absolute-form target (RFC 9112 section 3.2.2); there must
// be exactly one. forwardedHost and forwardedProto are the values of the X-Forwarded headers: of a list, the first
// entry is used, and an empty header counts as absent. No other header is used.
//
// The errors are ErrHost, ErrScheme and ErrUntrusted, without any data of the request.
func ResolveOrigin(opts Options, scheme string, hosts, forwardedHost, forwardedProto []string) (Origin, error) {
	if !opts.Pinned.IsZero() {
		return opts.Pinned, nil
	}
	if !opts.TrustHost && len(opts.TrustedHosts) == 0 {
		return Origin{}, ErrUntrusted
	}
	if len(hosts) != 1 {
		return Origin{}, ErrHost
	}
	// The Host header must be valid even if a proxy forwards another host: a browser never sends an invalid one, and
	// routers treat invalid ones differently.
	host, err := ParseHost(hosts[0])
	if err != nil {
		return Origin{}, err
	}
	if opts.ForwardedTrusted {
		if v, ok := firstEntry(forwardedHost); ok {
			host = v
		}
		if v, ok := firstEntry(forwardedProto); ok {
			scheme = httpScheme(ascii.Lower(v))
		}
	}
	o, err := NewOrigin(scheme, host)
	if err != nil {
		return Origin{}, err
	}
	if len(opts.TrustedHosts) > 0 && !listed(opts.TrustedHosts, o) {
		return Origin{}, ErrUntrusted
	}
	return o, nil
}

// httpScheme returns the HTTP scheme of a forwarded WebSocket scheme: some proxies send "wss" with each upgrade (RFC
// 6455 section 3).
func httpScheme(scheme string) string {
	switch scheme {
	case "wss":
		return "https"
	case "ws":
		return "http"
	}
	return scheme
}

// firstEntry returns the first entry of a list header, trimmed. It returns false if the header is absent or empty.
func firstEntry(values []string) (string, bool) {
	for _, v := range values {
		if v = strings.Trim(v, " \t"); v != "" {
			entry, _, _ := strings.Cut(v, ",")
			return strings.Trim(entry, " \t"), true
		}
	}
	return "", false
}

// ParsePattern checks and normalizes an entry of Options.TrustedHosts: a host[:port], optionally preceded by "*.". An
// entry without a port means the default port of either scheme. It returns ErrHost for anything else, including a
// wildcard for a whole top-level domain such as "*.com".
func ParsePattern(raw string) (string, error) {
	suffix, wild := strings.CutPrefix(raw, "*.")
	host, err := ParseHost(suffix)
	if err != nil {
		return "", err
	}
	if !wild {
		return host, nil
	}
	if host[0] == '[' || !strings.Contains(host, ".") && host != "localhost" && !strings.HasPrefix(host, "localhost:") {
		return "", ErrHost
	}
	if _, err := netip.ParseAddr(hostname(host)); err == nil {
		return "", ErrHost
	}
	return "*." + host, nil
}

// listed reports whether a normalized pattern matches o's host.
func listed(patterns []string, o Origin) bool {
	spelt := o.Host + ":443"
	if o.Scheme == "http" {
		spelt = o.Host + ":80"
	}
	for _, p := range patterns {
		p = ascii.Lower(p)
		suffix, wild := strings.CutPrefix(p, "*")
		if !wild {
			if p == o.Host || p == spelt {
				return true
			}
			continue
		}
		// The wildcard matches exactly one whole label.
		label, ok := strings.CutSuffix(o.Host, suffix)
		if ok && strings.HasPrefix(suffix, ".") && label != "" && strings.IndexByte(label, '.') < 0 {
			return true
		}
	}
	return false
}

// ParseHost checks a host[:port] and returns it in normal form: lower case, without an empty port, with a port between
// 1 and 65535 without leading zeros, and with IPv6 addresses in brackets as in RFC 5952. It returns ErrHost for hosts
// that parsers can read in different ways: user information, percent-encoding, non-ASCII bytes (use the xn-- form), a
// trailing dot, and numbers that browsers read as IPv4 addresses.
func ParseHost(raw string) (string, error) {
	if raw == "" || len(raw) > 253+len(":65535") {
		return "", ErrHost
	}
	name, port := raw, ""
	if raw[0] == '[' {
		end := strings.IndexByte(raw, ']')
		if end < 0 {
			return "", ErrHost
		}
		name, port = raw[:end+1], raw[end+1:]
	} else if colon := strings.IndexByte(raw, ':'); colon >= 0 {
		name, port = raw[:colon], raw[colon:]
	}
	port, ok := normalPort(port)
	if !ok {
		return "", ErrHost
	}
	if name, ok = normalName(name); !ok {
		return "", ErrHost
	}
	if port == "" {
		return name, nil
	}
	return name + port, nil
}

// normalPort checks "", ":" or ":<port>" and returns "" or ":<port>".
func normalPort(s string) (string, bool) {
	switch {
	case s == "" || s == ":":
		return "", true
	case s[0] != ':' || len(s) > 6 || s[1] == '0':
		return "", false
	}
	n := 0
	for _, c := range []byte(s[1:]) {
		if c < '0' || c > '9' {
			return "", false
		}
		n = n*10 + int(c-'0')
	}
	return s, n <= 65535
}

func normalName(s string) (string, bool) {
	if s == "" || len(s) > 253 {
		return "", false
	}
	if s[0] == '[' {
		addr, err := netip.ParseAddr(s[1 : len(s)-1])
		if err != nil || !addr.Is6() || addr.Zone() != "" || addr.Is4In6() {
			// Browsers and Go write IPv4-mapped addresses differently.
			return "", false
		}
		return "[" + addr.String() + "]", true
	}
	last := ""
	for label := range strings.SplitSeq(s, ".") {
		if !isLabel(label) {
			return "", false
		}
		last = label
	}
	if isNumeric(last) {
		// Browsers read such a name as IPv4, whether it is 2130706433, 0x7f.1 or 127.1; only the plain form is unambiguous.
		addr, err := netip.ParseAddr(s)
		return s, err == nil && addr.Is4()
	}
	return ascii.Lower(s), true
}

// isLabel reports whether s consists of letters, digits, inner hyphens, and underscores, which container networks use
// in names.
func isLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !ascii.IsAlnum(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// isNumeric reports whether the "ends in a number" checker of the WHATWG URL standard accepts a last label as a number.
func isNumeric(s string) bool {
	if len(s) >= 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		for i := 2; i < len(s); i++ {
			if ascii.Unhex(s[i]) < 0 {
				return false
			}
		}
		return true
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// hostname removes the port from a normalized host.
func hostname(host string) string {
	if host[0] == '[' {
		return host[1:strings.IndexByte(host, ']')]
	}
	name, _, _ := strings.Cut(host, ":")
	return name
}

// Listed reports whether a pattern matches o. Patterns are origins such as "https://app.example" or, with a wildcard
// for exactly one more label, "https://*.preview.app.example".
func (o Origin) Listed(patterns []string) bool {
	for _, p := range patterns {
		scheme, host, ok := strings.Cut(ascii.Lower(p), "://")
		if ok && scheme == o.Scheme && listed([]string{strings.TrimSuffix(host, "/")}, o) {
			return true
		}
	}
	return false
}

// IsLoopback reports whether o is on this machine, where plain http is as safe as https.
func (o Origin) IsLoopback() bool {
	switch name := hostname(o.Host); {
	case name == "localhost", strings.HasSuffix(name, ".localhost"), name == "::1":
		return true
	default:
		return strings.HasPrefix(name, "127.") && isNumeric(name[strings.LastIndexByte(name, '.')+1:])
	}
}
