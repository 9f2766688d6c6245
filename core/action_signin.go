package core

import (
	"context"

	"github.com/latchkey-go/latchkey/ui"
)

// signInPage answers GET signin: the page, or the application's own.
func (p *pages) signInPage(ctx context.Context, c *call) (*Response, error) {
	if c.provider != nil {
		err := errorf(UnknownAction, "signin/%s answers POST only: a sign-in must not start by following a link; "+
			"the link leads to the sign-in page", c.provider.id)
		if !wantsPage(c.r) {
			return nil, err
		}
		c.log.failure(ctx, err, c.attrs()...) // the mistake of the link's author, not of the visitor who follows it
		return &Response{Redirect: c.base() + "/signin"}, nil
	}
	if own := p.config.SignIn; own != "" {
		params := []string{"callbackUrl", c.callbackURL.now}
		if e := c.query.Get("error"); e != "" {
			params = append(params, "error", e)
		}
		target, err := c.page(own, "signin", params...)
		if err != nil {
			return nil, errorf(AuthError, "Pages.SignIn: %w", err)
		}
		return &Response{Redirect: target}, nil
	}
	view := ui.SignInView{
		Page: p.shell(&c.arrival), CSRFToken: c.csrf.token, CallbackURL: c.shownCallbackURL(),
		Email: c.query.Get("email"), Error: c.query.Get("error"), Providers: p.providerViews(&c.arrival),
	}
	switch view.Error {
	case "", string(CredentialsSignin), "SessionRequired": // nothing to report
	default:
		view.Reference = c.ref()
	}
	return p.renderSignIn(ctx, c, view), nil
}
