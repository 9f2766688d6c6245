package core

import (
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

// If no origin is configured, an application still works on a developer's machine, because loopback hosts are trusted.
// Only the user's own machine responds under these hosts, so that an attacker gains nothing with a forged Host header.
// A proxy in front of the application is different: it may request localhost on behalf of users elsewhere, and the
// responses would send them to their own machines. Therefore a request with headers of a proxy, or from a public
// address, is refused. A proxy on this machine that adds no headers cannot be distinguished from a local user. Its
// responses redirect to localhost, which is why New logs a warning.

const howToSetOrigin = "set URL (AUTH_URL=https://app.example), TrustedHosts, or TrustHost (AUTH_TRUST_HOST=true) " +
	"behind a server that sets the Host header safely"

var (
	errUntrusted = errorf(ErrUntrustedHost, "no origin is configured, and the request's host is not a loopback "+
		"host: "+howToSetOrigin)
	errForwarded = errorf(ErrUntrustedHost, "no origin is configured, and the request came through a proxy, whose "+
		"users would be redirected to localhost: "+howToSetOrigin)
)

// loopbackOrigin returns the origin of a request if no origin is configured.
func loopbackOrigin(r *Request, hosts []string) (weburl.Origin, error) {
	if len(hosts) != 1 {
		return weburl.Origin{}, errUntrusted
	}
	origin, err := weburl.NewOrigin(r.Scheme, hosts[0])
	switch {
	case err != nil || !origin.Loopback():
		return weburl.Origin{}, errUntrusted
	case hasProxyHeader(r.Header):
		return weburl.Origin{}, errForwarded
	}
	// A local user has no public peer address.
	if peer, ok := parsePeer(r.RemoteAddr); ok && public(peer) {
		return weburl.Origin{}, errorf(ErrUntrustedHost, "no origin is configured, and the peer address %s is not on this "+
			"machine or its network, so its Host header is not trusted: in a test, set RemoteAddr to 127.0.0.1:1234; else %s",
			peer, howToSetOrigin)
	}
	return origin, nil
}

// resolveOrigin returns the public origin of a request if none is configured (docs/protocol.md §1.4).
func (s *site) resolveOrigin(r *Request) (weburl.Origin, error) {
	h, hosts := r.Header, r.Hosts
	if authority, _, _ := weburl.SplitTarget(r.Target); authority != "" && len(hosts) == 1 {
		// The authority in the target overrides the Host header, whatever the router does (RFC 9112 section 3.2.2).
		if _, err := weburl.ParseHost(hosts[0]); err == nil {
			hosts = []string{authority}
		}
	}
	if !s.origins.TrustHost {
		return loopbackOrigin(r, hosts)
	}
	options := s.origins
	options.ForwardedTrusted = s.fromTrustedProxy(r)
	origin, err := weburl.ResolveOrigin(options, r.Scheme, hosts, h["X-Forwarded-Host"], h["X-Forwarded-Proto"])
	if err != nil {
		return origin, &badRequest{cause: errorf(ErrUntrustedHost, "%w", suspicion(err))}
	}
	return origin, nil
}

// hasProxyHeader reports whether a header shows that a proxy forwarded the request (RFC 7239, RFC 9110 section
// 7.6.3, and the older X-Forwarded names).
func hasProxyHeader(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" || name == "X-Real-Ip" || name == "Via" {
			return true
		}
	}
	return false
}
