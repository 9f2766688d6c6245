package core

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/sessioncookies"
)

// KeepSessions allows several accounts in one browser: [ActionRequest.KeepSession] and [ActionRequest.SwitchSession].
// A sign-in as another user than the current one then keeps the current session, if it fits. page is the path of the
// plugin's action that lists the accounts. The sign-in page has a link to it if the browser has other accounts. The
// CSRF token distinguishes the pages of two accounts, so a Config.CSRF without tokens is a configuration error.
func (h *PluginHost) KeepSessions(page string) {
	h.attaching("KeepSessions")
	s := h.Auth.site
	if s.csrf.Skip || s.csrf.SameOrigin {
		h.fault("Config.CSRF does not require a token, so a form of one account could act as another one: remove it")
	}
	if h.plugins.kept != nil {
		h.fault("another plugin keeps several sessions in a browser: remove one of them")
		return
	}
	h.plugins.kept = &keptSessions{page: page, keys: s.secrets}
}

// BrowserAccounts returns the accounts of the request's browser, the active one first. Sessions of the others are
// not renewed and do not count as used. An error means that their state is unknown.
func (c *ActionRequest) BrowserAccounts(ctx context.Context) ([]BrowserAccount, error) {
	session, err := c.Session(ctx)
	if err != nil {
		return nil, err
	}
	return c.plugins.auth.sessions.browserAccounts(ctx, &c.in.arrival, session)
}

// BrowserAccounts is [ActionRequest.BrowserAccounts] for a component on a page of the application. It returns nil
// without the request hook, and during an impersonation.
func (h *PluginHost) BrowserAccounts(ctx context.Context) ([]BrowserAccount, error) {
	visit := VisitOf(ctx, h.Auth)
	if visit == nil || visit.refused != nil {
		return nil, nil
	}
	session, err := SessionFrom(ctx)
	if err != nil || session != nil && session.Actor != "" {
		return nil, err
	}
	return h.Auth.sessions.browserAccounts(ctx, &visit.at, session)
}

// changingAccounts returns the active account, or nil if no user is signed in. A guest and an impersonated user cannot
// change the accounts of the browser.
func (c *ActionRequest) changingAccounts(ctx context.Context) (*validSession, error) {
	switch {
	case c.in.r.Method != http.MethodPost:
		return nil, errNeedsPost
	case c.plugins.kept == nil:
		return nil, errKeepsNone
	case c.ByBearer():
		return nil, c.in.refuseBearer()
	}
	active, err := c.in.session.current(ctx)
	switch {
	case err != nil || active == nil:
		return nil, err
	case c.plugins.provisional.has(active.methods):
		session, err := c.Session(ctx)
		if err == nil {
			err = guard("guard", func() error { return c.plugins.provisional.Guard(ctx, session, c.action.Name) })
		}
		return nil, cmp.Or(err, ErrForbidden)
	case !c.plugins.kept.canKeep(active):
		return nil, ErrForbidden
	}
	return active, nil
}

// KeepSession keeps the current session as that of another account: the browser has no current session afterwards, so
// that a sign-in links nothing to it. The error is a *[Problem] with the code "accounts_full" if the account, or a
// further one of its size, does not fit into the header of requests and responses. The account with the reference
// instead, if it is not empty, is removed if that makes room: its user is about to sign in again. The action's Method
// must be POST.
func (c *ActionRequest) KeepSession(ctx context.Context, instead string) error {
	active, err := c.changingAccounts(ctx)
	switch {
	case err != nil:
		return err
	case active == nil:
		return errSignedOut("KeepSession")
	}
	s, carrier := c.plugins.auth.sessions, c.in.session.carrier()
	change, err := s.changeKept(&c.in.arrival)
	if err != nil {
		return err
	}
	value := carrier.Value()
	add := func() bool {
		return change.Add(active.user.ID, value, active.cookieEnds, len(value)+sessioncookies.Reserve)
	}
	if !add() {
		other, there := change.Find(instead)
		if change.Replace(other.UserID); !there || !add() {
			return accountsFull()
		}
	}
	if err := c.changeAccounts(ctx, change, carrier.clear()); err != nil {
		return err
	}
	c.in.decided(ctx, audit.SessionKept, "", active.user.ID)
	return nil
}

