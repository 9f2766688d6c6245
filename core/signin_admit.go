package core

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/pendingsignin"
	"github.com/latchkey-go/latchkey/core/internal/plugincookies"
	"github.com/latchkey-go/latchkey/core/internal/reauth"
	"github.com/latchkey-go/latchkey/core/internal/records"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/internal/knownbrowser"
)

// noticeBrowser emails a user who has signed in in a new browser. known reports whether the browser was known before.
// Of concurrent sign-ins, in any process, one sends the email. A failure is logged and does not affect the sign-in.
func (ps *plugins) noticeBrowser(ctx context.Context, c *call, who member, known bool) {
	if ps.notifier == nil || ps.auth.store.Records == nil || ps.limits.known == nil || who.keepsSession {
		return
	}
	notices := &knownbrowser.Notices{Records: records.Of(ps.auth.store.Records), Now: ps.now}
	change, err := notices.Due(ctx, who.user.ID, publicID("user "+who.user.ID), known)
	if err == nil && change != nil {
		n := SecurityNotice{Kind: mailkind.NewDevice, UserID: who.user.ID}
		err = ps.notifyAround(ctx, &c.arrival, who.user, n, change)
	}
	if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrConflict) { // a user of the application; a race
		c.log.failure(ctx, errorf(ErrStore, "notice of a new browser: %w", err), c.attrs()...)
	}
}

// admit issues the session after all gates have passed. It is the last step of a sign-in.
func (s *signIns) admit(ctx context.Context, c *call, out *outcome, who member) (redirect string, err error) {
	id := out.identity
	issued, sessionID, err := s.openSession(ctx, c.session, id, &who)
	if err != nil {
		return "", err
	}
	c.admitted = true
	c.debug(ctx, "session issued", slog.String("user_id", who.user.ID),
		slog.String("strategy", string(s.sessions.config.Strategy)), slog.Int("cookies", len(issued)))
	out.cookies = append(append(out.cookies, issued...), c.storeRemember(false)...)
	confirmed := cookies.ConfirmAttempt(c.jar, cmp.Or(c.publicBase, "/"), c.at.Scheme == "https")
	out.cookies = append(out.cookies, ownCookies(confirmed)...)
	known := s.plugins.limits.known.of(c, who.user.ID) != ""
	out.cookies = append(out.cookies, s.plugins.limits.known.remember(ctx, c, provenNames(out, who.user)...)...)
	if !who.keepsSession {
		out.cookies = append(out.cookies, s.sessions.providerLogouts.begin(ctx, c.session.carrier(), id, who.user.ID)...)
	}
	s.report(ctx, c, id, who, sessionID, known)
	redirect = cmp.Or(out.returnTo, c.callbackURL.Target)
	if who.created && !s.plugins.provisional.has(id.methods) && s.pages.config.NewUser != "" {
		return c.page(s.pages.config.NewUser, "", "callbackUrl", redirect)
	}
	return redirect, nil
}

// openSession creates the session of a sign-in, unless linking has created it or the current one continues. The session
// ends immediately if its user may get none.
func (s *signIns) openSession(
	ctx context.Context, r requestSession, id *identity, who *member,
) (cookies []Cookie, sessionID string, err error) {
	c := r.carrier()
	if who.session == nil && !who.keepsSession {
		if err := s.sessions.createStored(ctx, c, id, who); err != nil {
			return nil, "", err
		}
	}
	cookies, sessionID, err = s.sessions.issue(ctx, r, id, *who)
	if err != nil {
		return nil, "", err
	}
	err = id.recheckCredentials(ctx)
	if err == nil && !who.keepsSession {
		err = s.plugins.checkUser(ctx, who.user.ID)
	}
	if err == nil {
		err = s.plugins.provisional.signedIn(ctx, id, who.user.ID)
	}
	if err != nil {
		s.sessions.takeBack(ctx, c.at, *who, sessionID)
		return nil, "", err
	}
	return cookies, sessionID, nil
}

// createStored stores the session of a user outside of a transaction, and ends the sessions that it replaces. Under
// StrategyJWT it does nothing.
func (s *sessions) createStored(ctx context.Context, c *tokenCarrier, id *identity, who *member) error {
	if s.config.Strategy != StrategyDatabase {
		return nil
	}
	if err := s.newRow(ctx, id, who); err != nil {
		return err
	}
	s.endReplaced(ctx, c, id, who.session)
	return nil
}

// signedIn reports to the plugin that a provisional user has signed in as an existing user.
func (p *provisional) signedIn(ctx context.Context, id *identity, userID string) error {
	if p == nil || id.provisional == "" || id.provisional == userID {
		return nil
	}
	err := guard("ProvisionalUsers.SignedIn", func() error { return p.SignedIn(ctx, id.provisional, userID) })
	if err != nil {
		return errorf(ErrStore, "sign-in of a provisional user: %w", err)
	}
	return nil
}

