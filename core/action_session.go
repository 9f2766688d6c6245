package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// SignIn is a sign-in that a part vouches for.
type SignIn struct {
	// User is the user; under the database strategy one that the store has. With Create it is the user that Create is
	// going to make, as Callbacks.SignIn sees them.
	User *User
	// Account is what they signed in with; nil: an account of type credentials, of a provider called as the action's Name.
	Account *Account
	// Methods are how they proved who they are.
	Methods []Method
	// Created is true for a user that the part has just created: Events.CreateUser is called, and the browser goes to
	// Pages.NewUser. A sign-in that Callbacks.SignIn denies leaves such a user in the store: set Create instead.
	Created bool
	// Create, if not nil, creates the user and returns them as stored. It is called once, after Callbacks.SignIn has
	// allowed the sign-in, so that a denied sign-up writes nothing. Its error ends the sign-in; a [*Problem] is the
	// response. Implies Created.
	Create func(ctx context.Context) (*User, error)
	// CallbackURL is where they go; empty: [Call.CallbackURL]. It passes Callbacks.Redirect.
	CallbackURL string
}

var errGetSignsIn = errors.New("core: an action of GET cannot begin or change a session: " +
	"have a form post to the action")

// SignIn signs the user in: it asks Callbacks.SignIn, creates the user where [SignIn.Create] says how, asks the gates,
// issues the session and calls the events. The response redirects to the callback URL. An error of type
// [ErrAccessDenied] is the callback's refusal. A request with a bearer token gets a 400 response, as at every
// sign-in: a sign-in needs cookies.
func (c *Call) SignIn(ctx context.Context, s SignIn) (*Response, error) {
	if c.in.r.Method != "POST" {
		return nil, errGetSignsIn
	}
	if err := c.in.refuseBearer(); err != nil {
		return nil, err
	}
	if s.User == nil || s.User.ID == "" {
		return nil, errors.New("core: Call.SignIn: SignIn.User is nil, or has no ID")
	}
	account := s.Account
	if account == nil {
		name, _, _ := strings.Cut(c.in.action, "/")
		account = &Account{Type: TypeCredentials, Provider: name, ProviderAccountID: s.User.ID}
	}
	id := &identity{
		user: s.User.Clone(), account: account.Clone(), methods: slices.Clone(s.Methods),
		made: s.Created || s.Create != nil, create: s.Create,
	}
	out := outcome{who: id}
	if s.CallbackURL != "" {
		target, err := c.in.redirectTarget(ctx, s.CallbackURL)
		if err != nil {
			return nil, err
		}
		out.returnTo = target
	}
	redirect, err := c.parts.entry.complete(ctx, c.in, &out)
	return c.signedIn(&out, redirect, err)
}

// signedIn answers with what a sign-in came to. Its cookies take the place of those that reading the session set.
func (c *Call) signedIn(out *outcome, redirect string, err error) (*Response, error) {
	if err != nil {
		return nil, err
	}
	c.read, c.session, c.failed, c.cookies = true, nil, errSessionChanged, nil
	for _, cookie := range out.cookies {
		c.keep(cookie)
	}
	return c.Redirect(redirect), nil
}

var errSessionChanged = errors.New("core: Call.Session: the session begins with this answer: " +
	"it is the next request that has it")

// SignOut ends the visitor's session and has the browser forget it, as POST signout does: the browser is signed out
// whatever the store says, which the error repeats.
func (c *Call) SignOut(ctx context.Context) error {
	if c.in.r.Method != "POST" {
		return errGetSignsIn
	}
	_ = c.in.session.settle(ctx) // what it finds wrong, end finds again
	_, err := c.parts.auth.sessions.end(ctx, &c.in.session)
	c.forgetSession(ctx)
	return err
}

// forgetSession has the browser delete its session cookies.
func (c *Call) forgetSession(ctx context.Context) {
	c.session, c.read, c.failed = nil, true, nil
	c.cookies = append(c.in.session.clear(), c.parts.auth.sessions.away.forget(ctx, &c.in.arrival)...)
}

// EndSessions ends sessions of the user who is signed in, as [Auth.EndSessions] does. If the current session is one of
// them, the browser is signed out as well. It needs an action of POST. Requirements and errors are those of
// Auth.EndSessions.
func (c *Call) EndSessions(ctx context.Context, o EndOptions) (ended int, err error) {
	if c.in.r.Method != "POST" {
		return 0, errGetSignsIn
	}
	session, err := c.Session(ctx)
	switch {
	case err != nil:
		return 0, err
	case session == nil:
		return 0, errNobody("EndSessions")
	}
	list, ended, err := c.parts.auth.endSessions(ctx, session.UserID, o)
	switch {
	case err != nil || o.Except != "" || o.One != "" && o.One != session.ID:
		return ended, err
	case slices.ContainsFunc(list, func(s listedSession) bool { return session.ID != "" && s.ID == session.ID }):
		c.forgetSession(ctx)
		return ended, nil
	}
	if err := c.SignOut(ctx); err != nil { // the session has ended, and the cookies go all the same
		c.parts.auth.log.failure(ctx, asError(err, ErrSignOut), c.in.attrs()...)
	}
	return ended, nil
}

// EndOthers ends all sessions of the visitor but this one, and the sign-ins of theirs that wait behind a gate. It
// returns how many sessions ended. Requirements and errors are those of [Auth.EndSessions].
func (c *Call) EndOthers(ctx context.Context) (int, error) {
	session, err := c.Session(ctx)
	switch {
	case err != nil:
		return 0, err
	case session == nil:
		return 0, errNobody("EndOthers")
	case session.ID == "":
		return 0, errors.New("core: Call.EndOthers: the session has no ID: call Host.Facts in Attach")
	}
	return c.parts.auth.EndSessions(ctx, session.UserID, EndOptions{Except: session.ID})
}

