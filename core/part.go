package core

import (
	"context"
)

// Part adds to an [Auth] what core does not do itself: sign-in with passwords, an account page, a second factor. New
// attaches each part of Config.Parts once, in order, and reports its faults with all others.
//
// A [Provider] that is a Part too stands in Config.Providers, and is attached there: what it adds follows it, and a
// provider that it adds under its own ID takes its place. One Part may be attached to several Auths, so what Attach
// finds out belongs into closures and not into the Part.
type Part interface {
	// Attach registers actions, providers and gates at the Host. An error is a fault of the configuration.
	Attach(h *Host) error
}

// Action is one action of a part, at <base path>/<Name> or <base path>/<Name>/<Verb>. Its zero value is guarded: a POST
// needs the CSRF token, as field or JSON member csrfToken, and a GET cannot begin or change a session. Answers are kept
// in no cache. A body has 1 MiB at most and is a form or a JSON object.
type Action struct {
	// Method is GET or POST. Others are not routed.
	Method string
	// Name and Verb are lower-case letters, digits and hyphens, beginning with a letter, 32 at most: "password" and
	// "sign-up". Verb may be empty. All actions of one Name are of one part, and no Name is that of an action of core.
	Name, Verb string
	// Require are asked one after the other before Handle runs; a visitor without a session is sent to the sign-in page
	// then, or answered 401. Empty: anybody.
	Require []Guard
	// Attempt is counted for the visitor before Handle runs, without an identifier; one that has to wait is answered 429.
	// Empty: not counted. [Call.Allow] counts with an identifier.
	Attempt Attempt
	// Handle answers. It is called concurrently, each time with a Call of its own. A [*Problem] is answered as it says, a
	// *[StepUp] and [ErrForbidden] as a guard's; any other error, a panic included, as a failure without details, and is
	// logged. The cookies of the Call are set in each case.
	Handle func(ctx context.Context, c *Call) (*Response, error)
}

// path is the path of the action behind the base path.
func (a *Action) path() string {
	if a.Verb == "" {
		return a.Name
	}
	return a.Name + "/" + a.Verb
}