// report calls the events of a complete sign-in, emails the user about a new browser, and audits the sign-in. known
// reports whether the browser was known before.
func (s *signIns) report(ctx context.Context, c *call, id *identity, who member, sessionID string, known bool) {
	s.events.signedIn(ctx, &c.arrival, who.user, id, who.created)
	s.plugins.noticeBrowser(ctx, c, who, known)
	if who.created && !s.plugins.provisional.has(id.methods) {
		c.decided(ctx, audit.SignUp, "", who.user.ID)
	}
	if c.audit != nil {
		c.note(ctx, audit.Event{
			Name: audit.SignIn, Outcome: audit.OK, UserID: who.user.ID, SessionID: sessionID,
			Provider: id.account.Provider, Methods: audit.Texts(id.proofs()),
		})
	}
}

func (e *Events) signedIn(ctx context.Context, v *arrival, u *User, id *identity, created bool) {
	if e.SignIn != nil {
		emit(ctx, v, "signIn", e.SignIn, SignInEvent{
			User: u.Clone(), Account: id.account.Clone(), Profile: id.profile, NewUser: created,
		})
	}
}

// provenNames returns the names that the browser becomes a known browser of: the user's ID, the name whose password or
// email link was just used, and a verified address. An unverified address is left out. It may belong to another person,
// and an attacker could use it to escape that person's rate limits.
func provenNames(out *outcome, user *User) []string {
	names := verifiedNames(user)
	if t := out.identity.account.Type; t == TypeCredentials || t == TypeEmail {
		names = append(names, out.typed)
	}
	return names
}

// CompleteSignIn completes a pending sign-in that PendingSignIn returned. methods lists how the user has authenticated
// in addition. CompleteSignIn runs the remaining gates, issues the session and calls the events. The response redirects
// to the callback URL.
//
// A sign-in can be completed once. Of concurrent calls one gets the session; the others return a [*Problem] with the
// code "sign_in_over". So does a call for a user who was deleted, or whose address another person has verified in the
// meantime.
func (c *ActionRequest) CompleteSignIn(
	ctx context.Context, p *PendingSignIn, methods ...amr.Method,
) (*Response, error) {
	switch {
	case c.in.r.Method != http.MethodPost:
		return nil, errNeedsPost
	case p == nil || p.name.Key == "" || p.in != c.in:
		return nil, errors.New("core: CompleteSignIn: pass the result of PendingSignIn of the same ActionRequest")
	}
	if err := c.in.refuseBearer(); err != nil {
		return nil, err
	}
	id := restoredIdentity(&p.data)
	if len(methods) > 0 {
		id.authTime = nil // the user has just authenticated with them
	}
	id.methods = reauth.AddMethods(id.methods, methods)
	who := member{user: id.user, created: p.data.Created}
	if p.data.Stored { // before the sign-in is used up, so that it is not lost if the store fails
		stored, err := p.data.ReadUser(ctx, c.plugins.auth.store.Store, c.verified)
		if _, ended := errors.AsType[pendingsignin.EndedError](err); ended {
			c.DeleteEncryptedCookie(plugincookies.Pending)
			return nil, errPendingOver(err)
		}
		if err != nil {
			return nil, errorf(ErrStore, "read the user of a pending sign-in: %w", err)
		}
		if id.account.Type != TypeCredentials {
			who.user = stored
		}
	}
	took, err := c.plugins.pendingStore().Take(ctx, p.name)
	switch {
	case err != nil:
		return nil, errorf(ErrStore, "take a pending sign-in: %w", err)
	case took == nil:
		c.DeleteEncryptedCookie(plugincookies.Pending)
		return nil, errPendingOver(nil)
	}
	entry := c.plugins.entry
	out := outcome{identity: id, returnTo: p.CallbackURL, typed: p.data.Typed}
	redirect, err := c.plugins.runGates(ctx, c.in, &out, who, p.data.Released)
	if err == nil && redirect == "" {
		redirect, err = entry.admit(ctx, c.in, &out, who)
	}
	after := took.Restore // the browser can repeat the request
	if !isServerFailure(err) {
		after = took.Done
		c.DeleteEncryptedCookie(plugincookies.Pending) // signedIn sets that of the next gate, if there is one
	}
	if failed := after(context.WithoutCancel(ctx)); failed != nil {
		c.in.log.failure(ctx, errorf(ErrStore, "restore or delete a pending sign-in: %w", failed), c.in.attrs()...)
	}
	return c.signedIn(ctx, &out, redirect, err)
}

// signedIn returns the response to a sign-in, or audits its failure.
func (c *ActionRequest) signedIn(ctx context.Context, out *outcome, redirect string, err error) (*Response, error) {
	if err != nil {
		c.in.auditCallback(ctx, "", err)
		return nil, err
	}
	c.replaceSession(out.cookies)
	return c.Redirect(redirect), nil
}
