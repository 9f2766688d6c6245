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
		return &Response{Redirect: c.base + "/signin"}, nil
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
		return &Response{Redirect: target}, nil
	}
	view := ui.SignInView{
		Page: p.shell(&c.arrival), CSRFToken: c.csrf.token, CallbackURL: c.shownCallbackURL(),
		Email: c.query.Get("email"), Error: c.query.Get("error"), Providers: p.providerViews(&c.arrival),
	}
	switch view.Error {
	case "", string(ErrCredentialsSignin), sessionRequired: // nothing to report
	default:
		view.Reference = c.ref()
	}
	return p.renderSignIn(ctx, c, view), nil
}

// renderSignIn renders the sign-in page, from the cache where nothing in it is of this visit alone.
func (p *pages) renderSignIn(ctx context.Context, c *call, view ui.SignInView) *Response {
	plain := p.builtIn && view.CSRFToken != "" && view.Error == "" && view.Email == "" && view.CallbackURL == c.home
	if !plain {
		return p.render(ctx, &c.arrival, &Response{}, view.Nonce, p.views.SignIn(view))
	}
	p.cached.mu.RLock()
	key := pageKey{c.origin, view.Locale.Tag}
	parts := p.cached.all[key]
	p.cached.mu.RUnlock()
	if parts == nil {
		marks, err := randomBytes(c.rand, 32) // no visitor can put them into a page
		if err != nil {
			return p.render(ctx, &c.arrival, &Response{}, view.Nonce, p.views.SignIn(view))
		}
		nonce, token := hex.EncodeToString(marks[:16]), hex.EncodeToString(marks[16:])
		marked := view
		marked.Nonce, marked.CSRFToken = nonce, token
		response := p.render(ctx, &c.arrival, &Response{}, marked.Nonce, p.views.SignIn(marked))
		if response.Err != nil {
			return response
		}
		parts = cutPage(response.Body, []byte(nonce), []byte(token))
		p.cached.keep(key, parts)
	}
	size := 0
	for _, part := range parts {
		size += len(part.text) + csrfTokenLen
	}
	body := make([]byte, 0, size)
	for _, part := range parts {
		body = append(body, part.text...)
		switch part.then {
		case thenNonce:
			body = append(body, view.Nonce...)
		case thenToken:
			body = append(body, view.CSRFToken...)
		}
	}
	return p.asPage(&c.arrival, &Response{Body: body}, view.Nonce)
}
