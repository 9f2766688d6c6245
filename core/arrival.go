package core

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// arrival is a request with its public origin and its cookies, which is enough for a visit to a page of the
// application. A [call] is an arrival at an auth route. It is read-only after settle.
type arrival struct {
	*site
	r *Request

	*place
	jar cookie.Jar
	// locale is the language of the response. It is nil until it is first used; see language.
	locale *ui.Locale

	// action and providerID are those of the auth route. providerID is a configured provider. Both are logged.
	action, providerID string
	// number identifies the request within this process.
	number uint64
	// misconfigured is the reference of a request that has no Auth.
	misconfigured string
}

// unsettled returns an arrival without origin and cookies. It is enough for an error response.
func (s *site) unsettled(r *Request) arrival {
	return arrival{site: s, r: r, place: s.unknownPlace, number: s.failures.next()}
}

// settle sets the place and the cookies. If the origin is rejected, the arrival stays usable for the error response.
func (v *arrival) settle() error {
	settled, err := v.placeOfRequest(v.r)
	if err != nil {
		return err
	}
	v.place, v.jar = settled, cookie.Parse(v.r.Header["Cookie"])
	return nil
}

// arrive returns the settled arrival of a request.
func (s *site) arrive(r *Request) (arrival, error) {
	v := s.unsettled(r)
	err := v.settle()
	return v, err
}

// header returns the first value of a header field with a canonical name.
func (v *arrival) header(name string) string { return first(v.r.Header, name) }

// presentsSession reports whether the request has a session cookie or a bearer token, valid or not.
func (v *arrival) presentsSession() bool {
	name := v.cookies.session.name()
	return v.jar.Has(name) || v.jar.Has(name+".0") || v.byBearer()
}

// page returns the URL of a built-in page, or of the application's own page, with the parameters added to the query.
func (v *arrival) page(own, action string, params ...string) (string, error) {
	if own == "" {
		own = v.base + "/" + action
	}
	return weburl.AddQuery(own, params...)
}

// place is a public origin of the application and the values derived from it. It is shared by requests and read-only.
type place struct {
	at weburl.Origin
	// origin is at as text, base the public URL of the auth routes, and home that of the application.
	origin, base, home string
	// homeInCookie is home in the encoding of the callback-url cookie.
	homeInCookie string
	// cookies are the cookies for the origin's scheme. It is nil if the origin is unknown.
	cookies *cookieSet
}

// placeOfRequest returns the place of a request. Without a configured URL it caches the most recent place: resolving it
// for each request would raise the session check of a page from 10 to 16 allocations. It caches only one, so
// that requests with forged hosts cannot grow the cache.
func (s *site) placeOfRequest(r *Request) (*place, error) {
	if s.pinned {
		s.warnOfOtherOrigin(r)
		return s.pinnedPlace, nil
	}
	inputs, plain := originInputs{}, false
	if s.origins.TrustHost { // otherwise the origin also depends on other properties of the request
		if inputs, plain = originInputsOf(r, s.fromTrustedProxy(r)); plain {
			if last := s.last.Load(); last != nil && last.originInputs == inputs {
				return last.place, nil
			}
		}
	}
	at, err := s.resolveOrigin(r)
	if err != nil {
		return nil, err
	}
	p := s.placeOf(at)
	if plain {
		s.last.Store(&cachedPlace{inputs, p})
	}
	return p, nil
}

// originInputs contains the values that determine the origin of a request. Requests with equal values have the same
// place.
type originInputs struct {
	scheme, host, forwardedHost, forwardedProto string
	// believed reports whether the forwarded headers are trusted.
	believed bool
}

// cachedPlace is the place of a request with these values.
type cachedPlace struct {
	originInputs
	place *place
}

// originInputsOf returns the values of a request. It returns false for a request with repeated headers, which is never
// cached.
func originInputsOf(r *Request, believed bool) (originInputs, bool) {
	host, proto := r.Header["X-Forwarded-Host"], r.Header["X-Forwarded-Proto"]
	if len(r.Hosts) != 1 || len(host) > 1 || len(proto) > 1 || r.Target == "" || r.Target[0] != '/' {
		return originInputs{}, false
	}
	a := originInputs{scheme: r.Scheme, host: r.Hosts[0], believed: believed}
	if len(host) == 1 {
		a.forwardedHost = host[0]
	}
	if len(proto) == 1 {
		a.forwardedProto = proto[0]
	}
	return a, true
}

// warnOfOtherOrigin logs a warning, once, if a request names another origin than the configured one. The browser is
// redirected to the configured origin, where it does not send its cookies, so the user appears to be signed out. An
// attacker can cause this warning, but only once.
func (s *site) warnOfOtherOrigin(r *Request) {
	if s.originWarned.Load() {
		return
	}
	host, scheme := r.Hosts, r.Scheme
	if forwarded := r.Header["X-Forwarded-Host"]; len(forwarded) > 0 {
		host = forwarded
	}
	if forwarded := r.Header["X-Forwarded-Proto"]; len(forwarded) > 0 {
		scheme = forwarded[0]
	}
	// The common case, without parsing.
	if len(host) == 1 && host[0] == s.origins.Pinned.Host && scheme == s.origins.Pinned.Scheme {
		return
	}
	options := weburl.Options{TrustHost: true, ForwardedTrusted: true}
	forwardedHost, forwardedProto := r.Header["X-Forwarded-Host"], r.Header["X-Forwarded-Proto"]
	visited, err := weburl.ResolveOrigin(options, r.Scheme, r.Hosts, forwardedHost, forwardedProto)
	if err != nil || visited == s.origins.Pinned || s.originWarned.Swap(true) {
		return
	}
	s.log.warn(context.Background(), warnVisitedElsewhere,
		slog.String("visited", visited.String()), slog.String("configured", s.pinnedOrigin),
		slog.String("hint", "URL (AUTH_URL) has another origin than requests: browsers are redirected to it and do not send "+
			"their cookies there. Ignore this warning if a proxy terminates TLS or rewrites the Host header without "+
			"X-Forwarded-Proto and X-Forwarded-Host"))
}

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
		return origin, &badRequest{cause: errorf(ErrUntrustedHost, "%w", suspiciousError(err))}
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