// changeAccounts sets the cookies of a change and of the active session, and a new CSRF token: forms of the earlier
// account are refused. The pending sign-out at the provider of the earlier account is forgotten.
func (c *ActionRequest) changeAccounts(
	ctx context.Context, change *sessioncookies.Change, active []Cookie,
) error {
	s := c.plugins.auth.sessions
	cookies := append(s.finishKept(ctx, &c.in.arrival, change), active...)
	fresh, err := c.in.renewCSRF()
	if err != nil {
		return err
	}
	s.exchanges.Erase(c.in.browser(), "")
	c.in.session.carrier().NoteReplaced(sessioncookies.Replaced)
	cookies = append(cookies, fresh...)
	c.replaceSession(append(cookies, s.providerLogouts.forget(ctx, &c.in.arrival)...))
	return nil
}

// SwitchSession continues with the session of another account, and keeps the current one. The session continues
// unchanged: its age and how its user authenticated stay the same. signedIn is false if that session has ended; nothing
// is changed then, and the user must sign in again. The error is [ErrNotFound] if the browser has no such account, and
// a *[Problem] with the code "accounts_full" as of [ActionRequest.KeepSession]. The action's Method must be POST.
func (c *ActionRequest) SwitchSession(ctx context.Context, ref string) (signedIn bool, err error) {
	active, err := c.changingAccounts(ctx)
	if err != nil {
		return false, err
	}
	s, carrier := c.plugins.auth.sessions, c.in.session.carrier()
	if b := s.browserOf(&c.in.arrival); active != nil && ref == b.Ref(active.user.ID) {
		return true, nil
	}
	change, err := s.changeKept(&c.in.arrival)
	if err != nil {
		return false, err
	}
	k, there := change.Find(ref)
	if !there {
		return false, ErrNotFound
	}
	r, err := s.sessionIn(ctx, &c.in.arrival, k.Tokens())
	if err != nil {
		return false, err
	}
	next, err := s.continueKept(ctx, c, r, &k)
	if err != nil || next == nil {
		return false, err
	}
	change.Remove(&k)
	if active != nil && !change.Add(active.user.ID, carrier.Value(), active.cookieEnds, len(k.Token)) {
		return false, accountsFull()
	}
	carrier.Keys = nil // Add has counted them
	cookies, err := carrier.set(k.Token, next.cookieEnds)
	if err != nil {
		return false, err
	}
	if err := c.changeAccounts(ctx, change, cookies); err != nil {
		return false, err
	}
	s.replaced.Forget(k.Token)
	c.in.decidedOf(ctx, audit.SessionResumed, "", k.UserID, "")
	return true, nil
}

// continueKept returns the session of another account if its user may continue with it. It returns nil if it has ended.
func (s *sessions) continueKept(
	ctx context.Context, c *ActionRequest, r requestSession, k *sessioncookies.Account,
) (*validSession, error) {
	session, _, err := s.read(ctx, r, sessionRead{again: true})
	if err != nil || session == nil || session.UserID != k.UserID || session.Actor != "" {
		return nil, err
	}
	if err := c.plugins.checkUser(ctx, k.UserID); err != nil {
		if errors.Is(err, ErrAccessDenied) {
			err = nil
		}
		return nil, err
	}
	return r.current(ctx)
}

// EndKeptSession ends the session of another account and removes the account from the browser. An empty ref means all
// other accounts. The cookies are deleted even if the store fails; the result is then the store's error. The error is
// [ErrNotFound] if the browser has no such account. The current session continues. The action's Method must be POST.
func (c *ActionRequest) EndKeptSession(ctx context.Context, ref string) error {
	if c.in.r.Method != http.MethodPost {
		return errNeedsPost
	}
	s := c.plugins.auth.sessions
	if s.kept == nil {
		return errKeepsNone
	}
	change, err := s.changeKept(&c.in.arrival)
	if err != nil {
		return err
	}
	found, failed := false, error(nil)
	for _, k := range slices.Clone(change.List) {
		if ref != "" && k.Ref != ref {
			continue
		}
		event, err := s.endKept(ctx, &c.in.arrival, &k)
		failed, found = errors.Join(failed, err), true
		change.Remove(&k)
		if err == nil && (event.Token != nil || event.Session != nil) {
			s.notifySignOut(ctx, &c.in.arrival, event)
		}
	}
	for _, one := range change.Cookies() {
		c.keep(Cookie(one))
	}
	if !found && ref != "" {
		return ErrNotFound
	}
	return failed
}
