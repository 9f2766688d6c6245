package core

import (
	"context"
	"errors"
	"net/http"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/sessioncookies"
	"github.com/latchkey-go/latchkey/internal/accountcookie"
	"github.com/latchkey-go/latchkey/ui"
)

// Several accounts in one browser (PluginHost.KeepSessions). The session cookie has the session of the active account,
// as without the plugin. Package sessioncookies has the cookies of the others. A kept session is not read and not
// renewed until the user switches to it, so a switch changes neither its age nor how its user authenticated.

// keptSessions is the configuration of several accounts in one browser.
type keptSessions struct {
	// page is the action that lists the accounts.
	page string
	keys accountcookie.Keys
	// provisional describes users without kept sessions. It is nil if no plugin allows them.
	provisional *provisional
}

// changeKept starts a change of the accounts of a browser.
func (s *sessions) changeKept(v *arrival) (*sessioncookies.Change, error) {
	b := s.browserOf(v)
	return b.Change(func() (string, error) { return randomText(s.jwt.Rand) })
}

// finishKept ends the sessions that newer ones replace, and returns the cookies to set.
func (s *sessions) finishKept(ctx context.Context, v *arrival, change *sessioncookies.Change) []Cookie {
	for _, other := range change.Ended {
		if _, err := s.endKept(ctx, v, &other); err != nil {
			v.log.failure(ctx, errorf(ErrStore, "end an earlier session of the same user: %w", err), v.attrs()...)
		}
	}
	return ownCookies(change.Cookies())
}

// accountsFull is the response if no further account fits.
func accountsFull() *Problem {
	return &Problem{
		Status: http.StatusConflict, Code: "accounts_full", unlogged: true,
		Text: ui.Text{
			Key:     "problem.accounts.full",
			English: "No further account fits in this browser. Sign out of one of them first.",
		},
	}
}

// endKept ends the session of another account.
func (s *sessions) endKept(ctx context.Context, v *arrival, k *sessioncookies.Account) (SignOutEvent, error) {
	r, err := s.sessionIn(ctx, v, k.Tokens())
	if err != nil {
		return SignOutEvent{}, err
	}
	event, err := r.end(ctx)
	var typed *Error
	if err != nil && s.config.Strategy == StrategyJWT && !errors.As(err, &typed) { // the token has expired
		err = nil
	}
	return event, err
}

// keeping is the decision about the session that a sign-in replaces.
type keeping struct {
	userID string                 // who signs in
	before string                 // the user of the session
	change *sessioncookies.Change // nil if the session is not kept
}

// keepsReplaced reports whether the session of a request is kept when userID signs in: its user is another one, not
// provisional and not impersonated, and there is room for it.
func (s *sessions) keepsReplaced(ctx context.Context, c *tokenCarrier, userID string) bool {
	if s.kept == nil || c.FromHeader || c.Value() == "" {
		return false
	}
	if c.keeping != nil && c.keeping.userID == userID {
		return c.keeping.change != nil
	}
	c.keeping = &keeping{userID: userID}
	r, err := s.choose(ctx, *c)
	if err != nil {
		return false
	}
	current, err := r.current(ctx)
	if err != nil || current == nil || !s.kept.canKeep(current) || current.user.ID == userID {
		return false
	}
	change, err := s.changeKept(c.at)
	if err != nil {
		return false
	}
	change.Replace(userID)
	if !change.Add(current.user.ID, c.Value(), current.cookieEnds, len(c.Value())) {
		c.at.log.info(ctx, "a sign-in ends the session of another account: no further account fits in the browser",
			c.at.attrs()...)
		return false
	}
	c.keeping.before, c.keeping.change = current.user.ID, change
	return true
}

// canKeep reports whether a session can become that of another account.
func (k *keptSessions) canKeep(v *validSession) bool {
	return v.actor == nil && v.user.ID != "" && !k.provisional.has(v.methods)
}

