package core

import (
	"context"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// arrival is a request as it arrived: its public origin and its cookies. It is all that a visit to a page of the
// application needs; a [call] is an arrival at an auth route. Nothing writes to it afterwards.
type arrival struct {
	*site
	r *Request

	*place
	jar cookie.Jar
	// locale is the language of the answer; nil: nobody has asked, see language.
	locale *ui.Locale

	// action and providerID are those of an auth route, the provider one that is configured. They are in the log.
	action, providerID string
	// number tells the requests of this process apart.
	number uint64
	// misconfigured is the reference of a request that no Auth answers.
	misconfigured string
}

// unsettled is a request of which nothing is known yet, nor may ever be: enough for an answer that refuses it.
func (s *site) unsettled(r *Request) arrival {
	return arrival{site: s, r: r, place: s.nowhere, number: s.failures.next()}
}

// settle finds out place and cookies. Where the origin is refused, the arrival serves for the answer as it is.
func (v *arrival) settle() error {
	settled, err := v.settlePlace(v.r)
	if err != nil {
		return err
	}
	v.place, v.jar = settled, cookie.Parse(v.r.Header["Cookie"])
	return nil
}

// arrive is the settled arrival of a request.
func (s *site) arrive(r *Request) (arrival, error) {
	v := s.unsettled(r)
	err := v.settle()
	return v, err
}

// header returns the first value of a header under its canonical name.
func (v *arrival) header(name string) string { return first(v.r.Header, name) }

// presentsSession reports whether the request has a session cookie or a bearer token, valid or not.
func (v *arrival) presentsSession() bool {
	name := v.cookies.session.name()
	return v.jar.Has(name) || v.jar.Has(name+".0") || v.byBearer()
}

// page returns the address of a built-in page, or of the application's own with the parameters added to its query.
func (v *arrival) page(own, action string, params ...string) (string, error) {
	if own == "" {
		own = v.base + "/" + action
	}
	return weburl.AddQuery(own, params...)
}

// place is a public origin of the application with what follows from it. Requests share it: nothing writes to it.
type place struct {
	at weburl.Origin
	// origin is at as text, base the public URL of the auth routes, home that of the application.
	origin, base, home string
	// homeInCookie is home as the callback URL cookie has it.
	homeInCookie string
	// cookies are those of the origin's scheme; nil where the origin is not known.
	cookies *cookieSet
}

// settlePlace finds the place of a request. Nearly all requests of a site are made to the same one, so the last is
// kept: a stranger who makes up hosts costs what resolving them costs.
func (s *site) settlePlace(r *Request) (*place, error) {
	if s.pinned {
		s.compareVisited(r)
		if p := s.last.Load(); p != nil {
			return p.place, nil
		}
		p := s.placeOf(s.origins.Pinned)
		s.last.Store(&answered{place: p})
		return p, nil
	}
	says, plain := asked{}, false
	if s.origins.TrustHost { // else more of the request counts than what it asks for
		if says, plain = askedBy(r, s.fromTrustedProxy(r)); plain {
			if last := s.last.Load(); last != nil && last.asked == says {
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
		s.last.Store(&answered{says, p})
	}
	return p, nil
}

// asked is what a request says about the origin that it was made to. Two requests that say the same were made to the
// same place.
type asked struct {
	scheme, host, forwardedHost, forwardedProto string
	// believed: the forwarded headers count.
	believed bool
}

// answered is the place of a request.
type answered struct {
	asked
	place *place
}

// askedBy reads a request; false: it says something twice, which has to be looked at each time.
func askedBy(r *Request, believed bool) (asked, bool) {
	host, proto := r.Header["X-Forwarded-Host"], r.Header["X-Forwarded-Proto"]
	if len(r.Hosts) != 1 || len(host) > 1 || len(proto) > 1 || r.Target == "" || r.Target[0] != '/' {
		return asked{}, false
	}
	a := asked{scheme: r.Scheme, host: r.Hosts[0], believed: believed}
	if len(host) == 1 {
		a.forwardedHost = host[0]
	}
	if len(proto) == 1 {
		a.forwardedProto = proto[0]
	}
	return a, true
}

// compareVisited warns, once, when visitors ask for another origin than the configured one: they are sent to the
// configured one, and seem to be signed out. Whose request it is does not matter, so a stranger can bring about this
// one line and no more.
func (s *site) compareVisited(r *Request) {
	if s.elsewhere.Load() {
		return
	}
	host, scheme := r.Hosts, r.Scheme
	if forwarded := r.Header["X-Forwarded-Host"]; len(forwarded) > 0 {
		host = forwarded
	}
	if forwarded := r.Header["X-Forwarded-Proto"]; len(forwarded) > 0 {
		scheme = forwarded[0]
	}
	// Nearly always, and without parsing.
	if len(host) == 1 && host[0] == s.origins.Pinned.Host && scheme == s.origins.Pinned.Scheme {
		return
	}
	asked := weburl.Options{TrustHost: true, ForwardedTrusted: true}
	forwardedHost, forwardedProto := r.Header["X-Forwarded-Host"], r.Header["X-Forwarded-Proto"]
	visited, err := weburl.ResolveOrigin(asked, r.Scheme, r.Hosts, forwardedHost, forwardedProto)
	if err != nil || visited == s.origins.Pinned || s.elsewhere.Swap(true) {
		return
	}
	s.log.warn(context.Background(), warnVisitedElsewhere,
		slog.String("visited", visited.String()), slog.String("configured", s.pinnedOrigin),
		slog.String("hint", "URL (AUTH_URL) names another origin than visitors ask for: they are sent there and "+
			"their cookies do not follow. Nothing is wrong where a server in front ends TLS or rewrites the Host header "+
			"without X-Forwarded-Proto and X-Forwarded-Host"))
}
