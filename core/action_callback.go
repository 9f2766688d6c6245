package core

import (
	"context"
	"errors"
	"log/slog"
	"net/url"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// signIns runs the steps that all sign-ins share: the provider's flow, Callbacks.SignIn, linking, and the session.
type signIns struct {
	gate     gatekeeper
	linker   *linker
	sessions *sessions
	pages    *pages
	events   *Events
	store    stores
	parts    *parts
}

// start handles POST signin: it starts the provider's flow.
func (s *signIns) start(ctx context.Context, c *call) (*Response, error) {
	if c.flow == nil {
		return toSignInPage(c), nil
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
		return nil, errorf(ErrInvalidProvider, "the callback needs a provider: callback/<provider id>")
	}
	out, err := c.flow.finish(ctx, c)
	response := out.response
	switch {
	case err != nil:
		c.auditCallback(ctx, out.typed, err)
	case out.who != nil:
		response, err = s.signIn(ctx, c, &out)
	}
	if err != nil {
		if response = s.alreadySignedIn(ctx, c, &out, err); response == nil {
			return &Response{Cookies: out.cookies}, asError(err, ErrCallbackRoute)
		}
	}
	response.Cookies = out.cookies
	if opening := c.opening(); len(opening) > 0 && !out.bare {
		response.Cookies = append(opening, out.cookies...)
	}
	return response, nil
}

// signIn signs in the user of an outcome. If another user is signed in, it asks for confirmation first.
func (s *signIns) signIn(ctx context.Context, c *call, out *outcome) (*Response, error) {
	response, err := s.confirmUser(ctx, c, out)
	if err == nil && response == nil {
		err = s.dateAuthentication(ctx, c, out.who)
	}
	if err != nil {
		c.auditCallback(ctx, out.typed, err)
	}
	if err != nil || response != nil {
		return response, err
	}
	response = &Response{}
	if response.Redirect, err = s.complete(ctx, c, out); err == nil && out.stale {
		return s.stalePage(ctx, c, out), nil
	}
	return response, err
}

// complete runs the steps that follow every flow: allow, create, link, gates, session. It returns the redirect URL, and
// adds the session's cookies to the outcome.
func (s *signIns) complete(ctx context.Context, c *call, out *outcome) (redirect string, err error) {
	defer func() {
		if err != nil {
			c.auditCallback(ctx, out.typed, err)
		}
	}()
	id := out.who
	c.debugIdentity(ctx, id)
	if redirect, err := s.allow(ctx, c, id); err != nil || redirect != "" {
		if redirect != "" {
			c.audit.note(ctx, &c.arrival, audit.Event{
				Name: audit.SignIn, Outcome: audit.Refused, Reason: audit.ReasonRedirected, Subject: out.typed,
			})
		}
		return redirect, err
	}
	if err := s.create(ctx, c, id); err != nil {
		return "", err
	}
	who, err := s.linker.link(ctx, &c.session, id)
	if err != nil {
		return "", err
	}
	c.debugMember(ctx, who)
	if id.account.Type == TypeWebAuthn {
		id.account.UserID = who.user.ID
	}
	if next, err := s.parts.runGates(ctx, c, out, who, nil); err != nil || next != "" {
		return next, err
	}
	return s.admit(ctx, c, out, who)
}

// create creates the user of a plugin's sign-up after Callbacks.SignIn has allowed it, and calls Events.CreateUser.
func (s *signIns) create(ctx context.Context, c *call, id *identity) error {
	if !id.made {
		return nil
	}
	if id.create != nil {
		user, err := guarded("SignIn.Create", func() (*User, error) { return id.create(ctx) })
		switch {
		case err != nil:
			return err
		case user == nil || user.ID == "":
			return errors.New("core: SignIn.Create returned no user, or one without an ID, and no error")
		}
		id.become(user)
	}
	s.events.createdUser(ctx, &c.arrival, id.user)
	c.decided(ctx, audit.UserCreated, "", id.user.ID)
	return nil
}

// admit issues the session after all gates have passed. It is the last step of a sign-in.
func (s *signIns) admit(ctx context.Context, c *call, out *outcome, who member) (redirect string, err error) {
	id := out.who
	if err := s.linker.begin(ctx, &c.session, id, &who); err != nil {
		return "", err
	}
	cookies, sessionID, err := s.sessions.issue(ctx, &c.session, id, who)
	if err != nil {
		return "", err
	}
	if err := id.recheckCredentials(ctx); err != nil {
		s.sessions.takeBack(ctx, &c.arrival, who, sessionID)
		return "", err
	}
	c.debug(ctx, "session issued", slog.String("user_id", who.user.ID),
		slog.String("strategy", string(s.sessions.config.Strategy)), slog.Int("cookies", len(cookies)))
	out.cookies = append(out.cookies, cookies...)
	out.cookies = append(out.cookies, s.parts.limits.known.remember(ctx, c, provenNames(out, who.user)...)...)
	if !who.keeps {
		out.cookies = append(out.cookies, s.sessions.away.begin(ctx, &c.session, id, who.user.ID)...)
	}
	out.stale = s.settleStepUp(c, out, who)
	s.events.signedIn(ctx, &c.arrival, who.user, id, who.created)
	if who.created {
		c.decided(ctx, audit.SignUp, "", who.user.ID)
	}
	if c.audit != nil {
		c.audit.note(ctx, &c.arrival, audit.Event{
			Name: audit.SignIn, Outcome: audit.OK, UserID: who.user.ID, SessionID: sessionID,
			Provider: id.account.Provider, Methods: audit.Texts(id.proofs()),
		})
	}
	redirect = or(out.returnTo, c.callbackURL.now)
	if who.created && s.pages.config.NewUser != "" {
		return c.page(s.pages.config.NewUser, "", "callbackUrl", redirect)
	}
	return redirect, nil
}

// allow calls Callbacks.SignIn, with the stored user if the account is known. Linking looks the account up again,
// because the callback may have changed the store.
func (s *signIns) allow(ctx context.Context, c *call, id *identity) (redirect string, err error) {
	user := id.user
	if s.gate.signIn != nil && s.store.Store != nil && id.client != nil {
		switch known, err := userByAccount(ctx, s.store, id.account); {
		case err == nil:
			user = known
		case !errors.Is(err, ErrNotFound):
			return "", errorf(ErrStore, "%w", err)
		}
	}
	account := id.account
	if s.gate.signIn != nil && id.client != nil {
		account = account.Clone()
		account.VerifiedEmail = id.verifiedAddress()
	}
	return s.gate.ask(ctx, &c.arrival, SignInParams{
		User: user, Account: account, Profile: id.profile, Credentials: id.credentials,
	})
}

// provenNames returns the names that the browser becomes a known browser of: the user's ID, the name whose password or
// email link was just used, and a verified address. An unverified address is left out. It may belong to another person,
// and an attacker could use it to escape that person's rate limits.
func provenNames(out *outcome, user *User) []string {
	names := verifiedNames(user)
	if t := out.who.account.Type; t == TypeCredentials || t == TypeEmail {
		names = append(names, out.typed)
	}
	return names
}

// verifiedNames returns the user's ID, and their address if it is verified.
func verifiedNames(user *User) []string {
	if user.EmailVerified.IsZero() {
		return []string{user.ID}
	}
	return []string{user.ID, user.Email}
}

// gatekeeper calls Callbacks.SignIn.
type gatekeeper struct {
	signIn func(ctx context.Context, p SignInParams) (SignInResult, error) // Callbacks.SignIn
}

// ask calls Callbacks.SignIn. It returns "" if the sign-in may continue, a redirect URL, or an AccessDenied error. In
// the last two cases nothing has been written.
func (g gatekeeper) ask(ctx context.Context, v *arrival, p SignInParams) (redirect string, err error) {
	if g.signIn == nil {
		return "", nil
	}
	p.User, p.Account, p.Request = p.User.Clone(), p.Account.Clone(), v.r
	result, err := guarded("signIn callback", func() (SignInResult, error) { return g.signIn(ctx, p) })
	switch {
	case err != nil:
		return "", asError(err, ErrAccessDenied, fault)
	case result.redirect != "":
		return v.goTo(ctx, result.redirect)
	case !result.allow:
		return "", errorf(ErrAccessDenied, "the signIn callback denied")
	}
	return "", nil
}

// goTo returns the redirect target of [RedirectTo]. It logs a warning if the redirect callback replaced the URL with
// the origin.
func (v *arrival) goTo(ctx context.Context, asked string) (string, error) {
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
	v.log.warn(ctx, warnGoToReplaced, append(v.attrs(), slog.String("url", to), slog.String("hint",
		"the redirect callback replaced the URL of core.RedirectTo by the origin: allow it in Callbacks.Redirect, "+
			"or its scheme in Config.AppSchemes"))...)
	return target, nil
}
