package core

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/signinmethods"
	"github.com/latchkey-go/latchkey/core/internal/verdict"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/internal/passkey"
	"github.com/latchkey-go/latchkey/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// start handles POST signin: it starts the provider's flow.
func (s *signIns) start(ctx context.Context, c *call) (*Response, error) {
	if c.flow == nil {
		return s.pages.addressTyped(c)
	}
	response, err := c.flow.start(ctx, c)
	if err != nil {
		c.auditStart(ctx, err)
	}
	return response, err
}

// callback completes a sign-in.
func (s *signIns) callback(ctx context.Context, c *call) (*Response, error) {
	if c.flow == nil {
		return nil, errorf(autherr.InvalidProvider, "the callback needs a provider: callback/<provider id>")
	}
	out, err := c.flow.finish(ctx, c)
	if out.reauth != nil {
		return s.reauthCallback(ctx, c, &out, err)
	}
	response := out.response
	if err == nil && out.identity != nil {
		response, err = s.signIn(ctx, c, &out)
	}
	if err != nil {
		out.takeBack(ctx, c, err)
		c.auditCallback(ctx, out.typed, err)
		if response = s.alreadySignedIn(ctx, c, &out, err); response == nil {
			return &Response{Cookies: out.cookies}, errormarks.As(err, autherr.CallbackRoute)
		}
	}
	response.Cookies = out.cookies
	if opening := c.initialCookies(); len(opening) > 0 && !out.withoutCookies {
		response.Cookies = append(opening, out.cookies...)
	}
	return response, nil
}

// takeBack makes a link or a code valid again if the server is the cause of the failure of its sign-in.
func (o *outcome) takeBack(ctx context.Context, c *call, failure error) {
	if o.restore == nil || !isServerFailure(failure) {
		return
	}
	if err := o.restore(ctx); err != nil {
		c.log.failure(ctx, errorf(ErrStore, "restore a link or a code after a failure: %w", err), c.attrs()...)
		return
	}
	o.cookies = nil
}

// isServerFailure reports whether the store, a plugin or the application has failed, so that the same request can
// succeed later.
func isServerFailure(err error) bool {
	if problem, ok := errors.AsType[*Problem](err); ok {
		return problem.Status >= http.StatusInternalServerError
	}
	return err != nil && errormarks.Level(errormarks.As(err, ErrAuth)) >= slog.LevelError
}

// auditStart notes a sign-in that could not be started. For an email provider, that is an email that was not sent.
func (c *call) auditStart(ctx context.Context, err error) {
	if verdict.IsNoted(err) {
		return
	}
	name, typed := audit.SignIn, ""
	if c.kind == TypeEmail {
		name = audit.MailAsked
		typed, _ = c.fields.Text("email")
	}
	c.refused(ctx, name, typed, err)
}

// signIn signs in the user of an outcome. If another user is signed in, it asks for confirmation first.
func (s *signIns) signIn(ctx context.Context, c *call, out *outcome) (*Response, error) {
	response, err := s.confirmUser(ctx, c, out)
	if err != nil || response != nil {
		return response, err
	}
	if err := s.dateAuthentication(ctx, c, out.identity); err != nil {
		return nil, err
	}
	response = &Response{}
	response.Redirect, err = s.complete(ctx, c, out)
	return response, err
}

// alreadySignedIn answers a callback that can no longer be used, if its user is signed in: it redirects to where the
// sign-in would have. It returns nil if no user is signed in, for a link to another user's address, and for the
// registration of a passkey, whose user must know that it failed.
func (s *signIns) alreadySignedIn(ctx context.Context, c *call, out *outcome, err error) *Response {
	action, _ := c.fields.Text("action")
	if errormarks.ReasonIn(err) == "" || c.kind == TypeWebAuthn && action == passkey.Register {
		return nil
	}
	current, notKnown := c.session.current(ctx)
	if notKnown != nil || current == nil || c.kind == TypeEmail && current.user.Email != c.query.Get("email") {
		return nil
	}
	failed := errormarks.As(err, autherr.CallbackRoute)
	c.log.failure(ctx, failed, c.attrs()...)
	response := redirectTo(cmp.Or(out.returnTo, c.callbackURL.Target))
	response.Err = failed
	return response
}

