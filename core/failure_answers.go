package core

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// serverError is the answer to faults that no visitor can mend: 500, as a page where a page was asked for
// (docs/protocol.md §11.3).
func (p *pages) serverError(ctx context.Context, c *call, response *Response) *Response {
	if !c.asksForPage() {
		return serverErrorJSON(&c.arrival, response)
	}
	if own := p.config.Error; own != "" {
		target, err := weburl.AddQuery(own, "error", "Configuration")
		looping := strings.HasPrefix(c.query.Get("callbackUrl"), own) // the page itself asked: it would not end
		if looping {
			loop := errorf(ErrPageLoop, "the page %s needs a session to be shown, and there is none", own)
			c.log.failure(ctx, loop, c.attrs()...)
		}
		if err == nil && !looping {
			response.Redirect = absolute(c.origin, target)
			return response
		}
	}
	return p.serverErrorPage(ctx, &c.arrival, response)
}

func serverErrorJSON(v *arrival, response *Response) *Response {
	body := append(exactjson.AppendText([]byte(`{"message":`), configMessage), `,"reference":`...)
	return refuse(response, http.StatusInternalServerError, append(exactjson.AppendText(body, v.ref()), '}'))
}

func (p *pages) serverErrorPage(ctx context.Context, v *arrival, response *Response) *Response {
	response.Status = http.StatusInternalServerError
	view := ui.ErrorView{
		Page: p.shell(v), Error: "Configuration", Reference: v.ref(), URL: v.home, Host: hostOf(v.origin),
	}
	return p.render(ctx, v, response, view.Nonce, p.views.Error(view))
}

// asksForPage reports whether a call is for one of the pages.
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

// askPatience answers an attempt that came too soon with 429 (RFC 6585 section 4): a page for browsers, JSON for the
// others.
func (p *pages) askPatience(ctx context.Context, c *call, e *tooMany, response *Response) *Response {
	if wantsURL(c.r) || !wantsPage(c.r) {
		refuse(response, http.StatusTooManyRequests, []byte(`{"message":"Too many attempts. Try again later."}`))
	} else {
		response.Status = http.StatusTooManyRequests
		view := ui.ErrorView{
			Page: p.shell(&c.arrival), Error: string(ErrTooManyRequests), URL: c.home, Host: hostOf(c.origin),
		}
		response = p.render(ctx, &c.arrival, response, view.Nonce, p.views.Error(view))
	}
	response.Header.Set("Retry-After", e.seconds())
	return response
}

// notFound is the response to an address below the base path that no action has, or to a request without a tenant: 404,
// as a page or as JSON.
func (p *pages) notFound(ctx context.Context, v *arrival, response *Response) *Response {
	if !prefersHTML(v.r.Header["Accept"]) {
		return refuse(response, http.StatusNotFound, []byte(`{"message":"Not found."}`))
	}
	response.Status = http.StatusNotFound
	view := ui.ErrorView{Page: p.shell(v), Error: "NotFound", URL: or(v.home, "/"), Host: hostOf(v.origin)}
	if errors.Is(response.Err, ErrNoTenant) {
		view.Error, view.URL = "NoTenant", ""
	} else {
		view.SignInURL = v.base + "/signin"
	}
	response = p.render(ctx, v, response, view.Nonce, p.views.Error(view))
	response.Header.Set("Vary", "Accept")
	return response
}

// storeRetryAfter is after how many seconds a client may try again when the store did not answer.
const storeRetryAfter = "5"

// unavailable is the answer where the store gave none: 503 with Retry-After (RFC 9110 sections 15.6.4, 10.2.3), as a
// page or as JSON, with the reference of the line in the log. No cookie of a session is removed.
func (p *pages) unavailable(ctx context.Context, v *arrival, page bool, response *Response) *Response {
	if page {
		response.Status = http.StatusServiceUnavailable
		view := ui.ErrorView{
			Page: p.shell(v), Error: "ServiceUnavailable", Reference: v.ref(), URL: v.home, Host: hostOf(v.origin),
		}
		response = p.render(ctx, v, response, view.Nonce, p.views.Error(view))
	} else {
		const message = `{"message":"The service is busy. Try again in a moment.","reference":`
		body := append(exactjson.AppendText([]byte(message), v.ref()), '}')
		response = refuse(response, http.StatusServiceUnavailable, body)
	}
	response.Header.Set("Retry-After", storeRetryAfter)
	return response
}
