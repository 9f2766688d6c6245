package core

import (
	"context"
)

// flow is how visitors sign in with one provider. There is one for each configured provider; all of them end in an
// [identity].
type flow interface {
	// start answers POST signin/<provider>.
	start(ctx context.Context, c *call) (*Response, error)
	// finish takes what the visitor brings to callback/<provider>. The cookies of the outcome are set when it fails, too.
	finish(ctx context.Context, c *call) (outcome, error)
	// needsToken reports whether a POST to callback/<provider> is an ordinary form of this site, which repeats the CSRF
	// token. Answers that come from the provider are guarded by its checks.
	needsToken() bool
}

// outcome is how a flow ends.
type outcome struct {
	// who is the visitor. nil: the answer is the response.
	who      *identity
	response *Response
	// cookies are set whatever becomes of the sign-in.
	cookies []Cookie
	// returnTo is where the visitor goes, where the call cannot know; empty: its callback URL.
	returnTo string
	// typed is the identifier that the visitor typed, for the audit; empty: none.
	typed string
	// bare: the request is a cross-site POST, without the cookies that the browser has. The response must not replace
	// them.
	bare bool
	// stale: a step-up was requested, and the sign-in is not recent enough for it.
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

// toSignInPage is the answer of flows that have nothing to start: their forms post to the callback.
func toSignInPage(c *call) *Response { return redirectTo(c.base + "/signin") }

// noCallback is the error of a callback by a method that the flow does not take.
func noCallback(c *call) error {
	return errorf(ErrInvalidProvider, "a provider of type %s has no callback by %s", c.kind, c.r.Method)
}