// confirmUser decides about a sign-in whose flow was not started under the current session. If it signs in the current
// user, it returns nil, and the sign-in continues. Otherwise it returns a page that asks the user whether to continue
// as the other user, or an error if the flow belongs to another session. The sign-in never links an account then.
func (s *signIns) confirmUser(ctx context.Context, c *call, out *outcome) (*Response, error) {
	id := out.identity
	if id.started != flowstate.SignedOut && id.started != flowstate.OtherSession {
		return nil, nil
	}
	current, err := c.session.current(ctx)
	if err != nil || current == nil {
		return nil, err
	}
	if s.plugins.provisional.has(current.methods) { // the sign-in does not upgrade the user
		return nil, nil
	}
	owner := id.user
	if s.store.Store != nil {
		owner, err = userByAccount(ctx, s.store, id.account)
	}
	switch {
	case err != nil && !errors.Is(err, ErrNotFound):
		return nil, errorf(ErrStore, "%w", err)
	case err == nil && owner.ID == current.user.ID:
		return nil, nil
	case id.started == flowstate.OtherSession || !id.byOAuth():
		return nil, NewError(autherr.InvalidCheck, errormarks.Over(errormarks.Used,
			errors.New("the sign-in was started under another session")))
	}
	view := ui.SwitchView{
		Page: s.pages.shell(&c.arrival), CSRFToken: c.csrf.Token, Current: nameOf(current.user), Other: nameOf(id.user),
		ContinueURL: cmp.Or(out.returnTo, c.callbackURL.Target), Action: c.base + "/signin/" + c.providerID,
	}
	view.CallbackURL = view.ContinueURL
	return s.pages.render(ctx, &c.arrival, &Response{}, view.Nonce, s.pages.views.Switch(view)), nil
}

// nameOf returns the email address, name or ID of a user, for display.
func nameOf(u *User) string { return cmp.Or(u.Email, u.Name, u.ID) }

// complete runs the steps that follow every flow: allow, create, link, gates, session. It returns the redirect URL, and
// adds the session's cookies to the outcome.
func (s *signIns) complete(ctx context.Context, c *call, out *outcome) (redirect string, err error) {
	who, redirect, err := s.decide(ctx, c, out)
	if err != nil || redirect != "" {
		return redirect, err
	}
	return s.admit(ctx, c, out, who)
}

// decide runs the steps before the session: allow, create, link, gates. redirect is not empty if the sign-in is not
// complete.
func (s *signIns) decide(ctx context.Context, c *call, out *outcome) (who member, redirect string, err error) {
	id := out.identity
	id.short = s.sessions.config.RememberMe && !c.rememberMe()
	c.debugIdentity(ctx, id)
	if redirect, err := s.allow(ctx, c, id); err != nil || redirect != "" {
		if redirect != "" {
			c.note(ctx, audit.Event{
				Name: audit.SignIn, Outcome: audit.Refused, Reason: audit.ReasonRedirected, Subject: out.typed,
			})
		}
		return who, redirect, err
	}
	if err := s.plugins.provisional.identify(ctx, c.session, id); err != nil {
		return who, "", err
	}
	if next, err := s.gateLink(ctx, c, out); err != nil || next != "" {
		return who, next, err
	}
	upgraded, err := s.create(ctx, c, id)
	if err != nil {
		return who, "", err
	}
	if who, err = s.linker.link(ctx, c.session, id); err != nil {
		return who, "", err
	}
	who.upgraded = who.upgraded || upgraded
	c.debugMember(ctx, who)
	if id.account.Type == TypeWebAuthn {
		id.account.UserID = who.user.ID
	}
	redirect, err = s.plugins.runGates(ctx, c, out, who, nil)
	return who, redirect, err
}

