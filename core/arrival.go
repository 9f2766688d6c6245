package core

import (
	"github.com/latchkey-go/latchkey/core/internal/cookie"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// arrival is a request as it arrived: its public origin and its cookies. It is all that a visit to a page of the
// application needs; a [call] is an arrival at an auth route. Nothing writes to it afterwards.
type arrival struct {
	*site
	r *Request

	at      weburl.Origin
	origin  string // at, as text
	cookies *cookieSet
	jar     cookie.Jar

	// action and providerID are those of an auth route, the provider one that is configured. They are in the log.
	action, providerID string
	// misconfigured is the reference of a request that no Auth answers.
	misconfigured string
}

// arrive settles origin, cookie set and cookies of a request. Where the origin is refused, the arrival serves for the
// answer.
func (s *site) arrive(r *Request) (arrival, error) {
	v := arrival{site: s, r: r}
	if s.pinned {
		v.at, v.origin = s.origins.Pinned, s.pinnedOrigin
		s.compareVisited(r)
	} else {
		at, err := s.resolveOrigin(r)
		if err != nil {
			return v, err
		}
		v.at, v.origin = at, at.String()
	}
	v.cookies = s.cookieSets[0]
	if v.at.Scheme == "https" {
		v.cookies = s.cookieSets[1]
	}
	v.jar = cookie.Parse(r.Header["Cookie"])
	return v, nil
}

// header returns the first value of a header under its canonical name.
func (v *arrival) header(name string) string { return first(v.r.Header, name) }

// base is the public URL of the auth routes.
func (v *arrival) base() string { return v.origin + v.publicBase }

// home is the public URL of the application.
func (v *arrival) home() string {
	if v.publicPath == "" {
		return v.origin
	}
	return v.origin + v.publicPath + "/"
}

// page returns the address of a built-in page, or of the application's own with the parameters added to its query.
func (v *arrival) page(own, action string, params ...string) (string, error) {
	if own == "" {
		own = v.base() + "/" + action
	}
	return weburl.AddQuery(own, params...)
}
