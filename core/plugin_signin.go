package core

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/reauth"
	"github.com/latchkey-go/latchkey/core/internal/sessionlist"
	"github.com/latchkey-go/latchkey/internal/callbackurl"
)

// SignIn describes a sign-in of a user whom a plugin has authenticated.
type SignIn struct {
	// User is the user who signs in. Under the database strategy the user must be in the store. If Create is set, User
	// is the user that Create is going to create, as Callbacks.SignIn sees them.
	User *User
	// Account is the account that the user signed in with. If it is nil, it is an account of type credentials whose
	// provider is the action's Name.
	Account *Account
	// Methods lists how the user authenticated.
	Methods []amr.Method
	// Created reports that the plugin has just created the user: Events.CreateUser is called, and the browser is
	// redirected to Pages.NewUser. If Callbacks.SignIn denies the sign-in, the user stays in the store: set Create
	// instead.
	Created bool
	// Create, if not nil, creates the user and returns them as stored. It is called once, after Callbacks.SignIn has
	// allowed the sign-in, so that a denied sign-up writes nothing. If it returns an error, the sign-in fails; a
	// [*Problem] becomes the response. Create implies Created.
	Create func(ctx context.Context) (*User, error)
	// Upgrade, if not nil, is called instead of Create if the browser's session is that of a provisional user such as a
	// guest. It returns that user with the data of the sign-up; see [PluginHost.UpgradeUser]. If the user cannot be
	// upgraded any more, it does what Create does. If Upgrade is nil, Create is called, and the new user counts as an
	// existing one.
	Upgrade func(ctx context.Context, provisional *User) (*User, error)
	// Passkey, if not nil, is the passkey that the new user signs up with. Create and Upgrade must store it in the
	// transaction that creates or upgrades the user. Account and Methods are ignored. The sign-in replaces the session
	// of another user and links nothing to that user.
	Passkey *NewUserPasskey
	// CallbackURL is where the browser goes after the sign-in. The default is [ActionRequest.CallbackURL]. It passes
	// Callbacks.Redirect.
	CallbackURL string
	// StartedBy is the ID of the guest who was signed in when the sign-in was started, for the result of
	// [ActionRequest.VerifyIDToken]: only that guest is upgraded or merged. If it is empty, no guest is.
	StartedBy string

	// identity is set by VerifyIDToken.
	identity *identity
}

// SignIn signs a user in. It calls Callbacks.SignIn, creates the user if [SignIn.Create] is set, runs the sign-in
// gates, issues the session, and calls the events. The response redirects to the callback URL. An error of type
// [ErrAccessDenied] means that Callbacks.SignIn denied the sign-in. A request with a bearer token gets a 400 response,
// as at every sign-in, because a sign-in needs cookies.
//
// The result of [ActionRequest.VerifyIDToken] is handled like a callback of the provider: the account is linked by the
// same rules, except that it is never linked to a signed-in user. If another user is signed in, the response is a page
// that asks whether to continue.
func (c *ActionRequest) SignIn(ctx context.Context, s SignIn) (*Response, error) {
	if c.in.r.Method != "POST" {
		return nil, errNeedsPost
	}
	if err := c.needsCookies("SignIn"); err != nil {
		return nil, err
	}
	if err := c.in.refuseBearer(); err != nil {
		return nil, err
	}
	if s.User == nil || s.User.ID == "" {
		return nil, errors.New("core: ActionRequest.SignIn: SignIn.User is nil, or has no ID")
	}
	var out outcome
	if s.CallbackURL != "" {
		var err error
		if out.returnTo, err = c.in.redirectTarget(ctx, s.CallbackURL); err != nil {
			return nil, err
		}
	}
	if s.identity != nil {
		return c.signInByIDToken(ctx, &s, &out)
	}
	account := s.Account
	if account == nil {
		name, _, _ := strings.Cut(c.in.action, "/")
		account = &Account{Type: TypeCredentials, Provider: name, ProviderAccountID: s.User.ID}
	}
	id := &identity{user: s.User.Clone(), account: account.Clone(), methods: slices.Clone(s.Methods)}
	if s.Created || s.Create != nil {
		id.signUp = &signUpResult{s.Create, s.Upgrade}
	}
	if s.Passkey != nil {
		if s.Passkey.in != c.in || s.Create == nil {
			return nil, errors.New("core: ActionRequest.SignIn: SignIn.Passkey needs Create, and is of the same request")
		}
		id.account, id.methods, id.newPasskey = s.Passkey.id.account.Clone(), s.Passkey.id.methods, s.Passkey
	}
	if c.plugins.provisional.has(id.methods) { // nothing has authenticated the user
		id.authTime = new(time.Time)
	}
	out.identity = id
	redirect, err := c.plugins.entry.complete(ctx, c.in, &out)
	return c.signedIn(ctx, &out, redirect, err)
}

