package core

import (
	"context"
)

// flow signs users in with one provider. There is one for each configured provider. Each flow ends with an [identity].
type flow interface {
	// start answers POST signin/<provider>.
	start(ctx context.Context, c *call) (*Response, error)
	// finish handles a request to callback/<provider>. The cookies of the outcome are set even if finish fails.
	finish(ctx context.Context, c *call) (outcome, error)
	// needsToken reports whether a POST to callback/<provider> is a form of this site, which contains the CSRF token.
	// Callbacks of an external provider are protected by its checks instead.
	needsToken() bool
}

// outcome is the result of a flow.
type outcome struct {
	// who is the user's identity. If it is nil, response is the response.
	who      *identity
	response *Response
	// cookies are set even if the sign-in fails.
	cookies []Cookie
	// returnTo is where the browser continues. If it is empty, the callback URL of the call is used.
	returnTo string
	// typed is the identifier that the user typed, for the audit event. It may be empty.
	typed string
	// bare means that the request is a cross-site POST without the browser's cookies. The response must not replace them.
	bare bool
	// stale means that a step-up was requested, and the sign-in is not recent enough for it.
	stale bool
}

// ceremonies is a flow that also answers GET webauthn-options/<provider>.
type ceremonies interface {
	options(ctx context.Context, c *call) (*Response, error)
}

// remoteLogout is a flow whose provider can end sessions by a back-channel logout.
type remoteLogout interface {
	logout(ctx context.Context, c *call) error
}

// toSignInPage is the response of flows without a start action: their forms post to the callback.
func toSignInPage(c *call) *Response { return redirectTo(c.base + "/signin") }

// noCallback returns the error of a callback with a method that the flow does not support.
func noCallback(c *call) error {
	return errorf(ErrInvalidProvider, "a provider of type %s has no callback by %s", c.kind, c.r.Method)
}
