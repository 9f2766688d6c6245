package core

import (
	"context"
	"encoding/hex"

	"github.com/latchkey-go/latchkey/ui"
)

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
