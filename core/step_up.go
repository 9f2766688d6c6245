package core

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/ui"
)

const (
	// stepUpCookie is the plugin cookie with the requested step-up.
	stepUpCookie = "step-up"
	// stepUpFor is the lifetime of that cookie.
	stepUpFor = 15 * time.Minute
	// stepUpAge is the maximum age of a sign-in if the guard specifies none.
	stepUpAge = 5 * time.Minute
)

// requestedStepUp is the requirement of a guard that the user authenticates again. It is in an encrypted cookie until
// then. It only determines the request to the provider and the next page: [Session.AuthTime] never depends on it.
type requestedStepUp struct {
	// MaxAge is StepUp.MaxAge in seconds, rounded down.
	MaxAge int64 `json:"age"`
}

// requestStepUp returns the cookie that requests a step-up.
func (ps *plugins) requestStepUp(v *arrival, by *StepUp) (Cookie, error) {
	request := requestedStepUp{MaxAge: max(0, int64(by.MaxAge/time.Second))}
	return ps.cookie(v, stepUpCookie, request, ps.now().Add(stepUpFor))
}

// requestedStepUp returns the step-up that a guard has requested from this browser.
func (ps *plugins) requestedStepUp(v *arrival) (request requestedStepUp, found bool) {
	found = ps.readCookie(v, stepUpCookie, &request)
	return request, found
}

// accepts reports whether an authentication is recent enough.
func (r requestedStepUp) accepts(at, now time.Time) bool {
	limit := time.Duration(r.MaxAge) * time.Second
	if limit == 0 {
		limit = stepUpAge
	}
	return now.Sub(at) <= limit
}

// authenticatedAt returns the auth_time of the ID token, at most now. known is false if there is none. An invalid value
// is the zero time.
func (t *TokenSet) authenticatedAt(now time.Time) (at time.Time, known bool) {
	claim := t.Claims[authTime]
	if claim == nil {
		return time.Time{}, false
	}
	number, _ := claim.(json.Number)
	seconds, ok := exactjson.Floor([]byte(number))
	switch {
	case !ok || seconds <= 0:
		return time.Time{}, true
	case seconds > now.Unix():
		return now, true
	}
	return time.Unix(seconds, 0), true
}

// dateAuthentication determines when the provider authenticated the user. A provider may sign in a user without any
// interaction. So if a user is already signed in, the sign-in counts as recent only if the ID token or the
// configuration says so. Otherwise the AuthTime of the current session stays. If no user was signed in, or if the
// sign-in switches to another user, the time is now unless the ID token has an auth_time.
func (s *signIns) dateAuthentication(ctx context.Context, c *call, id *identity) error {
	if !id.byOAuth() || !s.sessions.facts {
		return nil
	}
	if at, known := id.oauth.tokens.authenticatedAt(s.sessions.now()); known {
		id.authTime = &at
	}
	if id.started == flowSwitches {
		return nil
	}
	current, err := c.session.current(ctx)
	if err != nil || current == nil {
		return err
	}
	id.oauth.current, id.oauth.currentAuthTime = current.user.ID, current.authTime
	id.oauth.unconfirmed = id.authTime == nil && id.oauth.client.Reauthenticates != True
	return nil
}

// settleStepUp completes a requested step-up if the sign-in is recent enough. If it is not, stale is true: the guard
// would refuse the session again.
func (s *signIns) settleStepUp(c *call, out *outcome, who member) (stale bool) {
	request, requested := s.plugins.requestedStepUp(&c.arrival)
	if !requested || who.keepsSession {
		return false
	}
	id, now := out.identity, s.sessions.now()
	if id.isCurrent(who.user.ID) && !request.accepts(id.authenticatedAt(now, who.user.ID).time, now) {
		return true
	}
	spec := c.partCookie(stepUpCookie)
	out.cookies = append(out.cookies, spec.clear(spec.name()))
	return false
}

// staleSignIn is the error code of the sign-in page if a provider has not authenticated the user again.
const staleSignIn = "StaleSignIn"

// stalePage returns the response to a step-up that the provider did not confirm: the sign-in page with the reason, all
// sign-in methods and a sign-out link. It never redirects and never uses the application's own sign-in page, because
// either could start the same sign-in again.
func (s *signIns) stalePage(ctx context.Context, c *call, out *outcome) *Response {
	back := or(out.returnTo, c.callbackURL.target)
	view := ui.SignInView{
		Page: s.pages.shell(&c.arrival), CSRFToken: c.csrf.token, CallbackURL: back, Error: staleSignIn,
		SignOutURL: c.base + "/signout?" + url.Values{"callbackUrl": {back}}.Encode(),
	}
	response := s.pages.renderSignIn(ctx, c, view)
	if response.Status == 0 {
		response.Status = http.StatusForbidden
	}
	return response
}
