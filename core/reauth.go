package core

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/actions"
	"github.com/latchkey-go/latchkey/core/internal/emaillinks"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/plugincookies"
	"github.com/latchkey-go/latchkey/core/internal/reauth"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/internal/emailcode"
	"github.com/latchkey-go/latchkey/internal/passkey"
	"github.com/latchkey-go/latchkey/ui"
)

// The action reauth authenticates the user of a session again (re-authentication, step-up). GET reauth shows the user's
// sign-in methods, and POST reauth/<provider> verifies one. The session continues with a new token. Unlike a sign-in,
// it never creates or links anything and never switches to another user. The action exists if sessions contain the
// authentication time.

// reauthActions returns the actions of a configuration with these providers.
func (s *signIns) reauthActions(providers []*provider) []*pluginAction {
	signedIn := []Guard{func(context.Context, *Session) error { return nil }}
	all := []*pluginAction{
		{Action: &Action{
			Method: http.MethodGet, Handle: s.reauthPage, Input: reauth.Query{}, Output: reauth.Methods{},
			Summary: "Get the methods by which the user can authenticate again",
		}},
		{Action: &Action{
			Method: http.MethodPost, Handle: s.reauthByCode, Input: reauth.Code{},
			Summary: "Authenticate again with a code by email, or request one",
		}},
	}
	for _, p := range providers {
		if p.reauthProvider().Can {
			all = append(all, &pluginAction{Action: &Action{
				Method: http.MethodPost, Verb: p.id, Handle: s.reauthWith(p), Input: reauth.Form{},
				Summary: "Authenticate again with a provider",
			}})
		}
	}
	for _, a := range all {
		a.Name, a.Require, a.plugin = actions.Reauth, signedIn, actions.Reauth
	}
	return all
}

// reauthProvider returns what package reauth needs to know of the provider.
func (p *provider) reauthProvider() reauth.Provider {
	r := reauth.Provider{
		ID: p.id, Shows: true, ReportsACR: p.kind == TypeOIDC,
		VerifiesEmail: p.kind == TypeOIDC || p.oauth != nil && p.oauth.EmailVerified != nil,
	}
	switch {
	case p.oauth != nil:
		r.Can, r.Shows = p.oauth.flow.AuthenticatesAgain(p.oauth.Reauthenticates == True)
		r.Adds = []amr.Method{amr.Federated}
	case p.credentials != nil:
		r.Can, r.Adds = true, []amr.Method{amr.Password}
	case p.webauthn != nil:
		r.Can, r.Adds = true, []amr.Method{amr.SoftwareKey}
		if p.webauthn.RequireUserVerification != False {
			r.Adds = append(r.Adds, amr.User)
		}
	}
	return r
}

// checkMethods reports users who have no method to authenticate again: as a configuration error if a plugin requires a
// recent sign-in, else as a warning.
func (s *signIns) checkMethods(faults *ConfigError) {
	a := s.plugins.auth
	if !a.sessions.facts {
		return
	}
	setup := reauth.Setup{
		Codes:    s.codes != nil && s.plugins.codeMailer() != nil,
		Required: s.plugins.freshLinks > 0 && len(s.plugins.reauthMethods) == 0,
	}
	for _, p := range a.providers {
		setup.Providers = append(setup.Providers, p.reauthProvider())
	}
	switch ids, fault, hint := setup.Gaps(); {
	case fault != "":
		faults.add(ErrInvalidConfig, "%s", fault)
	case len(ids) > 0:
		a.log.warn(context.Background(), warnings.NoReauth, slog.Any("providers", ids), slog.String("hint", hint))
	}
}

