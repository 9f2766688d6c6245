package core

import (
	"context"
	"encoding/hex"
	"log/slog"
	"net/http"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// getCSRF answers GET csrf: the token that POST requests repeat.
func (g *csrfGuard) getCSRF(ctx context.Context, c *call) (*Response, error) {
	if g.policy.skip {
		c.log.warn(ctx, warnCSRFDisabled)
		spec := &c.cookies.csrf
		return &Response{Status: http.StatusNotFound, Cookies: []Cookie{spec.clear(spec.name())}}, nil
	}
	body := append(make([]byte, 0, 32+csrfTokenLen), `{"csrfToken":`...)
	return jsonResponse(append(exactjson.AppendText(body, c.csrf.token), '}')), nil
}

// providerList is what a browser may know of each provider, but for the public URL of the auth routes, which differs
// with the request and belongs between the parts.
type providerList []string

// get answers GET providers.
func (l providerList) get(_ context.Context, c *call) (*Response, error) {
	size := (len(l) - 1) * len(c.base)
	for _, part := range l {
		size += len(part)
	}
	body := append(make([]byte, 0, size), l[0]...)
	for _, part := range l[1:] {
		body = append(append(body, c.base...), part...)
	}
	return answerJSON(body), nil
}

// newProviderList writes the list. The public URL has no character that JSON would escape.
func newProviderList(providers []*provider) (parts providerList) {
	text := []byte{'{'}
	cut := func(name, path string) {
		text = append(exactjson.AppendName(text, name), '"')
		parts = append(parts, string(text))
		text = append(append(text[:0], path...), '"')
	}
	for _, p := range providers {
		text = append(exactjson.AppendName(text, p.id), '{')
		text = exactjson.AppendText(exactjson.AppendName(text, "id"), p.id)
		text = exactjson.AppendText(exactjson.AppendName(text, "name"), p.name)
		text = exactjson.AppendText(exactjson.AppendName(text, "type"), string(p.kind))
		cut("signinUrl", "/signin/"+p.id)
		cut("callbackUrl", "/callback/"+p.id)
		text = append(text, '}')
	}
	return append(parts, string(append(text, '}')))
}

// signInPage answers GET signin: the page, or the application's own.
func (p *pages) signInPage(ctx context.Context, c *call) (*Response, error) {
	if c.flow != nil {
		err := errorf(ErrUnknownAction, "signin/%s answers POST only: a sign-in must not start by following a link; "+
			"the link leads to the sign-in page", c.providerID)
		if !wantsPage(c.r) {
			return nil, err
		}
		c.log.failure(ctx, err, c.attrs()...) // the mistake of the link's author, not of the visitor who follows it
		return redirectTo(c.base + "/signin"), nil
	}
	if own := p.config.SignIn; own != "" {
		params := []string{"callbackUrl", c.callbackURL.now}
		if e := c.query.Get("error"); e != "" {
			params = append(params, "error", e)
		}
		target, err := c.page(own, "signin", params...)
		if err != nil {
			return nil, errorf(ErrAuth, "Pages.SignIn: %w", err)
		}
		return redirectTo(target), nil
	}
	view := ui.SignInView{
		Page: p.shell(&c.arrival), CSRFToken: c.csrf.token, CallbackURL: c.shownCallbackURL(),
		Email: c.query.Get("email"), Error: c.query.Get("error"),
	}
	switch view.Error {
	case "", string(ErrCredentialsSignin), string(ErrTooManyFailures), sessionRequired: // nothing to report
	default:
		view.Reference = c.lastRef()
	}
	return p.renderSignIn(ctx, c, view), nil
}

// renderSignIn renders the sign-in page, from the cache where nothing in it is of this visit alone.
func (p *pages) renderSignIn(ctx context.Context, c *call, view ui.SignInView) *Response {
	draw := func(view ui.SignInView) *Response {
		view.Providers = p.providerViews(&c.arrival)
		return p.render(ctx, &c.arrival, &Response{}, view.Nonce, p.views.SignIn(view))
	}
	plain := p.builtIn && view.Error == "" && view.Email == "" && view.CallbackURL == c.home
	if !plain || len(view.Nonce) != nonceLen || len(view.CSRFToken) != csrfTokenLen {
		return draw(view)
	}
	key := pageKey{c.origin, view.Locale.Tag}
	page := p.cached.find(key)
	if page == nil {
		marks, err := randomBytes(c.rand, nonceBytes+csrfTokenLen/2) // no visitor can put them into a page
		if err != nil {
			return draw(view)
		}
		marked := view
		marked.Nonce, marked.CSRFToken = nonceOf(marks[:nonceBytes]), hex.EncodeToString(marks[nonceBytes:])
		response := draw(marked)
		if response.Err != nil {
			return response
		}
		page = newKeptPage(response.Body, marked.Nonce, marked.CSRFToken)
		p.cached.keep(key, page)
	}
	return p.asPage(&c.arrival, &Response{Body: page.forVisit(view.Nonce, view.CSRFToken)}, view.Nonce)
}

// signOutPage answers GET signout: the confirmation page. It never signs out: a GET changes nothing.
func (p *pages) signOutPage(ctx context.Context, c *call) (*Response, error) {
	if own := p.config.SignOut; own != "" {
		return redirectTo(own), nil
	}
	view := ui.SignOutView{
		Page: p.shell(&c.arrival), CSRFToken: c.csrf.token, Action: c.base + "/signout", URL: c.home,
	}
	if c.query.Get("callbackUrl") != "" {
		view.Action, _ = weburl.AddQuery(view.Action, "callbackUrl", c.shownCallbackURL())
	}
	return p.render(ctx, &c.arrival, &Response{}, view.Nonce, p.views.SignOut(view)), nil
}

// signOut answers POST signout. The browser is signed out whatever the store says; a store that fails is logged.
func (s *sessions) signOut(ctx context.Context, c *call) (*Response, error) {
	response := redirectTo(c.callbackURL.now)
	s.exchanges.erase(c.browser(), "")
	if err := c.session.settle(ctx); err != nil {
		c.log.failure(ctx, asError(err, ErrSignOut).under(ErrSignOut), c.attrs()...)
	}
	if c.session.value() == "" && !c.session.cookie().Stray() {
		s.away.leave(ctx, c, "", response)
		return response, nil
	}
	userID, err := s.end(ctx, &c.session)
	if err != nil {
		c.log.failure(ctx, asError(err, ErrSignOut).under(ErrSignOut), c.attrs()...)
	}
	c.debug(ctx, "session ended", slog.String("user_id", userID))
	response.Cookies = c.session.clear()
	s.away.leave(ctx, c, userID, response)
	return response, nil
}

// webAuthnOptions answers GET webauthn-options/<provider>. Without a provider, where there is not exactly one for
// passkeys, it is a script that asks wrongly: it gets 400, and the log tells how to ask.
func webAuthnOptions(ctx context.Context, c *call) (*Response, error) {
	if f, ok := c.flow.(ceremonies); ok {
		return f.options(ctx, c)
	}
	err := errorf(ErrInvalidProvider, "webauthn-options needs a provider of type webauthn: "+
		"webauthn-options/<provider id>")
	if c.flow != nil {
		return nil, err
	}
	c.log.failure(ctx, err, c.attrs()...)
	return optionsRefused("Invalid request"), nil
}
