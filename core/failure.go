package core

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/errortypes"
	"github.com/latchkey-go/latchkey/core/internal/problems"
	"github.com/latchkey-go/latchkey/core/internal/verdict"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/form"
	"github.com/latchkey-go/latchkey/internal/negotiate"
	"github.com/latchkey-go/latchkey/internal/passkey"
	"github.com/latchkey-go/latchkey/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

var badRequestBody = []byte(`"Bad request."`)

// fail converts an error to a response. It is the only function that decides what a browser learns about an error
// (docs/protocol.md §11.2); the rest is in the log with the same reference. The response also sets cookies.
func (p *pages) fail(ctx context.Context, c *call, err error, cookies []Cookie) *Response {
	if c.plugin {
		return p.failPart(ctx, c, err, cookies)
	}
	e := errormarks.As(err, ErrAuth)
	c.log.failure(ctx, e, c.attrs()...)
	response := &Response{Err: e, Cookies: cookies}
	var bad *problems.BadRequest
	var body *form.BodyError
	var soon *problems.TooMany
	var busy *Problem
	switch {
	case negotiate.AsksJSON(c.r.Method, c.r.Header):
		return p.problemDocument(c, err, response)
	case errors.As(err, &soon):
		return p.askPatience(ctx, c, soon, response)
	case errors.As(err, &busy) && busy.Status == http.StatusServiceUnavailable:
		response = p.unavailable(ctx, &c.arrival, !wantsURL(c.r) && wantsPage(c.r), response)
		busy.retryAfter(response)
		return response
	case errors.Is(err, ErrStoreUnavailable):
		return p.unavailable(ctx, &c.arrival, c.action != "session" && !wantsURL(c.r) && wantsPage(c.r), response)
	case errors.As(err, &bad) && bad.Unknown && c.r.Method == http.MethodGet &&
		negotiate.PrefersHTML(c.r.Header["Accept"]):
		if c.settle() == nil { // for the links of the page
			c.settleLocale(ctx, c.askedLocale())
		}
		return p.notFound(ctx, &c.arrival, response)
	case errors.As(err, &bad):
		return refuse(response, http.StatusBadRequest, badRequestBody)
	case errors.As(err, &body):
		return refuse(response, body.Status, badRequestBody)
	case e.Type == ErrUntrustedHost || e.Type == autherr.InvalidCallbackURL:
		return p.serverError(ctx, c, response)
	case c.action == "session" && (e.Type == ErrSessionToken || e.Type == autherr.JWTSession): // unreadable
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

// failPart logs an error of a plugin's action and returns the response.
func (p *pages) failPart(ctx context.Context, c *call, err error, cookies []Cookie) *Response {
	problem := problemOf(err)
	e := errormarks.As(err, ErrAuth)
	if errors.As(err, new(*Problem)) {
		e = problem.logged()
	}
	if !problem.unlogged && !problem.SignIn {
		c.log.failure(ctx, e, c.attrs()...)
	}
	response := &Response{Err: e, Cookies: cookies}
	var soon *problems.TooMany
	switch {
	case c.wantsData():
		response = problem.answer(&c.arrival, err, response)
	case errors.As(err, &soon):
		response = p.askPatience(ctx, c, soon, response)
	case errors.Is(err, ErrStoreUnavailable):
		response = p.unavailable(ctx, &c.arrival, true, response)
	default:
		response = p.problemPage(ctx, c, problem, response)
	}
	if problem.challenge != "" {
		response.set("Www-Authenticate", problem.challenge)
	}
	problem.retryAfter(response)
	if len(problem.allow) > 0 {
		response.set("Allow", strings.Join(problem.allow, ", "))
	}
	return response
}

// logged returns the error to log: a failure of this site if the status is 500 or above, otherwise a mistake of the
// client.
func (p *Problem) logged() *Error {
	e := &Error{Type: ErrAuth, Code: p.Code, Cause: errormarks.ByClient(p)}
	switch status := p.status(); {
	case status >= http.StatusInternalServerError:
		e.Cause = errormarks.ByServer(p)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Type = ErrAccessDenied
	}
	return e
}

// retryAfter sets the Retry-After header (RFC 9110 section 10.2.3).
func (p *Problem) retryAfter(response *Response) {
	if p.RetryAfter > 0 {
		response.set("Retry-After", problems.Seconds(p.RetryAfter))
	}
}

// answer is document with the Retry-After header for an error.
func (p *Problem) answer(v *arrival, err error, response *Response) *Response {
	response = p.document(v, response)
	var soon *problems.TooMany
	switch {
	case errors.As(err, &soon):
		response.set("Retry-After", problems.Seconds(soon.Wait))
	case p.Status == http.StatusServiceUnavailable:
		response.set("Retry-After", storeRetryAfter)
	}
	p.retryAfter(response)
	return response
}

// problemPage renders the error page for a problem.
func (p *pages) problemPage(ctx context.Context, c *call, problem *Problem, response *Response) *Response {
	return p.errorView(ctx, &c.arrival, response, problem.status(), ui.ErrorView{
		Error: problem.Code, Detail: problem.detail(&c.arrival), Reference: c.ref(), SignInURL: c.base + "/signin",
	})
}

// errorView renders a page about an error. It sets the fields of the view that all these pages have.
func (p *pages) errorView(
	ctx context.Context, v *arrival, response *Response, status int, view ui.ErrorView,
) *Response {
	response.Status = status
	view.Page, view.Host = p.shell(v), v.at.Host
	if view.URL == "" {
		view.URL = v.home
	}
	return p.render(ctx, v, response, view.Nonce, p.views.Error(view))
}

// failurePage returns the URL of the page that shows an error: the sign-in page if the user can try again there, else
// the error page.
func (p *pages) failurePage(c *call, e *Error) (string, error) {
	params := []string{"error", e.Type.Public()}
	if e.Type == ErrCredentialsSignin {
		params = append(params, "code", problems.Code(e.Code))
	}
	if reason := errormarks.ReasonIn(e); reason != "" && params[1] == "Configuration" {
		params = append(params, "reason", string(reason))
	}
	switch {
	case e.Type == autherr.OAuthProfileParse: // the user can try another account
		params[1] = string(autherr.OAuthCallback)
	case !errortypes.Of(string(e.Type)).OnSignInPage:
		return c.page(p.config.Error, "error", params...)
	}
	return c.page(p.config.SignIn, "signin", params...)
}

// complete finishes the response to the request, and adds the reference of the log message if the request failed.
func (v *arrival) complete(response *Response) *Response {
	if response.Err != nil {
		response.set(ReferenceHeader, v.ref())
	}
	return finish(v.r, response)
}

// serverError answers errors that the user cannot fix: status 500, as a page if a page was requested (docs/protocol.md
// §11.3).
func (p *pages) serverError(ctx context.Context, c *call, response *Response) *Response {
	if !c.asksForPage() {
		return serverErrorJSON(&c.arrival, response)
	}
	if own := p.config.Error; own != "" {
		target, err := weburl.AddQuery(own, "error", "Configuration")
		// If the error page itself sent the request, another redirect would loop.
		looping := strings.HasPrefix(c.query.Get("callbackUrl"), own)
		if looping {
			loop := errorf(autherr.PageLoop, "the error page %s requires a session, and there is none", own)
			c.log.failure(ctx, loop, c.attrs()...)
		}
		if err == nil && !looping {
			response.Redirect = absolute(c.origin, target)
			return response
		}
	}
	return p.serverErrorPage(ctx, &c.arrival, response)
}

func (p *pages) serverErrorPage(ctx context.Context, v *arrival, response *Response) *Response {
	return p.errorView(ctx, v, response, http.StatusInternalServerError, ui.ErrorView{
		Error: "Configuration", Reference: v.ref(),
	})
}

// asksForPage reports whether the request is for a built-in page.
func (c *call) asksForPage() bool {
	if c.r.Method != "GET" {
		return false
	}
	switch c.action {
	case "signin", "signout", "error", "verify-request":
		return true
	}
	return false
}

// askPatience answers a rate-limited attempt with status 429 (RFC 6585 section 4), as a page for browsers, else as
// JSON.
func (p *pages) askPatience(ctx context.Context, c *call, e *problems.TooMany, response *Response) *Response {
	if wantsURL(c.r) || !wantsPage(c.r) {
		refuse(response, http.StatusTooManyRequests, []byte(`{"message":"Too many attempts. Try again later."}`))
	} else {
		view := ui.ErrorView{Error: string(ErrTooManyRequests)}
		response = p.errorView(ctx, &c.arrival, response, http.StatusTooManyRequests, view)
	}
	response.set("Retry-After", problems.Seconds(e.Wait))
	return response
}

// notFound answers a request to an unknown path below the base path, or a request without a tenant, with status 404, as
// a page or as JSON.
func (p *pages) notFound(ctx context.Context, v *arrival, response *Response) *Response {
	if !negotiate.PrefersHTML(v.r.Header["Accept"]) {
		return refuse(response, http.StatusNotFound, []byte(`{"message":"Not found."}`))
	}
	view := ui.ErrorView{Error: "NotFound", URL: cmp.Or(v.home, "/"), SignInURL: v.base + "/signin"}
	if errors.Is(response.Err, ErrNoTenant) { // the home page is unknown
		view = ui.ErrorView{Error: "NoTenant"}
	}
	response = p.errorView(ctx, v, response, http.StatusNotFound, view)
	response.set("Vary", "Accept")
	return response
}

// storeRetryAfter is the Retry-After value, in seconds, of responses while the store is unavailable.
const storeRetryAfter = "5"

// unavailable answers a request that failed because the store was unavailable: status 503 with Retry-After (RFC 9110
// sections 15.6.4 and 10.2.3), as a page or as JSON, with the reference of the log message. It deletes no session
// cookie.
func (p *pages) unavailable(ctx context.Context, v *arrival, page bool, response *Response) *Response {
	if page {
		view := ui.ErrorView{Error: "ServiceUnavailable", Reference: v.ref()}
		response = p.errorView(ctx, v, response, http.StatusServiceUnavailable, view)
	} else {
		const message = `{"message":"The service is busy. Try again in a moment.","reference":`
		body := append(exactjson.AppendText([]byte(message), v.ref()), '}')
		response = refuse(response, http.StatusServiceUnavailable, body)
	}
	response.set("Retry-After", storeRetryAfter)
	return response
}

// problemDocument answers a failed action with a problem document (RFC 9457).
func (p *pages) problemDocument(c *call, err error, response *Response) *Response {
	problem := *problemOf(err)
	var members map[string]any
	if problem.Status, problem.Code, members = problems.OfAction(err, problem.Status, problem.Code); members != nil {
		problem.Members = members
	}
	return problem.answer(&c.arrival, err, response)
}

// auditCallback notes a sign-in that failed.
func (c *call) auditCallback(ctx context.Context, typed string, err error) {
	if verdict.IsNoted(err) {
		return
	}
	name := audit.SignIn
	action, _ := c.fields.Text("action")
	switch {
	case errors.Is(err, ErrOAuthAccountNotLinked), errors.Is(err, ErrAccountNotLinked):
		name = audit.AccountRefused
	case c.kind == TypeWebAuthn && action == passkey.Register:
		name = audit.PasskeyAdded
	}
	c.refused(ctx, name, typed, err)
}

// refused notes the error that stopped a request. typed is the identifier that the client typed.
func (c *call) refused(ctx context.Context, name audit.Name, typed string, err error) {
	e := audit.Event{Name: name, Subject: typed}
	e.Outcome, e.Reason = verdict.Of(err, c.kind == TypeOAuth || c.kind == TypeOIDC)
	var why *audit.Denial
	if errors.As(err, &why) {
		e.UserID = why.UserID
	}
	if e.UserID != "" {
		e.Subject = "" // the identifier belongs to a known user
	}
	c.note(ctx, e)
}