// newReauth returns the request of a call to the action, with the session and its user.
func (s *signIns) newReauth(ctx context.Context, a *ActionRequest) (*Session, *User, *reauthRequest, error) {
	session, err := a.Session(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	user, err := s.reauthUser(ctx, session)
	if err != nil {
		return nil, nil, nil, errorf(ErrStore, "read the user: %w", err)
	}
	return session, user, &reauthRequest{
		Session: session.ID, Started: s.sessions.now().Unix(), ACR: reauth.ParseACR(a.in.text("acr_values")),
		Strong: a.in.text("strong") == "1", Hint: user.Email,
	}, nil
}

// reauthPage handles GET reauth. It shows the user's methods that can satisfy the request.
func (s *signIns) reauthPage(ctx context.Context, a *ActionRequest) (*Response, error) {
	session, user, request, err := s.newReauth(ctx, a)
	if err != nil {
		return nil, err
	}
	c := a.in
	providers, err := s.reauthProviders(ctx, session, user, request)
	if err != nil {
		return nil, errorf(ErrStore, "list the sign-in methods of a user: %w", err)
	}
	back := a.CallbackURL
	byCode, err := s.canEmailCode(ctx, user)
	if err != nil {
		return nil, errorf(ErrStore, "list the accounts of a user: %w", err)
	}
	byCode = byCode && !request.Strong && len(request.ACR) == 0
	if byCode && c.query.Get("step") == "code" && !a.WantsJSON {
		return s.reauthCodePage(ctx, a, request, user), nil
	}
	methods := []reauth.Method{}
	view := ui.SignInView{
		Page: s.pages.shell(&c.arrival), CSRFToken: c.csrf.Token, CallbackURL: back, Error: c.query.Get("error"),
		Confirms:   nameOf(user),
		SignOutURL: c.base + "/signout?" + url.Values{"callbackUrl": {back}}.Encode(),
	}
	for _, p := range providers {
		own := p.view
		own.SignInURL = c.reauthAddress(request, back, p.id)
		own.CallbackURL = own.SignInURL
		own.Fields, own.ConditionalUI = reauthFields(p, user), false
		view.Providers = append(view.Providers, own)
		methods = append(methods, reauth.Method{ID: p.id, Type: string(p.kind), Name: p.name, URL: own.SignInURL})
	}
	if byCode {
		view.CodeURL = c.reauthAddress(request, back, "")
		methods = append(methods, reauth.Method{ID: "code", Type: "code", URL: view.CodeURL})
	}
	links, err := s.reauthLinks(ctx, a, session, request)
	if err != nil {
		return nil, err
	}
	for _, link := range links {
		id, _, _ := strings.Cut(link.Action, "?")
		methods = append(methods, reauth.Method{ID: id, Type: "page", Name: link.Label, URL: c.base + "/" + link.Action})
	}
	view.Links = append(view.Links, links...)
	if a.WantsJSON {
		return a.JSON(ctx, http.StatusOK, reauth.Methods{Methods: methods}), nil
	}
	return s.pages.render(ctx, &c.arrival, &Response{}, view.Nonce, s.pages.views.SignIn(view)), nil
}

// reauthLinks returns links to the pages of plugins whose methods can satisfy the request.
func (s *signIns) reauthLinks(
	ctx context.Context, a *ActionRequest, session *Session, request *reauthRequest,
) (links []ui.Link, err error) {
	back := url.Values{"callbackUrl": {a.CallbackURL}}.Encode()
	for i := range s.plugins.reauthMethods {
		m := &s.plugins.reauthMethods[i]
		has, err := m.Available == nil, error(nil)
		if !has {
			has, err = guarded("ReauthMethod.Available", func() (bool, error) { return m.Available(ctx, session.UserID) })
		}
		switch {
		case err != nil:
			return nil, err
		case !has, !reauth.Satisfies(request, session.Methods, m.Adds, false):
			continue
		}
		links = append(links, ui.Link{Label: a.Locale.Say(m.Label), Action: m.Action + "?" + back})
	}
	return links, nil
}

// reauthFields returns the fields of a provider's form. The address is filled in. A passkey form only authenticates.
func reauthFields(p *provider, user *User) []ui.Field {
	if p.webauthn != nil {
		return []ui.Field{{Name: "action", Type: "hidden", Value: passkey.Authenticate}}
	}
	fields := slices.Clone(p.view.Fields)
	for i := range fields {
		if fields[i].Name == "email" {
			fields[i].Value = user.Email
		}
	}
	return fields
}

// reauthProviders returns the providers that can authenticate the user again. An account or a passkey must be linked
// if the store can list them. If a guard requires [Strong], the provider must be sufficient together with the methods
// of the session.
func (s *signIns) reauthProviders(
	ctx context.Context, session *Session, user *User, request *reauthRequest,
) (found []*provider, err error) {
	linked, err := s.store.Linked(ctx, user.ID)
	if err != nil {
		return nil, err
	}
	hasPasskey := false
	if s.store.Passkeys != nil {
		keys, err := s.store.Passkeys.Authenticators(ctx, user.ID)
		if err != nil {
			return nil, err
		}
		hasPasskey = len(keys) > 0
	}
	for _, p := range s.plugins.auth.providers {
		isLinked := slices.ContainsFunc(linked, func(a *Account) bool { return a.Provider == p.id })
		again := p.reauthProvider()
		switch {
		case !again.Can,
			p.oauth != nil && s.store.Accounts != nil && !isLinked,
			p.webauthn != nil && !hasPasskey,
			!reauth.Satisfies(request, session.Methods, again.Adds, again.ReportsACR):
			continue
		}
		found = append(found, p)
	}
	return found, nil
}

// reauthWith returns the function that handles POST reauth/<provider>.
func (s *signIns) reauthWith(p *provider) func(ctx context.Context, a *ActionRequest) (*Response, error) {
	return func(ctx context.Context, a *ActionRequest) (*Response, error) {
		_, _, request, err := s.newReauth(ctx, a)
		if err != nil {
			return nil, err
		}
		c := a.in
		if err := c.refuseBearer(); err != nil {
			return nil, err
		}
		c.flow, c.kind, c.providerID, c.reauth = p.flow, p.kind, p.id, request
		if p.oauth != nil {
			response, err := p.flow.start(ctx, c)
			if err != nil {
				return s.reauthFailed(ctx, a, c.reauth, a.CallbackURL, err)
			}
			redirect := a.Redirect(response.Redirect)
			redirect.Cookies = response.Cookies
			return redirect, nil
		}
		out, err := p.flow.finish(ctx, c)
		return s.finishReauth(ctx, a, &out, c.reauth, err)
	}
}

// reauthCallback handles the callback of an OAuth provider that the action started.
func (s *signIns) reauthCallback(ctx context.Context, c *call, out *outcome, err error) (*Response, error) {
	c.plugin = true // errors become problems
	a := newCall(c, s.plugins, actions.Reauth)
	response, err := s.finishReauth(ctx, a, out, out.reauth, err)
	if err != nil {
		response = &Response{}
	}
	response.Cookies = append(append(a.kept, a.cookies...), response.Cookies...)
	return response, err
}

// finishReauth continues the session of a user who has authenticated again. failure is the error of the flow.
func (s *signIns) finishReauth(
	ctx context.Context, a *ActionRequest, out *outcome, request *reauthRequest, failure error,
) (*Response, error) {
	for _, cookie := range out.cookies {
		a.keep(cookie)
	}
	back := cmp.Or(out.returnTo, a.CallbackURL)
	if failure != nil {
		return s.reauthFailed(ctx, a, request, back, failure)
	}
	session, err := a.Session(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.checkReauth(ctx, session, out.identity, request); err != nil {
		return s.reauthFailed(ctx, a, request, back, err)
	}
	if err := a.renew(ctx, out.identity.account.Provider, out.identity.proofs(), out.identity.acr); err != nil {
		return nil, err
	}
	a.in.note(ctx, audit.Event{
		Name: audit.Reauth, Outcome: audit.OK, UserID: session.UserID, SessionID: session.ID,
		Methods: audit.Texts(out.identity.proofs()),
	})
	return a.Redirect(back), nil
}

// checkReauth checks that the identity belongs to the user of the session, that the response is the first one to its
// request, and that the user has authenticated since.
func (s *signIns) checkReauth(ctx context.Context, session *Session, id *identity, request *reauthRequest) error {
	if err := checkReauthSession(session, id.started, request); err != nil {
		return err
	}
	owner := id.user
	if id.byOAuth() && s.store.Store != nil {
		var err error
		owner, err = userByAccount(ctx, s.store, id.account)
		switch {
		case errors.Is(err, ErrNotFound):
			owner = &User{}
		case err != nil:
			return errorf(ErrStore, "%w", err)
		}
	}
	shown := reauth.Response{UserID: owner.ID, ACR: id.acr, External: id.byOAuth()}
	if id.byOAuth() {
		shown.Always, shown.Claims = id.oauth.client.Reauthenticates == True, id.oauth.tokens.Claims
	}
	if err := shown.Check(session.UserID, request, s.sessions.now()); err != nil {
		return reauthDenial(session, err)
	}
	return id.recheckCredentials(ctx)
}

// checkReauthSession checks that the session has started the request, and has not been renewed since.
func checkReauthSession(session *Session, started flowstate.Session, request *reauthRequest) error {
	id := ""
	if session != nil {
		id = session.ID
	}
	return reauthDenial(session, reauth.CheckSession(id, started, request))
}

// reauthDenial returns the problem for an error of package reauth.
func reauthDenial(session *Session, err error) error {
	denied, ok := errors.AsType[*reauth.Denied](err)
	if !ok {
		return err
	}
	denial := &audit.Denial{Reason: denied.Reason, Err: denied}
	if session != nil {
		denial.UserID = session.UserID
	}
	return &Problem{Status: http.StatusUnauthorized, Code: denied.Code, Text: textAgain, Cause: denial}
}

// AddReauthMethod adds a method to the page on which users authenticate again.
func (h *PluginHost) AddReauthMethod(m ReauthMethod) {
	h.attaching("AddReauthMethod")
	if m.Action == "" {
		h.fault("a ReauthMethod has no Action: set the path of a GET action")
		return
	}
	h.plugins.reauthMethods = append(h.plugins.reauthMethods, m)
}

// canEmailCode reports whether a code can be sent to the user. The address must be verified, by its user or by a linked
// provider: an unverified address may belong to another person.
func (s *signIns) canEmailCode(ctx context.Context, user *User) (bool, error) {
	if s.codes == nil || s.plugins.codeMailer() == nil || user.Email == "" {
		return false, nil
	}
	if !user.EmailVerified.IsZero() {
		return true, nil
	}
	linked, err := s.store.Linked(ctx, user.ID)
	return slices.ContainsFunc(linked, func(a *Account) bool { return a.VerifiedEmail == user.Email }), err
}

// codeMailer returns what sends codes: the first email provider, or else the mailer of the security notices. It is nil
// if there is neither.
func (ps *plugins) codeMailer() func(ctx context.Context, e Email) error {
	for _, p := range ps.auth.providers {
		if p.email != nil {
			return func(ctx context.Context, e Email) error {
				e.From, e.ProviderID = p.email.From, p.id
				return p.email.Send(ctx, e)
			}
		}
	}
	if by := ps.notifier; by != nil {
		return by.Send
	}
	return nil
}

// reauthByCode handles POST reauth. With a code it verifies the code, otherwise it emails one. A code shows that the
// user can read the mailbox: it is one factor and never sufficient for [Strong].
func (s *signIns) reauthByCode(ctx context.Context, a *ActionRequest) (*Response, error) {
	session, user, request, err := s.newReauth(ctx, a)
	if err != nil {
		return nil, err
	}
	c := a.in
	if err := c.refuseBearer(); err != nil {
		return nil, err
	}
	switch can, err := s.canEmailCode(ctx, user); {
	case err != nil:
		return nil, errorf(ErrStore, "list the accounts of a user: %w", err)
	case !can:
		return nil, &Problem{Status: http.StatusNotFound, Code: "not_found"}
	}
	code := a.Field("code")
	if code == "" {
		if err := s.sendReauthCode(ctx, a, request, user); err != nil {
			return s.reauthFailed(ctx, a, request, a.CallbackURL, err)
		}
		return a.Redirect(c.reauthAddress(request, a.CallbackURL, "", "step", "code")), nil
	}
	found, err := s.codes.check(ctx, c, codeReauth, code)
	if err == nil && (found.UserID != session.UserID || found.Data != session.ID || found.Address != user.Email) {
		err = reauthDenial(session, reauth.Replayed("the code was requested in another session"))
	}
	if err != nil {
		return s.reauthFailed(ctx, a, request, a.CallbackURL, err, "step", "code")
	}
	a.code = found
	a.DeleteEncryptedCookie(plugincookies.Code + codeReauth)
	id := &identity{user: user, account: &Account{Type: TypeEmail, Provider: "code"}}
	return s.finishReauth(ctx, a, &outcome{identity: id}, request, nil)
}

// sendReauthCode emails a code to the user.
func (s *signIns) sendReauthCode(ctx context.Context, a *ActionRequest, request *reauthRequest, user *User) error {
	c := a.in
	to, err := NormalizeEmail(user.Email)
	if err != nil {
		return errorf(ErrEmailSignIn, "email address: %w", err)
	}
	// The limit counts the user's sessions, not the address: requests without a session cannot use it up.
	if err := s.plugins.limits.ask(ctx, c, newAttempt(limit.AttemptMail, user.ID)); err != nil {
		return err
	}
	r := emailcode.Code{Purpose: codeReauth, Address: user.Email, UserID: user.ID, Data: request.Session}
	code, cookie, err := s.codes.issue(ctx, c, r)
	if err != nil {
		return err
	}
	a.keep(cookie)
	email := Email{
		To: to, Kind: mailkind.Reauth, Code: code, Expires: s.sessions.now().Add(emailcode.Life), Theme: s.pages.theme,
		Host: c.at.Host, Request: c.r, Locale: c.language(),
	}
	if err := emaillinks.Send(ctx, s.plugins.codeMailer(), email); err != nil {
		return errormarks.As(err, ErrEmailSignIn)
	}
	c.note(ctx, audit.Event{Name: audit.MailAsked, Outcome: audit.OK, UserID: user.ID})
	return nil
}

// reauthCodePage returns the page with the input for the code.
func (s *signIns) reauthCodePage(ctx context.Context, a *ActionRequest, request *reauthRequest, user *User) *Response {
	c := a.in
	action := c.reauthAddress(request, a.CallbackURL, "")
	view := ui.VerifyRequestView{
		Page: s.pages.shell(&c.arrival),
		Code: &ui.CodeForm{
			CSRFToken: c.csrf.Token, Action: action, AgainURL: action, Sent: user.Email, Error: c.query.Get("error"),
			Left: c.query.Get("left"), CancelURL: c.reauthAddress(request, a.CallbackURL, ""),
		},
	}
	return s.pages.render(ctx, &c.arrival, &Response{}, view.Nonce, s.pages.views.VerifyRequest(view))
}

// reauthFailed audits a failed re-authentication. A browser returns to the page, which shows the reason and all
// methods. more lists further parameters of the page.
func (s *signIns) reauthFailed(
	ctx context.Context, a *ActionRequest, request *reauthRequest, back string, err error, more ...string,
) (*Response, error) {
	c := a.in
	c.refused(ctx, audit.Reauth, "", err)
	e := errormarks.As(err, autherr.CallbackRoute)
	var problem *Problem
	isProblem := errors.As(err, &problem)
	switch {
	case a.WantsJSON, errors.Is(err, ErrStoreUnavailable), errors.Is(err, ErrTooManyRequests):
		return nil, err
	case isProblem:
		e = problem.logged()
	}
	c.log.failure(ctx, e, c.attrs()...)
	query, isCode := codeError(err)
	switch {
	case isCode:
	case isProblem:
		query = []string{"error", reauth.Shown(problem.Code)}
	default:
		query = []string{"error", e.Type.Public()}
	}
	response := a.Redirect(c.reauthAddress(request, back, "", append(more, query...)...))
	response.Err = e
	return response, nil
}
