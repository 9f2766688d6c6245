package core

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/sessioncookies"
	"github.com/latchkey-go/latchkey/internal/exchange"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/internal/storedtoken"
)

// SessionOptions tell [Auth.NewSession] how the application authenticated the user.
type SessionOptions struct {
	// AuthTime is when the application authenticated the user: time.Now() if it has just checked a password or a code. The
	// default is the zero time. It counts as long ago for [RecentSignIn] and for plugin actions that require a recent
	// sign-in. A time in the future counts as now.
	AuthTime time.Time
	// Methods are the authentication methods that the application used, such as [amr.Password]. The default is none.
	Methods []amr.Method
	// Remember reports that the user selected "Keep me signed in". It needs Session.RememberMe; without that option all
	// sessions last as long. The default is false: a short session.
	Remember bool
	// AskGates runs the sign-in gates, for example a second factor. If one of them holds the sign-in, NewSession returns a
	// [*HeldError] and the cookie of the pending sign-in. The default is false: the application vouches for the user.
	AskGates bool
}

// HeldError is returned by [Auth.NewSession] and [ActionRequest.SignInApp] if a sign-in gate holds the sign-in. There
// is no session yet. Set the cookies that NewSession has returned, and redirect the browser to URL. SignInApp stores no
// pending sign-in: the user must sign in in the browser.
type HeldError struct {
	// URL is the absolute URL of the page that continues the sign-in. Afterwards the browser opens the site.
	URL string
}

// Error says that the sign-in is pending.
func (e *HeldError) Error() string { return "core: a sign-in gate holds the sign-in" }

// issue creates the session of a sign-in and its cookies. No other function does (docs/protocol.md §7.6). Under
// StrategyDatabase account linking has already stored the session. sessionID is the public ID. It is empty if the
// session has none.
func (s *sessions) issue(
	ctx context.Context, r requestSession, id *identity, who member,
) (cookies []Cookie, sessionID string, err error) {
	c := r.carrier()
	s.exchanges.SignedIn(id.exchange(), c.at.browser(), who.user.ID)
	if cookies, sessionID, err = r.start(ctx, id, who); err != nil {
		return nil, sessionID, err
	}
	if id.actor == (actor{}) && !c.FromHeader && len(cookies) > 0 {
		cookies = append(cookies, ownCookies(c.ClearActor())...)
	}
	if id.actor == (actor{}) && !who.keepsSession {
		kept, err := s.keptAfterSignIn(ctx, c, who.user.ID)
		if err != nil {
			return nil, "", err
		}
		cookies = append(cookies, kept...)
	}
	switch {
	case who.session != nil && random.Same(c.Value(), who.session.Token):
	case who.keepsSession:
		c.NoteReplaced(sessioncookies.Updated)
	default:
		c.NoteReplaced(sessioncookies.Replaced)
	}
	return cookies, sessionID, nil
}

// exchange identifies the callback of an OAuth provider. It is the zero value for other sign-ins.
func (id *identity) exchange() exchange.Key {
	if id.oauth == nil {
		return exchange.Key{}
	}
	return id.oauth.exchange
}

// facts returns what the token of the new session contains of the authentication.
func (a authentication) facts() storedtoken.Facts {
	return storedtoken.Facts{
		AuthTime: a.time, Methods: audit.Texts(a.methods), ACR: a.acr, Actor: a.actor.Subject, ActorSession: a.actor.SID,
	}
}

// takeBack deletes the stored part of a session that no response sends. It works even if the request was canceled.
func (s *sessions) takeBack(ctx context.Context, v *arrival, who member, session string) {
	ctx = context.WithoutCancel(ctx)
	if who.session == nil {
		s.records.Remove(ctx, session)
		return
	}
	_, err := s.rows.Delete(ctx, string(who.session.Token))
	if err != nil && !errors.Is(err, ErrNotFound) {
		v.log.failure(ctx, errorf(ErrStore, "delete a session whose cookie was not sent: %w", err), v.attrs()...)
	}
}
