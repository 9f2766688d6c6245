package core

import "github.com/latchkey-go/latchkey/core/internal/weburl"

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
