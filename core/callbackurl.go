package core

import (
	"context"
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// Bounds of a callback URL in bytes as a cookie has them, percent-encoded. One answer can have it in Location and in
// the cookie, and each later request has the cookie. What is longer than maxKeptURL is followed by the request that
// asks for it and not remembered for a later one, so that a sign-in at a provider ends at the origin; what is longer
// than maxAskedURL is not followed.
const (
	maxKeptURL  = 850
	maxAskedURL = 2000
)

// callbackURLs is where a visitor goes after an action, and what of it is kept for a later request.
type callbackURLs struct {
	now string // an absolute URL, in its one spelling
	// kept is what the cookie keeps for the requests that follow; empty: the browser has it.
	kept string
}

// callbackURL decides where the visitor goes afterwards: what body or query ask for, else the cookie. A value that is
// no http(s) URL is an error in body and query; in the cookie it is ignored and overwritten, as else it would break
// every page until the visitor deletes it by hand.
func (v *arrival) callbackURL(ctx context.Context, asked string) (callbackURLs, error) {
	urls := callbackURLs{now: v.home}
	raw, _ := v.jar.Raw(v.cookies.callbackURL.name())
	remembered := v.home
	if raw != v.homeInCookie {
		remembered = cookie.Decode(raw)
	}
	switch {
	case asked != "":
		target, err := v.redirectTarget(ctx, asked)
		if err != nil {
			return urls, err
		}
		urls.now = target
	case remembered == v.home && v.redirect == nil: // most visits
		return urls, nil
	case remembered != "":
		if target, err := v.redirectTarget(ctx, remembered); err == nil {
			urls.now = target
		}
	}
	kept := urls.now
	if length := cookie.EncodedLen(kept); length > maxAskedURL {
		kept, urls.now = v.origin, v.origin
	} else if length > maxKeptURL {
		kept = v.origin
	}
	if kept != remembered {
		urls.kept = kept
	}
	return urls, nil
}

// checkAsked refuses a query parameter that no redirect callback could make sense of, before anything runs.
func (v *arrival) checkAsked(callbackURL string) error {
	if callbackURL == "" {
		return nil
	}
	_, err := weburl.Resolve(callbackURL, v.at)
	if err != nil && !errors.Is(err, weburl.ErrForeign) && !errors.Is(err, weburl.ErrTooLong) {
		return errorf(ErrInvalidCallbackURL, "callbackUrl is neither a path nor an http(s) URL: %w", err)
	}
	return nil
}

// redirectTarget passes a URL through the redirect callback. What leaves it is re-serialised: what a header or a
// browser could read in two ways does not get through.
func (v *arrival) redirectTarget(ctx context.Context, asked string) (string, error) {
	if v.redirect == nil {
		target, err := sameOrigin(asked, v.at)
		if target == v.origin {
			target = v.home
		}
		return target, err
	}
	target, err := guarded("redirect callback", func() (string, error) {
		return v.redirect(ctx, RedirectParams{URL: asked, BaseURL: v.origin})
	})
	if err != nil {
		return "", errorf(ErrAuth, "redirect callback: %w", err)
	}
	if target == "" {
		return v.home, nil
	}
	normal, err := weburl.Resolve(target, v.at)
	if errors.Is(err, weburl.ErrForeign) { // the application decided
		normal, err = weburl.Normalise(target)
	}
	if err != nil {
		return "", errorf(ErrAuth, "redirect callback returned no http(s) URL: %w", err)
	}
	return normal, nil
}

// SameOrigin is the default redirect callback, for callbacks that make exceptions from it: paths and URLs of the own
// origin are taken, other URLs become the origin, and what is no http(s) URL is an error.
func SameOrigin(_ context.Context, p RedirectParams) (string, error) {
	at, _, err := weburl.ParseOrigin(p.BaseURL)
	if err != nil {
		return "", errorf(ErrAuth, "BaseURL: %w", err)
	}
	return sameOrigin(p.URL, at)
}

func sameOrigin(asked string, at weburl.Origin) (string, error) {
	target, err := weburl.Resolve(asked, at)
	switch {
	case errors.Is(err, weburl.ErrForeign), errors.Is(err, weburl.ErrTooLong):
		return at.String(), nil
	case err != nil:
		return "", errorf(ErrAuth, "callbackUrl: %w", err)
	}
	return target, nil
}

// here is the page that the visitor is on, as a path of ours, for forms that lead back to it: the target of the request
// or, of one that only fetches a part of a page, what the browser says of the page around it.
func (v *arrival) here() string {
	page := v.header("Hx-Current-Url")
	switch {
	case page != "":
	case isSafe(v.r.Method) && len(v.r.Header["Turbo-Frame"]) == 0:
		return v.publicTarget()
	default:
		page = v.header("Referer")
	}
	target, err := weburl.Resolve(page, v.at)
	if path, own := strings.CutPrefix(target, v.origin); err == nil && own && path != "" {
		return path
	}
	return or(v.publicPath, "/")
}

// publicTarget is the target of the request as the browser has it, a path that leads back to it.
func (v *arrival) publicTarget() string {
	if target := v.r.Target; strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "//") {
		return v.publicPath + target
	}
	return or(v.publicPath, "/")
}