// gateLink asks the gates before a signed-in user links another account or adds a passkey. It returns the URL of the
// action that a gate requires first, or "". Otherwise an attacker with an open session, for example one from before the
// user had a second factor, could add a sign-in method for themselves.
func (s *signIns) gateLink(ctx context.Context, c *call, out *outcome) (string, error) {
	id := out.identity
	if len(s.plugins.gates) == 0 || s.store.Store == nil || id.started == flowstate.SwitchesUser || id.unlinked ||
		!id.byOAuth() && id.passkey == nil {
		return "", nil
	}
	current, err := c.session.current(ctx)
	if err != nil || current == nil || current.user.ID == "" {
		return "", err
	}
	_, err = userByAccount(ctx, s.store, id.account)
	switch {
	case err == nil: // nothing is linked
		return "", nil
	case !errors.Is(err, ErrNotFound):
		return "", errorf(ErrStore, "%w", err)
	}
	session, _, err := s.sessions.read(ctx, c.session, sessionRead{})
	if err != nil || session == nil {
		return "", err
	}
	user, err := s.reauthUser(ctx, session)
	if err != nil {
		return "", errorf(ErrStore, "read the user: %w", err)
	}
	next, _, err := s.plugins.gates.Ask(ctx, &c.plugins, nil, func() *PendingSignIn {
		return &PendingSignIn{
			User: user.Clone(), Account: id.account.Clone(), Methods: slices.Clone(session.Methods), Linking: true,
			CallbackURL: cmp.Or(out.returnTo, c.callbackURL.Target), Request: c.r, in: c, plugins: s.plugins,
		}
	})
	if err != nil || next == "" {
		return "", err
	}
	return c.held(ctx, user.ID, session.Methods, next), nil
}

// debugIdentity logs the user that a provider's profile, a form, an email link or a passkey was mapped to.
func (v *arrival) debugIdentity(ctx context.Context, id *identity) {
	v.debug(ctx, "identity", slog.String("type", string(id.account.Type)),
		slog.String("account_id", id.account.ProviderAccountID), slog.String("name", id.user.Name),
		slog.String("email", id.user.Email), slog.String("verified_email", id.account.VerifiedEmail))
}

// debugMember logs the decision of account linking.
func (v *arrival) debugMember(ctx context.Context, who member) {
	v.debug(ctx, "account linking", slog.String("user_id", who.user.ID), slog.Bool("user_created", who.created),
		slog.Bool("session_kept", who.keepsSession))
}

// create creates the user of a plugin's sign-up after Callbacks.SignIn has allowed it, and calls Events.CreateUser. If
// the browser's session is that of a provisional user, the sign-up upgrades them instead, if the plugin supports it.
func (s *signIns) create(ctx context.Context, c *call, id *identity) (upgraded bool, err error) {
	if id.signUp == nil {
		return false, nil
	}
	create, method, announced := id.signUp.create, "SignIn.Create", audit.Event{
		Name: audit.UserCreated, UserID: id.user.ID, Subject: id.user.Email,
	}
	if upgrade := id.signUp.upgrade; upgrade != nil && id.provisional != "" && s.plugins.provisional.upgrades() {
		current, err := s.store.User(ctx, id.provisional)
		switch {
		case err == nil:
			create, method = func(ctx context.Context) (*User, error) { return upgrade(ctx, current) }, "SignIn.Upgrade"
			announced = audit.Event{Name: audit.GuestUpgraded, UserID: id.provisional}
		case !errors.Is(err, ErrNotFound):
			return false, errorf(ErrStore, "%w", err)
		}
	}
	err = c.announce(ctx, nil, announced)
	if err == nil && id.newPasskey != nil {
		err = c.announce(ctx, nil, audit.Event{Name: audit.PasskeyAdded, UserID: announced.UserID})
	}
	if err != nil {
		return false, err
	}
	if create != nil {
		user, err := guarded(method, func() (*User, error) { return create(ctx) })
		switch {
		case err != nil:
			return false, err
		case user == nil || user.ID == "":
			return false, errors.New("core: " + method + " returned no user, or one without an ID, and no error")
		}
		id.become(user)
		if id.newPasskey != nil {
			if id.newPasskey.stored != user.ID {
				return false, errors.New("core: SignIn.Create did not store SignIn.Passkey for the user")
			}
			defer s.addedPasskey(ctx, c, id)
		}
	}
	if id.provisional != "" && id.user.ID == id.provisional {
		if err := s.plugins.provisional.upgraded(ctx, &c.arrival, id.provisional); err != nil {
			return false, err
		}
		s.events.updatedUser(ctx, &c.arrival, id.user)
		c.decided(ctx, audit.GuestUpgraded, "", id.user.ID)
		return true, nil
	}
	s.events.createdUser(ctx, &c.arrival, id.user)
	c.decided(ctx, audit.UserCreated, "", id.user.ID)
	return false, nil
}

