package core

import (
	"context"
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// Limits of a callback URL, in bytes of its percent-encoded form in a cookie. A response can contain it in Location and
// in a cookie, and later requests repeat the cookie. A URL longer than maxKeptURL is used by the current request but
// not stored, so a sign-in with a provider ends at the origin. A URL longer than maxAskedURL is not used.
const (
	maxKeptURL  = 850
	maxAskedURL = 2000
)

// callbackURLs contains the URL where the browser continues after an action, and its value for the cookie.
type callbackURLs struct {
	target string // an absolute, normalized URL
	// cookie is the new value of the callback-url cookie. It is empty if the browser already has it.
	cookie string
}

// callbackURL decides where the browser goes after the action: to the URL in body or query, else to the one in the
// cookie. A malformed URL in body or query is an error; in the cookie it is ignored and overwritten, because it would
// otherwise break every page until the user deletes the cookie.
func (v *arrival) callbackURL(ctx context.Context, asked string) (callbackURLs, error) {
	urls := callbackURLs{target: v.home}
	raw, _ := v.jar.Raw(v.cookies.CallbackURL.Name())
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
		urls.target = target
	case remembered == v.home && v.redirect == nil: // the common case
		return urls, nil
	case remembered != "":
		if target, err := v.redirectTarget(ctx, remembered); err == nil {
			urls.target = target
		}
	}
	kept := urls.target
	if length := cookie.EncodedLen(kept); length > maxAskedURL {
		kept, urls.target = v.origin, v.origin
	} else if length > maxKeptURL {
		kept = v.origin
	}
	if kept != remembered {
		urls.cookie = kept
	}
	return urls, nil
}

// redirectTarget passes a URL through the redirect callback and normalizes the result: a URL that a header or a browser
// could read in two ways is an error.
func (v *arrival) redirectTarget(ctx context.Context, asked string) (string, error) {
	if v.redirect == nil {
		target, err := sameOrigin(asked, v.at, v.appSchemes)
		if target == v.origin {
			target = v.home
		}
		return target, err
	}
	target, err := guarded("redirect callback", func() (string, error) {
		return v.redirect(ctx, RedirectParams{URL: asked, BaseURL: v.origin, appSchemes: v.appSchemes})
	})
	if err != nil {
		return "", errorf(ErrAuth, "redirect callback: %w", err)
	}
	if target == "" {
		return v.home, nil
	}
	normal, err := weburl.Resolve(target, v.at)
	switch {
	case errors.Is(err, weburl.ErrForeign): // the application allowed another origin
		normal, err = weburl.Normalise(target)
	case errors.Is(err, weburl.ErrScheme):
		normal, err = weburl.AppLink(target, v.appSchemes)
	}
	if err != nil {
		return "", errorf(ErrAuth, "redirect callback returned neither an http(s) URL nor one of Config.AppSchemes: %w", err)
	}
	return normal, nil
}

// SameOrigin is the default redirect callback. A callback that handles some URLs itself can call it for all others. It
// returns paths and URLs of the own origin and links of Config.AppSchemes, normalized, and the origin for any other
// URL. A malformed URL is an error.
func SameOrigin(_ context.Context, p RedirectParams) (string, error) {
	at, _, err := weburl.ParseOrigin(p.BaseURL)
	if err != nil {
		return "", errorf(ErrAuth, "BaseURL: %w", err)
	}
	return sameOrigin(p.URL, at, p.appSchemes)
}

func sameOrigin(asked string, at weburl.Origin, appSchemes []string) (string, error) {
	target, err := weburl.Resolve(asked, at)
	if errors.Is(err, weburl.ErrScheme) {
		if target, err = weburl.AppLink(asked, appSchemes); errors.Is(err, weburl.ErrScheme) {
			return at.String(), nil
		}
	}
	switch {
	case errors.Is(err, weburl.ErrForeign), errors.Is(err, weburl.ErrTooLong):
		return at.String(), nil
	case err != nil:
		return "", errorf(ErrAuth, "callbackUrl: %w", err)
	}
	return target, nil
}

// currentPage returns the path of the page that the user sees, for forms that return to it. It is the request target
// or, for a request that fetches a part of a page, the URL of the page according to the browser.
func (v *arrival) currentPage() string {
	page := v.header("Hx-Current-Url")
	switch {
	case page != "":
	case isSafe(v.r.Method) && len(v.r.Header["Turbo-Frame"]) == 0 && len(v.r.Header["Datastar-Request"]) == 0:
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

// publicTarget returns the request target as the browser sees it, as a path.
func (v *arrival) publicTarget() string {
	if target := v.r.Target; strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "//") {
		return v.publicPath + target
	}
	return or(v.publicPath, "/")
}