// keptAfterSignIn returns the cookies of the other accounts after a sign-in: that of the session which was replaced,
// and without the earlier session of the same user.
func (s *sessions) keptAfterSignIn(ctx context.Context, c *tokenCarrier, userID string) ([]Cookie, error) {
	if s.kept == nil || c.FromHeader {
		return nil, nil
	}
	if !s.keepsReplaced(ctx, c, userID) {
		change, err := s.changeKept(c.at)
		if err != nil {
			return nil, err
		}
		if change.Replace(userID); len(change.Ended) == 0 {
			return nil, nil
		}
		return s.finishKept(ctx, c.at, change), nil
	}
	cookies, err := c.at.renewCSRF()
	if err != nil {
		return nil, err
	}
	c.at.decided(ctx, audit.SessionKept, "", c.keeping.before)
	return append(cookies, s.finishKept(ctx, c.at, c.keeping.change)...), nil
}

// renewCSRF returns the cookie with a new CSRF token, so that forms of the earlier account are refused.
func (v *arrival) renewCSRF() ([]Cookie, error) {
	value, err := v.csrf.New()
	if err != nil {
		return nil, err
	}
	return []Cookie{Cookie(v.cookies.CSRF.Set(value))}, nil
}

// keptUser returns the user of another account. If its session has ended, signedIn is false, and the user is as the
// store or the session token describes them. It returns nil if there is no such user.
func (s *sessions) keptUser(
	ctx context.Context, v *arrival, k *sessioncookies.Account,
) (user *User, signedIn bool, err error) {
	r, err := s.sessionIn(ctx, v, k.Tokens())
	if err != nil {
		return nil, false, err
	}
	current, err := r.current(ctx)
	switch {
	case err != nil:
		return nil, false, errormarks.As(err, ErrSessionToken)
	case current != nil:
		return current.user, true, nil
	}
	if s.jwt.Users != nil {
		user, err := s.jwt.Users.User(ctx, k.UserID)
		if err == nil {
			return user, false, nil
		}
		if !errors.Is(err, ErrNotFound) {
			return nil, false, errorf(ErrStore, "read the user of another account: %w", err)
		}
	}
	t := s.jwt.Expired(v.cookies, k.Token) // nil after the secret was replaced, and for a stored session
	if t == nil {
		return nil, false, nil
	}
	return &User{ID: k.UserID, Name: t.Name, Email: t.Email, Image: t.Picture}, false, nil
}

// browserAccounts lists the accounts of a browser. active is the session of the request, or nil. It reads the kept
// sessions without renewing them, and they do not count as used.
func (s *sessions) browserAccounts(ctx context.Context, v *arrival, active *Session) (all []BrowserAccount, err error) {
	if s.kept == nil {
		return nil, errKeepsNone
	}
	b := s.browserOf(v)
	if active != nil && active.User != nil && !s.kept.provisional.has(active.Methods) {
		all = append(all, BrowserAccount{
			Ref: b.Ref(active.UserID), UserID: active.UserID,
			User: shownUser(active.UserID, active.User), Active: true, SignedIn: true,
		})
	}
	for _, k := range b.Accounts() {
		if active != nil && active.UserID == k.UserID {
			continue
		}
		user, signedIn, err := s.keptUser(ctx, v, &k)
		if err != nil {
			return nil, err
		}
		if user != nil {
			all = append(all, BrowserAccount{
				Ref: k.Ref, UserID: k.UserID, User: shownUser(k.UserID, user), SignedIn: signedIn,
			})
		}
	}
	return all, nil
}

func shownUser(id string, u *User) *User {
	return &User{ID: id, Name: u.Name, Email: u.Email, Image: u.Image}
}

// accountsLink returns the link of the sign-in page to the accounts of the browser.
func (s *sessions) accountsLink(c *call) []ui.Link {
	if b := s.browserOf(&c.arrival); len(b.Accounts()) == 0 {
		return nil
	}
	text := ui.Text{Key: "signin.accounts", English: "Choose an account"}
	return []ui.Link{{Label: c.language().Say(text), Action: s.kept.page}}
}

var errKeepsNone = errors.New("core: several accounts in one browser: call PluginHost.KeepSessions in Attach")

// BrowserAccount is an account of a browser with several of them.
type BrowserAccount struct {
	// Ref identifies the account in requests of this browser. It is a keyed hash and no secret.
	Ref string
	// UserID is the ID of the user. User has only the ID, the name, the email address and the image.
	UserID string
	User   *User
	// Active reports whether the account is the one of [ActionRequest.Session]. SignedIn is false if its session has
	// expired or was ended: the user must sign in again.
	Active, SignedIn bool
}
