package core

import (
	"errors"
	"log/slog"
	"net/http"
)

// sessionRequired tells the sign-in page that a guard has sent the visitor; the clients of Auth.js send it too. It is
// no failure: nothing of it is in the log.
const sessionRequired = "SessionRequired"

// Require returns the session, or the answer to give in its place, in the language of the client: a browser is sent to
// the sign-in page with 303, HTMX gets 401 with HX-Redirect, on which it navigates, and scripts, API clients,
// WebSockets and streams of events get 401 with a challenge and a problem document. Where the session could not be
// read it is 500 or 503: a guard fails closed (docs/protocol.md §7.9). HEAD is answered as GET. The guards are asked in
// their order; the first that objects decides the answer.
func (v *Visit) Require(guards ...Guard) (*Session, *Response) {
	session, err := v.Session()
	switch {
	case err != nil:
		return nil, v.nobodyKnows(err)
	case session == nil || session.User == nil:
		return nil, v.askToSignIn(v.signInProblem())
	}
	for _, ask := range guards {
		if err := guard("guard", func() error { return ask(v, session) }); err != nil {
			return nil, v.objection(err)
		}
	}
	return session, nil
}

// RequireWhere is Require for the requests that where picks, and lets all others through with neither session nor
// answer; nil: it picks all. [Under] picks by the path. A panic in where is answered as a session that could not be
// read.
func (v *Visit) RequireWhere(where func(*Request) bool, guards ...Guard) (*Session, *Response) {
	if where != nil {
		picked, err := guarded("condition of a guard", func() (bool, error) { return where(v.at.r), nil })
		if err != nil {
			return nil, v.objection(err)
		}
		if !picked {
			return nil, nil
		}
	}
	return v.Require(guards...)
}

// signInProblem is what a client is told that is not signed in and shows no pages.
func (v *Visit) signInProblem() *Problem {
	if _, presented, malformed := v.at.bearer(); presented {
		return bearerProblem(v.at.origin, malformed)
	}
	return &Problem{
		Status: http.StatusUnauthorized, Code: "session_required", Detail: "Sign in first.",
		challenge: `Bearer realm="` + v.at.origin + `"`,
	}
}

// askToSignIn leads to the sign-in page and back: a browser by 303, HTMX by a header. Others get the problem, and its
// challenge (RFC 9110 section 11.6.1).
func (v *Visit) askToSignIn(problem *Problem) *Response {
	response := &Response{}
	target, pageErr := v.at.page(
		v.pages.config.SignIn, "signin", "error", sessionRequired, "callbackUrl", v.at.here(),
	)
	asks := v.at.caller()
	if asks == browser && pageErr == nil {
		response.Status, response.Redirect = http.StatusSeeOther, target
		response.Header.Set("Location", target)
		if v.pages.config.SignIn == "" && v.auth.mounted.misses() {
			v.at.log.warn(v.Context, warnNotMounted, slog.String("hint", "a guard redirects to the sign-in page, and no auth "+
				"route was requested so far: call the adapter's Mount, at BasePath "+v.at.basePath))
		}
	} else {
		response = problem.document(v.answering(), response)
		response.Header.Set("Www-Authenticate", problem.challenge)
	}
	if asks == htmx && pageErr == nil {
		response.Header.Set("Hx-Redirect", target)
	}
	return v.guarding(response)
}

// guarding adds what every answer of a guard has: no cache keeps it, or gives it to another kind of client.
func (v *Visit) guarding(response *Response) *Response {
	if response.Header.Get("Cache-Control") == "" {
		response.Header.Set("Cache-Control", noStore)
	}
	response.Header.Set("X-Content-Type-Options", "nosniff")
	v.at.varies(&response.Header, "Accept, Cookie")
	return response
}

// nobodyKnows is the response if the session could not be read: 500, 503 if the store is unavailable, or 404 without a
// tenant, as the error page for a browser, else as JSON. It redirects nowhere: a custom error page may have the same
// guard.
func (v *Visit) nobodyKnows(err error) *Response {
	at, response := v.answering(), &Response{Err: err}
	page := v.at.readsPages()
	if errors.Is(err, ErrNoTenant) {
		response = v.pages.notFound(v.Context, at, response)
	} else if errors.Is(err, ErrStoreUnavailable) {
		response = v.pages.unavailable(v.Context, at, page, response)
	} else if page {
		response = v.pages.serverErrorPage(v.Context, at, response)
	} else {
		response = serverErrorJSON(&v.at, response)
	}
	at.varies(&response.Header, "Accept, Cookie")
	return v.at.refer(finish(v.at.r, response))
}