// needsCookies returns an error if the action has NoCookies, because it then has no browser and no session.
func (c *ActionRequest) needsCookies(method string) error {
	if c.in.session != nil {
		return nil
	}
	return errors.New("core: ActionRequest." + method + ": the action has NoCookies: remove that, or pass the result of " +
		"VerifyIDToken to SignInApp")
}

// SignOut ends the user's session and deletes its cookies, as POST signout does. The cookies are deleted even if the
// store fails; SignOut then returns the store's error.
func (c *ActionRequest) SignOut(ctx context.Context) error {
	if c.in.r.Method != "POST" {
		return errNeedsPost
	}
	if err := c.needsCookies("SignOut"); err != nil {
		return err
	}
	_, err := c.plugins.auth.sessions.end(ctx, c.in.session)
	if errormarks.IsByClient(err) { // the request had no session, or one that has ended
		err = nil
	}
	c.forgetSession(ctx)
	return err
}

// forgetSession deletes the browser's session cookies.
func (c *ActionRequest) forgetSession(ctx context.Context) {
	c.session, c.read, c.failed = nil, true, nil
	forgotten := c.plugins.auth.sessions.providerLogouts.forget(ctx, &c.in.arrival)
	c.cookies = append(c.in.session.carrier().clear(), forgotten...)
}

// EndSessions ends sessions of the signed-in user, as [Auth.EndSessions] does. If the current session is one of them,
// its cookies are deleted too. The action's Method must be POST. Requirements and errors are those of Auth.EndSessions.
func (c *ActionRequest) EndSessions(ctx context.Context, o EndOptions) (ended int, err error) {
	if c.in.r.Method != "POST" {
		return 0, errNeedsPost
	}
	session, err := c.signedInSession(ctx, "EndSessions")
	if err != nil {
		return 0, err
	}
	list, ended, err := c.plugins.auth.endSessions(ctx, &c.in.arrival, session.UserID, o)
	switch {
	case err != nil || o.Except != "" || o.One != "" && o.One != session.ID:
		return ended, err
	case slices.ContainsFunc(list, func(s sessionlist.Session) bool { return session.ID != "" && s.ID == session.ID }):
		c.forgetSession(ctx)
		return ended, nil
	}
	if err := c.SignOut(ctx); err != nil { // the session has ended, and its cookies are deleted anyway
		c.plugins.auth.log.failure(ctx, errormarks.As(err, autherr.SignOut), c.in.attrs()...)
	}
	return ended, nil
}

// EndOtherSessions ends all sessions of the signed-in user except this one, and their pending sign-ins. It returns the
// number of ended sessions. The action's Method must be POST. Requirements and errors are those of [Auth.EndSessions].
func (c *ActionRequest) EndOtherSessions(ctx context.Context) (int, error) {
	if c.in.r.Method != "POST" {
		return 0, errNeedsPost
	}
	session, err := c.signedInSession(ctx, "EndOtherSessions")
	switch {
	case err != nil:
		return 0, err
	case session.ID == "":
		return 0, errors.New("core: ActionRequest.EndOtherSessions: the session has no ID: " +
			"call PluginHost.TrackAuthentication in Attach")
	}
	_, ended, err := c.plugins.auth.endSessions(ctx, &c.in.arrival, session.UserID, EndOptions{Except: session.ID})
	return ended, err
}

// signedInSession returns the session. If there is none, it returns the error of a method.
func (c *ActionRequest) signedInSession(ctx context.Context, method string) (*Session, error) {
	session, err := c.Session(ctx)
	if err == nil && session == nil {
		err = errSignedOut(method)
	}
	return session, err
}

func errSignedOut(method string) error {
	return errors.New("core: ActionRequest." + method + ": no user is signed in: call Session first")
}

// RenewSession replaces the token of the current session after the user has authenticated again. methods lists how they
// authenticated now, and is added to the session's methods. The session gets a new ID, and copies of the old token
// become invalid. Under the database strategy that takes effect immediately. Under [StrategyJWT] it needs
// Session.Revocation, and other processes follow within Revocation.Every; without Revocation a copy stays valid until
// it expires.
//
// Without methods the user has not authenticated again. The session keeps its ID and its age. If it is stored in a
// cookie whose email address, name or picture is outdated since [ActionRequest.UpdatedUser], its token gets the new
// one.
//
// If the session has ended since the request arrived, it stays ended, and the error matches [ErrNotFound].
func (c *ActionRequest) RenewSession(ctx context.Context, methods ...amr.Method) error {
	if c.in.r.Method != "POST" {
		return errNeedsPost
	}
	if _, err := c.signedInSession(ctx, "RenewSession"); err != nil {
		return err
	}
	if len(methods) == 0 && c.plugins.auth.sessions.config.Strategy != StrategyJWT {
		return nil // the store has the address
	}
	if len(methods) > 0 && !c.plugins.auth.sessions.facts {
		return errors.New("core: ActionRequest.RenewSession: sessions have no methods: " +
			"call PluginHost.TrackAuthentication in Attach")
	}
	return c.renew(ctx, c.plugin, methods, "")
}

