package forwarded

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

// HowToSetOrigin is the part of error texts that says how to configure the origin.
const HowToSetOrigin = "set URL (AUTH_URL=https://app.example), TrustedHosts, or TrustHost (AUTH_TRUST_HOST=true) " +
	"behind a server that sets the Host header safely"

// ErrNoOrigin means that a request was refused because no origin is configured. Other errors of [Places.Of] are those
// of a malformed request or an unknown host.
var ErrNoOrigin = errors.New("no origin is configured")

var (
	errUntrusted = fmt.Errorf("%w, and the request's host is not a loopback host: "+HowToSetOrigin, ErrNoOrigin)
	errForwarded = fmt.Errorf("%w, and the request came through a proxy, whose "+
		"users would be redirected to localhost: "+HowToSetOrigin, ErrNoOrigin)
)

// Origins determines the public origin of a request. TrustHost of its options must be true if an origin is configured.
// Otherwise only loopback hosts are accepted.
type Origins struct {
	weburl.Options
	Proxies Proxies
}

// Places determines the origin of each request, and returns the value that Derive computes for the origin. It caches
// the most recent value, which saves six allocations for each request. It caches only one, so that requests with forged
// hosts cannot grow the cache. It is safe for concurrent use.
type Places[P any] struct {
	Origins
	// Derive returns the values that belong to an origin. Requests may share them.
	Derive func(weburl.Origin) P
	last   atomic.Pointer[cached[P]]
}

// cached is the value of Derive for the origin of a request with these inputs.
type cached[P any] struct {
	inputs
	place P
}

// inputs contains the values that determine the origin of a request. Requests with equal values have the same origin.
type inputs struct {
	scheme, host, forwardedHost, forwardedProto string
	// believed reports whether the forwarded headers are trusted.
	believed bool
}

// Of returns the value of Derive for the origin of a request.
func (p *Places[P]) Of(r *Request) (place P, err error) {
	in, plain := inputs{}, false
	if p.TrustHost { // otherwise the origin also depends on other properties of the request
		if in, plain = inputsOf(r, p.Proxies.Trust(r)); plain {
			if last := p.last.Load(); last != nil && last.inputs == in {
				return last.place, nil
			}
		}
	}
	at, err := p.resolve(r)
	if err != nil {
		return place, err
	}
	place = p.Derive(at)
	if plain {
		p.last.Store(&cached[P]{in, place})
	}
	return place, nil
}

// inputsOf returns the values of a request. It returns false for a request with repeated headers, which is never
// cached.
func inputsOf(r *Request, believed bool) (inputs, bool) {
	host, proto := r.Header["X-Forwarded-Host"], r.Header["X-Forwarded-Proto"]
	if len(r.Hosts) != 1 || len(host) > 1 || len(proto) > 1 || r.Target == "" || r.Target[0] != '/' {
		return inputs{}, false
	}
	a := inputs{scheme: r.Scheme, host: r.Hosts[0], believed: believed}
	if len(host) == 1 {
		a.forwardedHost = host[0]
	}
	if len(proto) == 1 {
		a.forwardedProto = proto[0]
	}
	return a, true
}

// resolve returns the public origin of a request (docs/protocol.md §1.4).
func (o *Origins) resolve(r *Request) (weburl.Origin, error) {
	h, hosts := r.Header, r.Hosts
	if authority, _, _ := weburl.SplitTarget(r.Target); authority != "" && len(hosts) == 1 {
		// The authority in the target overrides the Host header, whatever the router does (RFC 9112 section 3.2.2).
		if _, err := weburl.ParseHost(hosts[0]); err == nil {
			hosts = []string{authority}
		}
	}
	if !o.TrustHost {
		return loopbackOrigin(r, hosts)
	}
	options := o.Options
	options.ForwardedTrusted = o.Proxies.Trust(r)
	return weburl.ResolveOrigin(options, r.Scheme, hosts, h["X-Forwarded-Host"], h["X-Forwarded-Proto"])
}

// If no origin is configured, an application still works on a developer's machine, because loopback hosts are trusted.
// Only the user's own machine responds under these hosts, so that an attacker gains nothing with a forged Host header.
// A proxy in front of the application is different: it may request localhost on behalf of users elsewhere, and the
// responses would send them to their own machines. Therefore a request with headers of a proxy, or from a public
// address, is refused. A proxy on this machine that adds no headers cannot be distinguished from a local user. Its
// responses redirect to localhost, which is why core.New logs a warning.

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
		return weburl.Origin{}, fmt.Errorf("%w, and the peer address %s is not on this "+
			"machine or its network, so its Host header is not trusted: in a test, set RemoteAddr to 127.0.0.1:1234; else %s",
			ErrNoOrigin, peer, HowToSetOrigin)
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

// Elsewhere returns the origin of a request if it differs from the configured one. It uses forwarded headers even of
// untrusted peers. It returns false if the origin is the configured one or unknown.
func (o *Origins) Elsewhere(r *Request) (visited weburl.Origin, elsewhere bool) {
	host, scheme := r.Hosts, r.Scheme
	if forwarded := r.Header["X-Forwarded-Host"]; len(forwarded) > 0 {
		host = forwarded
	}
	if forwarded := r.Header["X-Forwarded-Proto"]; len(forwarded) > 0 {
		scheme = forwarded[0]
	}
	// The common case, without parsing.
	if len(host) == 1 && host[0] == o.Pinned.Host && scheme == o.Pinned.Scheme {
		return visited, false
	}
	options := weburl.Options{TrustHost: true, ForwardedTrusted: true}
	forwardedHost, forwardedProto := r.Header["X-Forwarded-Host"], r.Header["X-Forwarded-Proto"]
	visited, err := weburl.ResolveOrigin(options, r.Scheme, r.Hosts, forwardedHost, forwardedProto)
	return visited, err == nil && visited != o.Pinned
}
