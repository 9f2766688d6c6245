package core

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
