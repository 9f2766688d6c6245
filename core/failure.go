package core

import (
	"context"
	"errors"
	"net/http"
)

var badRequestBody = []byte(`"Bad request."`)

// fail turns an error into an answer: the one place that decides what a browser is told (docs/protocol.md §11.2).
// Everything else is in the log, under the same reference. cookies travel on the failure.
func (p *pages) fail(ctx context.Context, c *call, err error, cookies []Cookie) *Response {
	if c.part {
		return p.failPart(ctx, c, err, cookies)
	}
	e := asError(err, ErrAuth)
	c.log.failure(ctx, e, c.attrs()...)
	response := &Response{Err: e, Cookies: cookies}
	var bad *badRequest
	var body *bodyError
	var soon *tooMany
	var busy *Problem
	switch {
	case asksJSON(c.r):
		return p.problemDocument(c, err, response)
	case errors.As(err, &soon):
		return p.askPatience(ctx, c, soon, response)
	case errors.As(err, &busy) && busy.Status == http.StatusServiceUnavailable:
		response = p.unavailable(ctx, &c.arrival, !wantsURL(c.r) && wantsPage(c.r), response)
		busy.retryAfter(response)
		return response
	case errors.Is(err, ErrStoreUnavailable):
		return p.unavailable(ctx, &c.arrival, c.action != "session" && !wantsURL(c.r) && wantsPage(c.r), response)
	case errors.As(err, &bad) && bad.unknown && c.r.Method == http.MethodGet && prefersHTML(c.r.Header["Accept"]):
		if c.settle() == nil { // for the links of the page
			c.locales.settle(ctx, &c.arrival, c.askedLocale())
		}
		return p.notFound(ctx, &c.arrival, response)
	case errors.As(err, &bad):
		return refuse(response, http.StatusBadRequest, badRequestBody)
	case errors.As(err, &body):
		return refuse(response, body.status, badRequestBody)
	case e.Type == ErrUntrustedHost || e.Type == ErrInvalidCallbackURL:
		return p.serverError(ctx, c, response)
	case c.action == "session" && (e.Type == ErrSessionToken || e.Type == ErrJWTSession): // the session could not be read
		return p.serverError(ctx, c, response)
	case c.r.Method == "POST" && c.action == "session":
		return refuse(response, http.StatusBadRequest, []byte("null"))
	}
	target, pageErr := p.failurePage(c, e)
	if pageErr != nil { // New has checked the pages
		return p.serverError(ctx, c, response)
	}
	response.Redirect = absolute(c.origin, target)
	return response
}

// failurePage is the address of the page that tells a visitor of a failure: the sign-in page where they can try again.
func (p *pages) failurePage(c *call, e *Error) (string, error) {
	params := []string{"error", e.Type.Public()}
	if e.Type == ErrCredentialsSignin {
		params = append(params, "code", safeCode(e.Code))
	}
	if reason := reasonIn(e); reason != "" && params[1] == "Configuration" {
		params = append(params, "reason", string(reason))
	}
	switch {
	case e.Type == ErrOAuthProfileParse: // the visitor can try another account
		params[1] = string(ErrOAuthCallback)
	case !e.Type.onSignInPage():
		return c.page(p.config.Error, "error", params...)
	}
	return c.page(p.config.SignIn, "signin", params...)
}

// refer gives the response to a request that failed the reference of its log line.
func (v *arrival) refer(response *Response) *Response {
	if response.Err != nil {
		response.Header.Set(ReferenceHeader, v.ref())
	}
	return response
}