// renew replaces the token of the current session. by names the plugin or provider, and acr is the class that the
// provider has reported.
func (c *ActionRequest) renew(ctx context.Context, by string, methods []amr.Method, acr string) error {
	session, err := c.Session(ctx)
	if err != nil {
		return err
	}
	again := &reauthentication{
		by: by, methods: reauth.AddMethods(session.Methods, methods), now: len(methods) > 0, acr: acr, moved: c.moved,
	}
	cookies, err := c.in.session.renew(ctx, again)
	if err == nil {
		err = c.plugins.checkRenewed(ctx, session.UserID)
	}
	if errors.Is(err, ErrNotFound) {
		c.read, c.session, c.failed, c.cookies = true, nil, nil, c.in.session.carrier().clearEnded()
	}
	if err != nil {
		return err
	}
	c.replaceSession(cookies)
	return nil
}

// NewSession creates a session for a user outside the sign-in flows, for example after a registration form, and returns
// the cookies to set. The application vouches for the user: sign-in gates are called only with
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
	var o SessionOptions
	if len(options) == 1 {
		o = options[0]
	}
	id, err := a.vouchedFor(ctx, session, user, o)
	if err != nil {
		return nil, err
	}
	who := member{user: id.user}
	if o.AskGates {
		c := &call{arrival: v, session: session, callbackURL: callbackurl.Choice{Target: v.home}}
		out := outcome{identity: id}
		next, err := a.plugins.runGates(ctx, c, &out, who, nil)
		if err == nil && next != "" {
			err = &HeldError{next}
		}
		if err != nil {
			return out.cookies, err
		}
	}
	cookies, sessionID, err := a.plugins.entry.openSession(ctx, session, id, &who)
	if err != nil {
		return nil, err
	}
	v.decidedOf(ctx, audit.SignIn, "", user.ID, sessionID)
	return append(cookies, a.sessions.providerLogouts.forget(ctx, &v)...), nil
}

// vouchedFor returns the identity of a user whose session the application creates.
func (a *Auth) vouchedFor(
	ctx context.Context, current requestSession, user *User, o SessionOptions,
) (*identity, error) {
	account := &Account{Type: TypeCredentials, Provider: "application", ProviderAccountID: user.ID}
	id := &identity{
		user: user.Clone(), account: account, methods: []amr.Method{}, authTime: new(time.Time),
		short: a.sessions.config.RememberMe && !o.Remember,
	}
	if err := a.plugins.provisional.identify(ctx, current, id); err != nil {
		return nil, err
	}
	if p := a.plugins.provisional; p != nil {
		active, err := guarded("ProvisionalUsers.Active", func() (bool, error) { return p.Active(ctx, user.ID) })
		if err != nil {
			return nil, errorf(ErrStore, "find out whether a user is provisional: %w", err)
		}
		if active {
			id.methods = append(id.methods, p.Method)
		}
	}
	id.methods = append(id.methods, o.Methods...)
	if now := a.sessions.now(); o.AuthTime.After(now) {
		*id.authTime = now
	} else if o.AuthTime.Unix() > 0 {
		*id.authTime = o.AuthTime
	}
	return id, nil
}

// checkRenewed ends the sessions of a user who may get no new ones. Another process may have ended them just before
// this one renewed the session.
func (ps *plugins) checkRenewed(ctx context.Context, userID string) error {
	err := ps.checkUser(ctx, userID)
	if !errors.Is(err, ErrAccessDenied) {
		return err
	}
	_, failed := ps.auth.EndSessions(ctx, userID, EndOptions{})
	return errors.Join(errEndedMeanwhile, failed)
}

// signInByIDToken is [ActionRequest.SignIn] with the result of VerifyIDToken.
func (c *ActionRequest) signInByIDToken(ctx context.Context, s *SignIn, out *outcome) (*Response, error) {
	current, err := c.in.session.current(ctx)
	if err != nil {
		return nil, err
	}
	if current != nil && c.plugins.provisional.has(current.methods) && s.StartedBy == current.user.ID {
		s.identity.started = flowstate.SameSession
	}
	out.identity = s.identity
	response, err := c.plugins.entry.signIn(ctx, c.in, out)
	switch {
	case err != nil:
		c.in.plugin = false // the response is that of a failed callback
		return c.signedIn(ctx, out, "", err)
	case response.Redirect == "": // the page that asks whether to continue as another user
		return response, nil
	}
	return c.signedIn(ctx, out, response.Redirect, nil)
}
