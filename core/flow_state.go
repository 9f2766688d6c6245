package core

import (
	"context"
	"slices"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/internal/cookie"
)

// checks bind a provider's callback to the browser and the session that started the sign-in.
type checks struct{ *flowstate.Keys }

// reauthRequest describes a re-authentication.
type reauthRequest = flowstate.Reauth

// flowsOf returns the pending sign-ins of the browser that sent a request.
func (s *checks) flowsOf(c *call) *flowstate.Browser {
	return &flowstate.Browser{
		Keys: s.Keys, Jar: c.jar, Cookies: c.cookies, CSRF: c.csrf.Token, HeaderLimit: c.r.HeaderLimit,
		Owner:   func(ctx context.Context) string { return c.session.Facts(ctx).Owner },
		Initial: plainCookies(c.initialCookies()),
	}
}

// browser identifies the browser of a request among repeated callbacks: by its CSRF cookie. It is empty without one.
func (v *arrival) browser() string {
	if v.cookies == nil {
		return ""
	}
	value, _ := v.jar.Raw(v.cookies.CSRF.Name())
	return value
}

func ownCookies(all []cookie.Cookie) (own []Cookie) {
	own = slices.Grow(own, len(all))
	for _, c := range all {
		own = append(own, Cookie(c))
	}
	return own
}

func plainCookies(own []Cookie) (all []cookie.Cookie) {
	for _, c := range own {
		all = append(all, cookie.Cookie(c))
	}
	return all
}

func (o CookieOptions) plain() cookies.Options {
	return cookies.Options{
		Name: o.Name, Domain: o.Domain, Path: o.Path, SameSite: o.SameSite, Priority: o.Priority, MaxAge: o.MaxAge,
		Script: o.HTTPOnly == False, Secure: o.Secure.choice(), Partitioned: o.Partitioned,
	}
}

// choice returns the value of an option, or nil for its default.
func (o OptionalBool) choice() *bool {
	if o == Default {
		return nil
	}
	on := o == True
	return &on
}
