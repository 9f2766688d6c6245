package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	sessiontoken "github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/negotiate"
	"github.com/latchkey-go/latchkey/ui"
)

// maxActorID is the maximum length of an ID in the token of a stored session, whose column has 255 characters.
const maxActorID = 80

// impersonation is what a plugin passed to PluginHost.AllowImpersonation.
type impersonation struct {
	// end is the path of the action that ends an impersonation.
	end   string
	check func(ctx context.Context, by *Session, userID string) error
}

// actor is who impersonates the user of a session: a user and the public ID of that user's session. The session token
// contains both. The token of the actor's session is in a second cookie, which must belong to that session.
type actor = sessiontoken.ActorClaim

// actorOf returns the ID of the user who impersonates the user of a request, for the audit log. It is empty if there is
// none.
func (s *sessions) actorOf(ctx context.Context, v *arrival) string {
	if !s.actorTokens(v).Any() {
		return ""
	}
	session, err := s.choose(ctx, s.carrierOf(v)) // not restore, which has events itself
	if err != nil || session.ExpiredActor() != (actor{}) {
		return ""
	}
	return session.Facts(ctx).Actor.Subject
}

// actorTokens returns the token of an administrator's own session in the second cookie.
func (s *sessions) actorTokens(v *arrival) (none cookie.Joined) {
	if v.cookies == nil {
		return none
	}
	b := s.browserOf(v)
	return b.Actor()
}

// restore is choose for the cookies of a request. After an impersonation has expired, it returns the administrator's
// own session instead, if that is still valid. Only a browser that opens a page gets it: another request of a page that
// still shows the impersonated user must not act as the administrator.
func (s *sessions) restore(ctx context.Context, c tokenCarrier) (requestSession, error) {
	r, err := s.choose(ctx, c)
	if err != nil || s.impersonation == nil || c.FromHeader || !c.Actor().Any() {
		return r, err
	}
	by := r.ExpiredActor()
	if by == (actor{}) {
		return r, nil
	}
	if method := c.at.r.Method; method != http.MethodGet && method != http.MethodHead ||
		c.at.caller() != negotiate.Browser {
		r.carrier().Waits = true
		return r, nil
	}
	if current, err := r.current(ctx); err != nil || current != nil { // deletes the stored session
		return r, err
	}
	own, session, err := s.actorSession(ctx, c.at, by)
	if err != nil || session == nil {
		return r, err
	}
	value := own.carrier().Value()
	s.replaced.Forget(value)
	c.Tokens, c.Restored = c.Tokens.With(value), true
	return s.choose(ctx, c)
}

// errImpersonationEnded means that an impersonated session is not valid: the administrator is signed out, or may not
// impersonate the user any more.
var errImpersonationEnded = errormarks.ByClient(errors.New("the impersonation has ended"))

// checkActor returns the own session of the user who impersonates userID, or nil without impersonation. It runs with
// each request, so that the end of that session, or of the permission, ends the impersonation. The error is
// errImpersonationEnded, or of type ErrSessionToken if the result is unknown.
func (s *sessions) checkActor(ctx context.Context, c *tokenCarrier, by actor, userID string) (*Session, error) {
	if by == (actor{}) {
		return nil, nil
	}
	if s.impersonation == nil || c.FromHeader {
		return nil, errImpersonationEnded
	}
	_, session, err := s.actorSession(ctx, c.at, by)
	switch {
	case err != nil:
		return nil, unknownSession(err)
	case session == nil || userID == by.Subject:
		return nil, errImpersonationEnded
	}
	return session, s.askImpersonation(ctx, session, userID)
}

// askImpersonation asks the plugin whether a user may impersonate another one.
func (s *sessions) askImpersonation(ctx context.Context, by *Session, userID string) error {
	err := guard("impersonation check", func() error { return s.impersonation.check(withoutVisit{ctx}, by, userID) })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrForbidden), errors.Is(err, ErrAccessDenied), errors.As(err, new(*StepUp)):
		return fmt.Errorf("%w: %w", errImpersonationEnded, err)
	}
	return errormarks.Typed(err, ErrSessionToken, errormarks.ByServer)
}

