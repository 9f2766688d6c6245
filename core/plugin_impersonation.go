package core

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/internal/sessioncookies"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/ui"
)

// AllowImpersonation allows [ActionRequest.Impersonate]. check decides whether the user of a session may impersonate
// another user. Core calls it at the start and with each request of an impersonated session, which ends if check
// returns [ErrForbidden], a *[StepUp] or an error of type [ErrAccessDenied]. Another error means that the decision
// failed. The context of check has no visit. end is the path of a POST action of the plugin that ends the
// impersonation; pages have a button for it. Impersonated sessions must be revocable: under [StrategyJWT], a
// configuration without Session.Revocation is a configuration error.
func (h *PluginHost) AllowImpersonation(
	end string, check func(ctx context.Context, by *Session, userID string) error,
) {
	h.attaching("AllowImpersonation")
	h.needs(check != nil, "the function of AllowImpersonation")
	h.TrackAuthentication()
	h.EndsSessions()
	if h.plugins.impersonation != nil {
		h.fault("another plugin allows impersonation: configure one of them")
		return
	}
	h.plugins.impersonation = &impersonation{end, check}
}

// Impersonate starts a session of another user, in which [Session.Actor] is the current user. The current session stays
// valid, in a second cookie; the new session needs it. It lasts one hour and is not renewed. Then a browser that opens
// a page has its own session again, if that is still valid. The action's Method must be POST. The error is of type
// [ErrNotFound] if there is no such user, and [ErrForbidden] if the current user may not impersonate them: the function
// of [PluginHost.AllowImpersonation] decides, a user cannot impersonate themselves, and an impersonated session cannot
// start another one. It is a *[Problem] with the code "session_too_large" if the router cannot read the cookies of both
// sessions.
func (c *ActionRequest) Impersonate(ctx context.Context, userID string) error {
	s := c.plugins.auth.sessions
	session, err := c.Session(ctx)
	switch {
	case c.in.r.Method != http.MethodPost:
		return errNeedsPost
	case s.impersonation == nil:
		return errNotAllowed
	case err != nil:
		return err
	case session == nil:
		return errSignedOut("Impersonate")
	case session.Actor != "" || session.UserID == userID || session.ID == "" || c.ByBearer() ||
		len(session.UserID) > maxActorID:
		return ErrForbidden
	}
	user, err := c.plugins.auth.store.User(ctx, userID)
	if err != nil {
		return err
	}
	if err := s.askImpersonation(ctx, session, user.ID); err != nil {
		if errors.Is(err, errImpersonationEnded) {
			return ErrForbidden
		}
		return err
	}
	id := &identity{
		user: user.Clone(), methods: []amr.Method{}, authTime: new(time.Time),
		actor:   actor{Subject: session.UserID, SID: session.ID},
		account: &Account{Type: TypeCredentials, Provider: "impersonation", ProviderAccountID: user.ID},
	}
	expires := s.rows.CookieExpiry(c.in.session.Facts(ctx).Short, session.Expires)
	who := member{user: id.user}
	if s.config.Strategy == StrategyDatabase {
		if err := s.newRow(ctx, id, &who); err != nil {
			return err
		}
	}
	cookies, sessionID, err := s.issue(ctx, c.in.session, id, who)
	var all []cookie.Cookie
	if err == nil {
		all, err = c.in.session.carrier().Impersonate(plainCookies(cookies), expires)
	}
	if err == nil {
		err = c.plugins.checkUser(ctx, user.ID)
	}
	if err != nil {
		s.takeBack(ctx, &c.in.arrival, who, sessionID)
		if errors.As(err, new(*sessioncookies.LimitError)) {
			err = &Problem{Status: http.StatusConflict, Code: "session_too_large", Cause: err, Text: ui.Text{
				Key:     "impersonation.too-large",
				English: "Both sessions together are too large for this site. Its operators find the limit in the log.",
			}}
		}
		return err
	}
	c.replaceSession(ownCookies(all))
	return nil
}

// EndImpersonation ends an impersonated session. If the own session of the administrator is still valid, it continues,
// and restored is true. Otherwise the browser has no session. The action's Method must be POST and the action must
// set [Action.Impersonated]. If the session is not impersonated, the error is [ErrForbidden].
func (c *ActionRequest) EndImpersonation(ctx context.Context) (restored bool, err error) {
	session, err := c.Session(ctx)
	switch {
	case c.in.r.Method != http.MethodPost:
		return false, errNeedsPost
	case err != nil:
		return false, err
	case session == nil || session.Actor == "":
		return false, ErrForbidden
	}
	s, r := c.plugins.auth.sessions, c.in.session
	by := r.Facts(ctx).Actor
	own, before, err := s.actorSession(ctx, &c.in.arrival, by) // first: after the end, the request cannot be repeated
	if err != nil {
		return false, err
	}
	r.carrier().NoteReplaced(sessioncookies.SignedOut)
	if _, err := r.end(ctx); err != nil {
		s.replaced.Forget(r.carrier().Value())
		return false, err
	}
	if before == nil {
		c.replaceSession(r.carrier().clear())
		return false, nil
	}
	cookies, err := r.carrier().set(own.carrier().Value(), s.rows.CookieExpiry(own.Facts(ctx).Short, before.Expires))
	if err != nil {
		return false, err
	}
	s.replaced.Forget(own.carrier().Value())
	c.replaceSession(append(cookies, ownCookies(r.carrier().ClearActor())...))
	return true, nil
}

// errNotAllowed is the error of Impersonate if no plugin has called AllowImpersonation.
var errNotAllowed = errors.New("core: ActionRequest.Impersonate: call PluginHost.AllowImpersonation in Attach")
