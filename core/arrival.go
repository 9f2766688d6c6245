package core

import (
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
	// misconfigured is the reference of a request that no Auth answers.
	misconfigured string
}

// unsettled is a request of which nothing is known yet, nor may ever be: enough for an answer that refuses it.
func (s *site) unsettled(r *Request) arrival { return arrival{site: s, r: r, place: s.nowhere} }

// arrive settles place and cookies of a request. Where the origin is refused, the arrival serves for the
// answer.
func (s *site) arrive(r *Request) (arrival, error) {
	v := s.unsettled(r)
	settled, err := s.settlePlace(r)
	if err != nil {
		return v, err
	}
	v.place = settled
	v.jar = cookie.Parse(r.Header["Cookie"])
	return v, nil
}

// header returns the first value of a header under its canonical name.
func (v *arrival) header(name string) string { return first(v.r.Header, name) }

// page returns the address of a built-in page, or of the application's own with the parameters added to its query.
func (v *arrival) page(own, action string, params ...string) (string, error) {
	if own == "" {
		own = v.base + "/" + action
	}
	return weburl.AddQuery(own, params...)
}