func errNobody(method string) error {
	return errors.New("core: Call." + method + ": nobody is signed in: ask Session first")
}

// Reissue gives the visitor another token for their session, now that they have proved again who they are. methods are
// how they proved it; those of the session stay. The session has another ID from then on, and a copy of the old token
// is good no longer: at once where sessions are in the store, under [StrategyJWT] where Session.Revocation is on, in
// other processes within Revocation.Every. Without Revocation a copy is good until it expires.
//
// Without methods nothing was proved: the session stays the same one and as old as it was, and where it is in a cookie
// that shows the address of before [Call.UpdatedUser] its token shows the new one.
//
// If the session has ended since the request arrived, it stays ended, and the error matches [ErrNotFound].
func (c *Call) Reissue(ctx context.Context, methods ...Method) error {
	if c.in.r.Method != "POST" {
		return errGetSignsIn
	}
	session, err := c.Session(ctx)
	if err != nil {
		return err
	}
	if session == nil {
		return errNobody("Reissue")
	}
	if len(methods) == 0 && c.parts.auth.sessions.config.Strategy != StrategyJWT {
		return nil // the store has the address
	}
	all := slices.Clone(session.Methods)
	for _, m := range methods {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	again := &proof{methods: all, proved: len(methods) > 0}
	cookies, err := c.parts.entry.reissue(ctx, &c.in.session, c.part, again, c.moved)
	if errors.Is(err, ErrNotFound) {
		c.read, c.session, c.failed, c.cookies = true, nil, nil, c.in.session.clearEnded()
	}
	if err != nil {
		return err
	}
	c.read, c.session, c.failed, c.cookies = true, nil, errSessionChanged, nil
	for _, cookie := range cookies {
		c.keep(cookie)
	}
	return nil
}

// proof is what a session that goes on under another token was proved by.
type proof struct {
	methods []Method
	proved  bool // just now
}

var errEndedMeanwhile = mistake(
	fmt.Errorf("Call.Reissue: the session has ended since the request arrived: %w", ErrNotFound))

// reissue makes another token of the session that a request presents. It looks the session up again: the request may
// have waited, and the user may have signed out.
func (s *signIns) reissue(
	ctx context.Context, p *presented, by string, again *proof, moved movedAddress,
) ([]Cookie, error) {
	p.again()
	if s.sessions.config.Strategy == StrategyJWT {
		return s.reissueJWT(ctx, p, again, moved)
	}
	_, user, err := p.stored(ctx)
	if errors.Is(err, ErrNotFound) || err == nil && !p.mayRenew(true) {
		return nil, errEndedMeanwhile
	}
	if err != nil {
		return nil, asError(err, ErrSessionToken)
	}
	id := &identity{
		user: user.Clone(), methods: again.methods,
		account: &Account{Type: TypeCredentials, Provider: by, ProviderAccountID: user.ID},
	}
	before := s.sessions.rows.atRest(p.value())
	note := s.sessions.records.note(ctx, publicID(before))
	who := member{user: user.Clone()}
	if err := s.linker.createStored(ctx, id, &who); err != nil {
		return nil, err
	}
	if !s.linker.replaceSession(ctx, p.at, p.value(), who.session) {
		s.sessions.takeBack(ctx, p.at, who, "")
		return nil, errEndedMeanwhile
	}
	s.linker.endOldest(ctx, p.at, who.session)
	who.keeps = true // its record moves along
	cookies, after, err := s.sessions.issue(ctx, p, id, who)
	if err != nil {
		return nil, err
	}
	s.sessions.begun.move(before, s.sessions.rows.atRest(string(who.session.Token)))
	if s.sessions.facts {
		note.Ends, note.Methods = who.session.Expires.Unix(), id.proofs()
		s.sessions.records.add(ctx, p.at, after, user.ID, note)
	}
	return cookies, nil
}

func (s *signIns) reissueJWT(
	ctx context.Context, p *presented, again *proof, moved movedAddress,
) ([]Cookie, error) {
	before, err := s.unended(ctx, p)
	if err != nil {
		return nil, err
	}
	after := before.clone()
	moved.write(after)
	proved := again.proved && s.sessions.facts
	if proved {
		if err := s.sessions.newFacts(ctx, after, authentication{s.sessions.now(), again.methods}); err != nil {
			return nil, err
		}
		p.again() // the session may have ended before newFacts read the epoch
		if _, err := s.unended(ctx, p); err != nil {
			return nil, err
		}
	}
	value, err := s.sessions.jwt.encode(ctx, p.at.cookies, after)
	if err != nil {
		return nil, err
	}
	expires := s.sessions.jwt.ends(after, s.sessions.now())
	if !p.mayRenew(true) || s.sessions.hasEnded(before) {
		return nil, errEndedMeanwhile
	}
	cookies, err := p.set(value, expires)
	if err == nil {
		p.noteReplaced(tokenUpdated)
	}
	if err == nil && proved {
		s.sessions.goesOn(ctx, p, before, after, again.methods, expires)
	}
	return cookies, err
}

// unended returns the session token of a request whose session continues. An error that matches ErrNotFound says that
// it has ended.
func (s *signIns) unended(ctx context.Context, p *presented) (*Token, error) {
	token, err := p.live(ctx)
	if err != nil && !errors.Is(err, ErrSessionToken) {
		return nil, errEndedMeanwhile
	}
	return token, err
}
