package core

import (
	"context"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

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
