package core

import "context"

// route is a method and an action.
type route struct{ method, action string }

// rule is what an action demands, and the function that does it.
type rule struct {
	act func(context.Context, *call) (*Response, error)
	// csrf reports whether the request must repeat the CSRF token; nil: never.
	csrf func(*call) bool
	// bare: the request needs no CSRF token.
	bare bool
	// opens: the answer sets the opening cookies.
	opens bool
	// browsing: the action goes on with what cookies keep of a sign-in, and takes no bearer token.
	browsing bool
	// session: the action reads the visitor's session.
	session bool
}

func always(*call) bool { return true }

// ifForm: a callback that is a form of this site repeats the token.
func ifForm(c *call) bool { return c.flow != nil && c.flow.needsToken() }
