package core

import (
	"context"
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
		return v.redirectTarget(ctx, result.redirect)
	case !result.allow:
		return "", errorf(ErrAccessDenied, "the signIn callback denied")
	}
	return "", nil
}
