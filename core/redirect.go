package core

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// Bounds of a callback URL in bytes as a cookie has them, percent-encoded. One answer can have it in Location and in the cookie, and
// each later request has the cookie. What is longer than maxKeptURL is followed by the request that asks for it and not remembered for
// a later one, so that a sign-in at a provider ends at the origin; what is longer than maxAskedURL is not followed.
const (
	maxKeptURL  = 850
	maxAskedURL = 2000
)

// settleCallbackURL decides where the visitor goes afterwards (WIRE 6): what body or query ask for, else the cookie. A value
// that is no http(s) URL is an error in body and query; in the cookie it is ignored and overwritten, as else it would break
// every page until somebody deletes it by hand.
func (x *exchange) settleCallbackURL(ctx context.Context) error {
	remembered, _ := x.jar.Get(x.cookies.callbackURL.name())
	x.callbackURL = x.home()
	switch asked := x.text("callbackUrl"); {
	case asked != "":
		target, err := x.redirectTarget(ctx, asked)
		if err != nil {
			return err
		}
		x.callbackURL = target
	case remembered == x.home() && x.callbacks.Redirect == nil: // most visits
	case remembered != "":
		if target, err := x.redirectTarget(ctx, remembered); err == nil {
			x.callbackURL = target
		}
	}
	kept := x.callbackURL
	if length := cookie.EncodedLen(kept); length > maxAskedURL {
		kept, x.callbackURL = x.origin, x.origin
	} else if length > maxKeptURL {
		kept = x.origin
	}
	if kept != remembered {
		x.opening = append(x.opening, x.cookies.callbackURL.set(kept))
	}
	return nil
}

// checkCallbackURL refuses a query parameter that no redirect callback could make sense of, before anything runs.
func (x *exchange) checkCallbackURL() error {
	asked := x.query.Get("callbackUrl")
	if asked == "" {
		return nil
	}
	if _, err := weburl.Resolve(asked, x.at); err != nil && !errors.Is(err, weburl.ErrForeign) && !errors.Is(err, weburl.ErrTooLong) {
		return errorf(InvalidCallbackURL, "callbackUrl is neither a path nor an http(s) URL: %w", err)
	}
	return nil
}

// redirectTarget passes a URL through the redirect callback. What leaves it is re-serialised: what a header or a browser could
// read in two ways does not get through.
func (x *exchange) redirectTarget(ctx context.Context, asked string) (string, error) {
	if x.callbacks.Redirect == nil {
		target, err := sameOrigin(asked, x.at)
		if target == x.origin {
			target = x.home()
		}
		return target, err
	}
	target, err := guarded("redirect callback", func() (string, error) {
		return x.callbacks.Redirect(ctx, RedirectParams{URL: asked, BaseURL: x.origin})
	})
	if err != nil {
		return "", errorf(AuthError, "redirect callback: %w", err)
	}
	if target == "" {
		return x.home(), nil
	}
	normal, err := weburl.Resolve(target, x.at)
	if errors.Is(err, weburl.ErrForeign) { // the application decided
		normal, err = weburl.Normalise(target)
	}
	if err != nil {
		return "", errorf(AuthError, "redirect callback returned no http(s) URL: %w", err)
	}
	return normal, nil
}

// SameOrigin is the default redirect callback, for callbacks that make exceptions from it: paths and URLs of the own origin are
// taken, other URLs become the origin, and what is no http(s) URL is an error.
func SameOrigin(_ context.Context, p RedirectParams) (string, error) {
	at, _, err := weburl.ParseOrigin(p.BaseURL)
	if err != nil {
		return "", errorf(AuthError, "BaseURL: %w", err)
	}
	return sameOrigin(p.URL, at)
}

func sameOrigin(asked string, at weburl.Origin) (string, error) {
	target, err := weburl.Resolve(asked, at)
	switch {
	case errors.Is(err, weburl.ErrForeign), errors.Is(err, weburl.ErrTooLong):
		return at.String(), nil
	case err != nil:
		return "", errorf(AuthError, "callbackUrl: %w", err)
	}
	return target, nil
}

// page returns the address of a built-in page, or of the application's own with the parameters added to its query.
func (x *exchange) page(own, action string, params ...string) (string, error) {
	if own == "" {
		own = x.base() + "/" + action
	}
	return weburl.AddQuery(own, params...)
}
