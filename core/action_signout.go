package core

import (
	"cmp"
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// signOutPage answers GET signout: the confirmation page. It never signs out: a GET changes nothing.
func (x *exchange) signOutPage(ctx context.Context) (*Response, error) {
	if own := x.pages.SignOut; own != "" {
		return &Response{Redirect: own}, nil
	}
	view := ui.SignOutView{Page: x.pageView(), CSRFToken: x.csrfToken, Action: x.base() + "/signout"}
	if x.query.Get("callbackUrl") != "" {
		view.Action, _ = weburl.AddQuery(view.Action, "callbackUrl", x.shownCallbackURL())
	}
	return x.render(ctx, &Response{}, x.views.SignOut(view)), nil
}

// signOut answers POST signout. The browser is signed out whatever the store says; a store that fails is logged.
func (x *exchange) signOut(ctx context.Context) (*Response, error) {
	response := &Response{Redirect: x.callbackURL}
	if err := x.settleSession(ctx); err != nil {
		x.logError(ctx, asError(err, SignOutError).under(SignOutError), x.logAttrs()...)
	}
	presented := x.sessionCookie()
	if presented.Value() == "" && !presented.Stray() {
		return response, nil
	}
	if err := x.endSession(ctx); err != nil {
		x.logError(ctx, asError(err, SignOutError).under(SignOutError), x.logAttrs()...)
	}
	response.Cookies = x.clearSession()
	return response, nil
}

// endSession ends the session of the request and tells the application. In a store every session of the request ends: the browser
// would go on with another that a neighbouring subdomain set, or that it kept.
func (x *exchange) endSession(ctx context.Context) error {
	var event SignOutEvent
	if x.session.Strategy == StrategyJWT {
		token, err := x.presentedToken(ctx)
		if err != nil && !errors.Is(err, SessionTokenError) {
			return mistake(err) // nothing was signed out, and the cookie goes all the same
		}
		if err != nil {
			return err
		}
		event.Token = token
	} else {
		for _, value := range x.sessionCookie().LookUps() {
			stored, err := guarded("Store.DeleteSession", func() (*StoredSession, error) { return x.store.sessions.DeleteSession(ctx, x.atRest(value)) })
			if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			event.Session = cmp.Or(event.Session, stored)
		}
	}
	if x.events.SignOut != nil {
		x.emit(ctx, "signOut", func() error { return x.events.SignOut(ctx, event) })
	}
	return nil
}
