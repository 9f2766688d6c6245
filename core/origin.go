package core

import (
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// Where no origin is configured, an application on a developer's machine still works: loopback hosts are believed. Only
// the visitor's own machine answers under them, so a made-up Host header gains nothing. A proxy in front of the
// application is another matter: it may ask for localhost on behalf of visitors elsewhere, whom the answers would send
// to their own machines. A request that shows a proxy, or comes from a public address, is refused. A proxy on this site
// that shows nothing cannot be told from a visitor on this machine; what it serves leads to localhost, which is why New
// warns.

const howToSetOrigin = "set URL (AUTH_URL=https://app.example), TrustedHosts, or TrustHost (AUTH_TRUST_HOST=true) " +
	"behind a server that sets the Host header safely"

var (
	errUntrusted = errorf(ErrUntrustedHost, "no origin is configured, and the host of the request is none of this "+
		"machine: "+howToSetOrigin)
	errForwarded = errorf(ErrUntrustedHost, "no origin is configured, and the request came through a server in front, "+
		"which believing localhost would send visitors to: "+howToSetOrigin)
)

// loopbackOrigin is the origin of a request for hosts where no origin is configured.
func loopbackOrigin(r *Request, hosts []string) (weburl.Origin, error) {
	if len(hosts) != 1 {
		return weburl.Origin{}, errUntrusted
	}
	origin, err := weburl.NewOrigin(r.Scheme, hosts[0])
	switch {
	case err != nil || !origin.Loopback():
		return weburl.Origin{}, errUntrusted
	case cameThroughServer(r.Header):
		return weburl.Origin{}, errForwarded
	}
	// No host on the internet reaches this machine as localhost.
	if peer, ok := parsePeer(r.RemoteAddr); ok && public(peer) {
		return weburl.Origin{}, errorf(ErrUntrustedHost, "no origin is configured, and the peer address %s is not on this "+
			"machine or its network, so its host is not believed: in a test, set RemoteAddr to 127.0.0.1:1234; else %s",
			peer, howToSetOrigin)
	}
	return origin, nil
}

// resolveOrigin is the public origin of a request where none is pinned (docs/protocol.md §1.4).
func (s *site) resolveOrigin(r *Request) (weburl.Origin, error) {
	h, hosts := r.Header, r.Hosts
	if authority, _, _ := weburl.SplitTarget(r.Target); authority != "" && len(hosts) == 1 {
		// Which of the two counts is no router's choice (RFC 9112 section 3.2.2).
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

// cameThroughServer reports whether a header shows a server in front (RFC 7239, RFC 9110 section 7.6.3, and the names
// in use before).
func cameThroughServer(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" || name == "X-Real-Ip" || name == "Via" {
			return true
		}
	}
	return false
}
