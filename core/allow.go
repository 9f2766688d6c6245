package core

import (
	"context"
	"log/slog"
	"net/url"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// gatekeeper asks the application whether a sign-in goes on.
type gatekeeper struct {
	signIn func(ctx context.Context, p SignInParams) (SignInResult, error) // Callbacks.SignIn
}

// ask runs the signIn callback and turns its result into "go on" (""), a redirect, or AccessDenied. A result other than
// "go on" writes nothing anywhere.
func (g gatekeeper) ask(ctx context.Context, v *arrival, p SignInParams) (redirect string, err error) {
	if g.signIn == nil {
		return "", nil
	}
	p.User, p.Account, p.Request = p.User.Clone(), p.Account.Clone(), v.r
	result, err := guarded("signIn callback", func() (SignInResult, error) { return g.signIn(ctx, p) })
	switch {
	case err != nil:
		return "", asError(err, ErrAccessDenied, fault)
	case result.redirect != "":
		return v.goTo(ctx, result.redirect)
	case !result.allow:
		return "", errorf(ErrAccessDenied, "the signIn callback denied")
	}
	return "", nil
}

// goTo is the redirect target of [GoTo]. It logs a URL that the redirect callback replaced by the origin.
func (v *arrival) goTo(ctx context.Context, asked string) (string, error) {
	target, err := v.redirectTarget(ctx, asked)
	if err != nil || target != v.origin && target != v.home {
		return target, err
	}
	if direct, err := weburl.Resolve(asked, v.at); err == nil && (direct == target || direct == v.origin+"/") {
		return target, nil
	}
	to := "a malformed URL"
	if u, err := url.Parse(asked); err == nil { // without path and query, which may hold secrets
		to = (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
	}
	v.log.warn(ctx, warnGoToReplaced, append(v.attrs(), slog.String("url", to), slog.String("hint",
		"the redirect callback replaced the URL of core.GoTo by the origin: allow it in Callbacks.Redirect, "+
			"or its scheme in Config.AppSchemes"))...)
	return target, nil
}
