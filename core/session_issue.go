package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/internal/exchange"
	"github.com/latchkey-go/latchkey/internal/random"
)

// SessionOptions tell [Auth.NewSession] how the application authenticated the user.
type SessionOptions struct {
	// AuthTime is when the application authenticated the user: time.Now() if it has just checked a password or a code. The
	// default is the zero time. It counts as long ago for [RecentSignIn] and for plugin actions that require a recent
	// sign-in. A time in the future counts as now.
	AuthTime time.Time
	// Methods are the authentication methods that the application used, such as [MethodPassword]. The default is none.
	Methods []Method
	// AskGates runs the sign-in gates, for example a second factor. If one of them holds the sign-in, NewSession returns a
	// [*HeldError] and the cookie of the pending sign-in. The default is false: the application vouches for the user.
	AskGates bool
}

// HeldError is returned by [Auth.NewSession] if a sign-in gate holds the sign-in. There is no session yet. Set the
// cookies that NewSession has returned, and redirect the browser to URL.
type HeldError struct {
	// URL is the absolute URL of the page that continues the sign-in. Afterwards the browser opens the site.
	URL string
}

// Error says that the sign-in is pending.
func (e *HeldError) Error() string { return "core: a sign-in gate holds the sign-in" }

// NewSession creates a session for a user outside the sign-in flows, for example after a registration form, and returns
// the cookies to set. The application vouches for the user: [SignInGate] functions are called only with
// SessionOptions.AskGates, and the error is a [*HeldError] if one of them holds the sign-in. Callbacks.JWT is called.
// Callbacks.SignIn and Events.SignIn are not. The session does not count as a recent sign-in unless options say when
// the user was authenticated. Pass at most one SessionOptions. Under StrategyDatabase the user must be in the store. If
// user is nil, NewSession returns an error.
func (a *Auth) NewSession(
	ctx context.Context, r *Request, user *User, options ...SessionOptions,
) ([]Cookie, error) {
	switch {
	case user == nil:
		return nil, errorf(ErrInvalidConfig, "NewSession: the user is nil: pass the user whose session it is")
	case len(options) > 1:
		return nil, errorf(ErrInvalidConfig, "NewSession: pass one SessionOptions at most")
	}
	a, err := a.resolve(ctx, r)
	if err != nil {
		return nil, err
	}
	v, err := a.site.arrive(r)
	if err != nil {
		return nil, err
	}
	session, err := a.sessions.ofCookies(ctx, &v)
	if err != nil {
		return nil, err
	}
	account := &Account{Type: TypeCredentials, Provider: "application", ProviderAccountID: user.ID}
	id := &identity{user: user.Clone(), account: account, methods: []Method{}, authTime: new(time.Time)}
	if len(options) == 1 {
		id.methods = append(id.methods, options[0].Methods...)
		if at, now := options[0].AuthTime, a.sessions.now(); at.After(now) {
			*id.authTime = now
		} else if at.Unix() > 0 {
			*id.authTime = at
		}
	}
	who := member{user: id.user}
	if len(options) == 1 && options[0].AskGates {
		c := &call{arrival: v, session: session, callbackURL: callbackURLs{target: v.home}}
		out := outcome{identity: id}
		next, err := a.plugins.runGates(ctx, c, &out, who, nil)
		if err == nil && next != "" {
			err = &HeldError{next}
		}
		if err != nil {
			return out.cookies, err
		}
	}
	if err := a.sessions.createStored(ctx, session.carrier(), id, &who); err != nil {
		return nil, err
	}
	cookies, sessionID, err := a.sessions.issue(ctx, session, id, who)
	if err == nil {
		cookies = append(cookies, a.sessions.away.forget(ctx, &v)...)
		v.decidedOf(ctx, audit.SignIn, "", user.ID, sessionID)
	}
	return cookies, err
}

// issue creates the session of a sign-in and its cookies. No other function does (docs/protocol.md §7.6). Under
// StrategyDatabase account linking has already stored the session. sessionID is the public ID. It is empty if the
// session has none.
func (s *sessions) issue(
	ctx context.Context, r requestSession, id *identity, who member,
) (cookies []Cookie, sessionID string, err error) {
	c := r.carrier()
	s.exchanges.SignedIn(id.exchange(), c.at.browser(), who.user.ID)
	if cookies, sessionID, err = r.start(ctx, id, who); err != nil {
		return nil, "", err
	}
	switch {
	case who.session != nil && random.Same(c.value(), who.session.Token):
	case who.keepsSession:
		c.noteReplaced(tokenUpdated)
	default:
		c.noteReplaced(tokenReplaced)
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

// takeBack deletes the stored part of a session that no response sends. It works even if the request was canceled.
func (s *sessions) takeBack(ctx context.Context, v *arrival, who member, session string) {
	ctx = context.WithoutCancel(ctx)
	if who.session == nil {
		s.records.Remove(ctx, session)
		return
	}
	_, err := s.rows.delete(ctx, string(who.session.Token))
	if err != nil && !errors.Is(err, ErrNotFound) {
		v.log.failure(ctx, errorf(ErrStore, "delete a session whose cookie was not sent: %w", err), v.attrs()...)
	}
}

// reauthentication describes what [ActionRequest.RenewSession] changes in a session.
type reauthentication struct {
	by      string   // the plugin
	methods []Method // the session's methods from now on
	now     bool     // the user has just authenticated again
	acr     string   // the class that a provider has just reported; if it is empty the session keeps its own
	moved   movedAddress
}

var errEndedMeanwhile = clientError(
	fmt.Errorf("ActionRequest.RenewSession: the session has ended since the request arrived: %w", ErrNotFound))
