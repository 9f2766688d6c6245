package core

import (
	"context"
	"strings"

	"github.com/latchkey-go/latchkey/ui"
)

// signInPage answers GET signin: the page, or the application's own.
func (x *exchange) signInPage(ctx context.Context) (*Response, error) {
	if x.providerID != "" {
		err := errorf(UnknownAction, "signin/%s answers POST only: a sign-in must not start by following a link; the link leads to the sign-in page", x.providerID)
		if !x.wantsPage() {
			return nil, err
		}
		x.logError(ctx, err, x.logAttrs()...) // the link is somebody's mistake, and not of the visitor who follows it
		return &Response{Redirect: x.base() + "/signin"}, nil
	}
	if own := x.pages.SignIn; own != "" {
		params := []string{"callbackUrl", x.callbackURL}
		if e := x.query.Get("error"); e != "" {
			params = append(params, "error", e)
		}
		target, err := x.page(own, "signin", params...)
		if err != nil {
			return nil, errorf(AuthError, "Pages.SignIn: %w", err)
		}
		return &Response{Redirect: target}, nil
	}
	view := ui.SignInView{
		Page: x.pageView(), CSRFToken: x.csrfToken, CallbackURL: x.shownCallbackURL(),
		Email: x.query.Get("email"), Error: x.query.Get("error"), Providers: x.providerViews(),
	}
	switch view.Error {
	case "", string(CredentialsSignin), "SessionRequired": // nothing to report
	default:
		view.Reference = x.ref()
	}
	return x.renderSignIn(ctx, view), nil
}

// shownCallbackURL is what forms carry: the address as it was asked for, when it is one that is followed.
func (x *exchange) shownCallbackURL() string {
	if asked := x.query.Get("callbackUrl"); strings.HasPrefix(asked, "/") && x.origin+asked == x.callbackURL {
		return asked
	}
	return x.callbackURL
}

// signIn answers POST signin: where the flow of the provider begins.
func (x *exchange) signIn(ctx context.Context) (*Response, error) {
	if x.provider != nil {
		switch {
		case x.provider.oauth != nil && x.provider.oauth.RequestToken.URL != "":
			return x.startOAuth1(ctx, x.provider.oauth)
		case x.provider.oauth != nil:
			return x.startOAuth(ctx, x.provider.oauth)
		case x.provider.email != nil:
			return x.sendLink(ctx, x.provider.email)
		}
	}
	return &Response{Redirect: x.base() + "/signin"}, nil // credentials and passkeys post to their callback
}