// withoutVisit hides the visit of a request: its session is being read.
type withoutVisit struct{ context.Context }

func (c withoutVisit) Value(key any) any {
	switch key.(type) {
	case visitKey, visitOf:
		return nil
	}
	if key == ui.StateKey() {
		return nil
	}
	return c.Context.Value(key)
}

// withActor returns a session with that of the user who impersonates its user. It returns nil if the impersonation has
// ended.
func (s *sessions) withActor(ctx context.Context, r requestSession, v *validSession) (*validSession, error) {
	by, err := s.checkActor(ctx, r.carrier(), r.Facts(ctx).Actor, v.user.ID)
	switch {
	case errors.Is(err, errImpersonationEnded):
		return nil, nil
	case err != nil:
		return nil, err
	}
	v.actor = by
	return v, nil
}

// actorSession returns the session in the second cookie, if it is the one that started the impersonation and is valid.
// Otherwise the session is nil.
func (s *sessions) actorSession(ctx context.Context, v *arrival, by actor) (requestSession, *Session, error) {
	own, err := s.sessionIn(ctx, v, s.actorTokens(v))
	if err != nil || own.Facts(ctx).Actor != (actor{}) { // an impersonation is not nested
		return own, nil, err
	}
	session, _, err := s.read(ctx, own, sessionRead{again: true})
	if err != nil || session == nil || session.UserID != by.Subject || session.ID != by.SID {
		return own, nil, err
	}
	return own, session, nil
}

// used records that a session was used, or sets its actor. by is nil without impersonation.
func (s *sessions) used(ctx context.Context, session, by *Session) *Session {
	switch {
	case by != nil:
		session.Actor, session.actorName = by.UserID, by.title()
	case s.facts:
		s.records.Use(ctx, session.ID, session.Expires)
	}
	return session
}

// title returns the address, the name or the ID of the user of a session.
func (s *Session) title() string {
	if s.User == nil {
		return s.UserID
	}
	return cmp.Or(s.User.Email, s.User.Name, s.UserID)
}

// textImpersonated is the message of a refused change.
var textImpersonated = ui.Text{
	Key: "impersonation.refused", English: "You can't do this while you use another person's account.",
}

// readFor finds the session of a request. It returns an error if the user is impersonated, unless the action declares
// that it is for them too, so that an impersonation changes nothing.
func (s *sessions) readFor(ctx context.Context, to *rule, c *call) (err error) {
	if c.session, err = s.of(ctx, &c.arrival); err != nil || to.impersonated || s.impersonation == nil {
		return err
	}
	userID, by := "", c.session.Facts(ctx).Actor
	if by == (actor{}) || c.session.ExpiredActor() != (actor{}) {
		return nil
	}
	if current, err := c.session.current(ctx); err == nil && current != nil {
		userID = current.user.ID
	}
	c.note(ctx, audit.Event{
		Name: audit.ImpersonationRefused, Outcome: audit.Refused, UserID: userID, ActorID: by.Subject,
	})
	problem := &Problem{Status: http.StatusForbidden, Code: "impersonated", Text: textImpersonated}
	if c.plugin {
		return problem
	}
	return errorf(ErrAccessDenied, "%w", errormarks.ByClient(problem))
}

// endActor ends the own session of a user who signs out during an impersonation. It returns false if there is none.
func (s *sessions) endActor(ctx context.Context, v *arrival) (there bool) {
	tokens := s.actorTokens(v)
	if !tokens.Any() {
		return false
	}
	own, err := s.sessionIn(ctx, v, tokens)
	if err == nil {
		_, err = own.end(ctx)
	}
	if err != nil {
		v.log.failure(ctx, errormarks.Typed(err, autherr.SignOut), v.attrs()...)
	}
	return true
}