// become replaces the user with the stored one, whose ID the store may have chosen. It updates the account if that
// contains the user's ID.
func (id *identity) become(stored *User) {
	if id.account.UserID == id.user.ID {
		id.account.UserID = stored.ID
	}
	if id.account.Type == TypeCredentials && id.account.ProviderAccountID == id.user.ID {
		id.account.ProviderAccountID = stored.ID
	}
	id.user = stored.Clone()
}

// allow calls Callbacks.SignIn, with the stored user if the account is known. Linking looks the account up again,
// because the callback may have changed the store.
func (s *signIns) allow(ctx context.Context, c *call, id *identity) (redirect string, err error) {
	if s.gate.signIn == nil {
		return "", nil
	}
	p := SignInParams{User: id.user, Account: id.account, Profile: id.profile}
	if id.form != nil {
		p.Credentials = id.form.credentials
	}
	if id.byOAuth() {
		if s.store.Store != nil {
			switch known, err := userByAccount(ctx, s.store, id.account); {
			case err == nil:
				p.User = known
			case !errors.Is(err, ErrNotFound):
				return "", errorf(ErrStore, "%w", err)
			}
		}
		p.Account = id.account.Clone()
		p.Account.VerifiedEmail = id.verifiedAddress()
	}
	return s.gate.allow(ctx, &c.arrival, p)
}

// signInRedirect returns the redirect target of [RedirectTo]. It logs a warning if the redirect callback replaced the
// URL with the origin.
func (v *arrival) signInRedirect(ctx context.Context, asked string) (string, error) {
	target, err := v.redirectTarget(ctx, asked)
	if err != nil || target != v.origin && target != v.home {
		return target, err
	}
	if direct, err := weburl.Resolve(asked, v.at); err == nil && (direct == target || direct == v.origin+"/") {
		return target, nil
	}
	to := "a malformed URL"
	if u, err := url.Parse(asked); err == nil { // without path and query, which may contain secrets
		to = (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
	}
	v.log.warn(ctx, warnings.GoToReplaced, append(v.attrs(), slog.String("url", to), slog.String("hint",
		"the redirect callback replaced the URL of core.RedirectTo by the origin: allow it in Callbacks.Redirect, "+
			"or its scheme in Config.AppSchemes"))...)
	return target, nil
}

// allow calls Callbacks.SignIn. It returns "" if the sign-in may continue, a redirect URL, or an AccessDenied error. In
// the last two cases nothing has been written.
func (g gatekeeper) allow(ctx context.Context, v *arrival, p SignInParams) (redirect string, err error) {
	if g.signIn == nil {
		return "", nil
	}
	p.User, p.Account, p.Request = p.User.Clone(), p.Account.Clone(), v.r
	result, err := guarded("signIn callback", func() (SignInResult, error) { return g.signIn(ctx, p) })
	switch {
	case err != nil:
		return "", errormarks.As(err, ErrAccessDenied, errormarks.ByServer)
	case result.redirect != "":
		return v.signInRedirect(ctx, result.redirect)
	case !result.allow:
		return "", errorf(ErrAccessDenied, "the signIn callback denied")
	}
	return "", nil
}

// addedPasskey reports that a new user has a passkey, after the transaction.
func (s *signIns) addedPasskey(ctx context.Context, c *call, id *identity) {
	key := *id.newPasskey.id.passkey
	made := *key.Authenticator
	made.UserID, key.Authenticator = id.user.ID, &made
	s.events.linkedAccount(ctx, &c.arrival, id.user, id.account, id.user)
	c.decided(ctx, audit.AccountLinked, "", id.user.ID)
	c.decided(ctx, audit.PasskeyAdded, "", id.user.ID)
	s.plugins.trackPasskey(ctx, &c.arrival, &key)
	s.plugins.noteMethod(ctx, &c.arrival, id.user.ID, signinmethods.PasskeyID(made.CredentialID))
}
