package core

import (
	"cmp"
	"context"
	"strings"

	"github.com/latchkey-go/latchkey/internal/callbackurl"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// redirectRules returns the rules for callback URLs.
func (v *arrival) redirectRules() *callbackurl.Rules {
	rules := &callbackurl.Rules{Origin: v.at, Home: v.home, AppSchemes: v.appSchemes}
	if v.redirect != nil {
		rules.Callback = func(ctx context.Context, asked string) (string, error) {
			return guarded("redirect callback", func() (string, error) {
				return v.redirect(ctx, RedirectParams{URL: asked, BaseURL: v.origin, appSchemes: v.appSchemes})
			})
		}
	}
	return rules
}

// callbackURL decides where the browser goes after the action. asked is the URL in body or query.
func (v *arrival) callbackURL(ctx context.Context, asked string) (callbackurl.Choice, error) {
	raw, _ := v.jar.Raw(v.cookies.CallbackURL.Name())
	remembered := v.home
	if raw != v.homeInCookie {
		remembered = cookie.Decode(raw)
	}
	chosen, err := v.redirectRules().Choose(ctx, asked, remembered)
	if err != nil {
		return chosen, NewError(ErrAuth, err)
	}
	return chosen, nil
}

// redirectTarget passes a URL through the redirect callback and normalizes the result.
func (v *arrival) redirectTarget(ctx context.Context, asked string) (string, error) {
	target, err := v.redirectRules().Check(ctx, asked)
	if err != nil {
		return "", NewError(ErrAuth, err)
	}
	return target, nil
}

// SameOrigin is the default redirect callback. A callback that handles some URLs itself can call it for all others. It
// returns paths and URLs of the own origin and links of Config.AppSchemes, normalized, and the origin for any other
// URL. A malformed URL is an error.
func SameOrigin(_ context.Context, p RedirectParams) (string, error) {
	at, _, err := weburl.ParseOrigin(p.BaseURL)
	if err != nil {
		return "", errorf(ErrAuth, "BaseURL: %w", err)
	}
	target, err := callbackurl.SameOrigin(p.URL, at, p.appSchemes)
	if err != nil {
		return "", NewError(ErrAuth, err)
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
	return cmp.Or(callbackurl.PagePath(page, v.at), v.publicPath, "/")
}

// publicTarget returns the request target as the browser sees it, as a path.
func (v *arrival) publicTarget() string {
	if target := v.r.Target; strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "//") {
		return v.publicPath + target
	}
	return cmp.Or(v.publicPath, "/")
}
