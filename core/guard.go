package core

import (
	"errors"
	"net/http"
)

// sessionRequired tells the sign-in page that a guard has sent the visitor; the clients of Auth.js send it too. It is
// no failure: nothing of it is in the log.
const sessionRequired = "SessionRequired"

// Require returns the session, or the answer to give in its place: 303 to the sign-in page for a browser, 401 for an
// API client, 500 or 503 when the session could not be read: a guard fails closed (docs/protocol.md §7.9). The guards
// are asked in their order; the first that objects decides the answer.
//
// HEAD is answered as GET. HTMX, which would put a sign-in page into a part of the page, gets 401 with HX-Redirect, on
// which it navigates.
func (v *Visit) Require(guards ...Guard) (*Session, *Response) {
	session, err := v.Session()
	switch {
	case err != nil:
		return nil, v.nobodyKnows(err)
	case session == nil || session.User == nil:
		return nil, v.askToSignIn([]byte(`{"message":"Sign in first."}`))
	}
	for _, ask := range guards {
		if err := guard("guard", func() error { return ask(v, session) }); err != nil {
			return nil, v.objection(err)
		}
	}
	return session, nil
}

// askToSignIn leads to the sign-in page and back: a browser by 303, HTMX by a header, and others get 401 with the body.
func (v *Visit) askToSignIn(body []byte) *Response {
	response := &Response{Header: http.Header{
		"Cache-Control": {"private, no-cache, no-store"}, "Vary": {"Accept, Cookie"},
	}}
	target, pageErr := v.at.page(
		v.pages.config.SignIn, "signin", "error", sessionRequired, "callbackUrl", v.at.here(),
	)
	switch {
	case pageErr != nil:
	case len(v.at.r.Header["Hx-Request"]) > 0:
		response.Header["Hx-Redirect"] = []string{target}
	case v.at.r.Method != http.MethodPost && wantsPage(v.at.r):
		response.Status, response.Redirect = http.StatusSeeOther, target
		response.Header["Location"] = []string{target}
		if v.pages.config.SignIn == "" && v.auth.mounted.misses() {
			v.at.log.warn(v.Context, warnNotMounted)
		}
		return response
	}
	response.Status = http.StatusUnauthorized
	response.Header["Content-Type"] = []string{"application/json"}
	response.Header["X-Content-Type-Options"] = []string{"nosniff"}
	response.Body = body
	return response
}

// nobodyKnows is the answer where the session could not be read: 500, or 503 where the store gave no answer, as the
// error page for a browser that asks for a document, else as JSON, with the reference of the line in the log. It sends
// the browser nowhere: a custom error page may have the same guard.
func (v *Visit) nobodyKnows(err error) *Response {
	response := &Response{Err: err}
	page := prefersHTML(v.at.r.Header["Accept"])
	if errors.Is(err, ErrStoreUnavailable) {
		response = v.pages.unavailable(v.Context, &v.at, page, response)
	} else if page {
		response = v.pages.serverErrorPage(v.Context, &v.at, response)
	} else {
		response = serverErrorJSON(&v.at, response)
	}
	response.Header["Vary"] = []string{"Accept, Cookie"}
	return finish(v.at.r, response)
}
