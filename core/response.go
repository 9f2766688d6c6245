package core

import (
	"cmp"
	"net/http"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/headers"
	"github.com/latchkey-go/latchkey/internal/negotiate"
)

// Response is the response to a request. Adapters write it unchanged.
type Response struct {
	// Status is the HTTP status.
	Status int
	// Header contains the header fields, including Location and Content-Type, but not Set-Cookie. Names are canonical. It
	// is nil if there are none.
	Header http.Header
	// Cookies are set in this order, even if the request failed.
	Cookies []Cookie
	// Redirect is the URL that the browser is redirected to. It is empty if there is no redirect. If the request has
	// X-Auth-Return-Redirect, the status is 200 and the URL is in the body.
	Redirect string
	// Body is the body. It is nil if there is none.
	Body []byte
	// Err is why the request failed, or nil. It is for the application and its log; never send it to
	// the browser.
	Err error
}

// set sets a header field. Combine several values of one field with commas (RFC 9110 section 5.3).
func (r *Response) set(name, value string) {
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set(name, value)
}

// Fill writes the header fields and cookies to the header of an HTTP response. A field replaces values set by earlier
// handlers, except that cookies and the names in Vary are added. The Response and the header share no memory.
func (r *Response) Fill(answer http.Header) {
	headers.Copy(answer, r.Header)
	for _, c := range r.Cookies {
		answer.Add("Set-Cookie", c.String())
	}
}

// Failure returns why the request failed, or nil. It is for applications that handle failures of a form action
// themselves, for example by showing the form again. It then adds the response's cookies and Retry-After to the given
// header; do not write the rest of the Response. errors.As finds an *[Error], whose Type.Public and Code may be shown
// to the browser.
func (r *Response) Failure(answer http.Header) error {
	if r.Err == nil {
		return nil
	}
	for _, c := range r.Cookies {
		answer.Add("Set-Cookie", c.String())
	}
	if wait := r.Header.Get("Retry-After"); wait != "" {
		answer.Add("Retry-After", wait)
	}
	return r.Err
}

// finish completes a Response: it sets the redirect and the common header fields, and replaces a redirect by JSON for
// clients that request it (docs/protocol.md §1.6, §1.7).
func finish(request *Request, r *Response) *Response {
	if r.Header == nil {
		r.Header = http.Header{}
	}
	h := r.Header
	if r.Redirect != "" {
		h.Set("Location", r.Redirect)
		if r.Status != http.StatusSeeOther {
			r.Status = http.StatusFound
		}
		if wantsURL(request) || negotiate.AsksJSON(request.Method, request.Header) {
			r.Status = http.StatusOK
			h.Set("Content-Type", typeJSON)
			r.Body = append(exactjson.AppendText([]byte(`{"url":`), r.Redirect), '}')
			if r.Err != nil {
				h.Del("Location")
			}
		}
	}
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
	if h.Get("Cache-Control") == "" {
		headers.Set(h, "Cache-Control", noStore)
	}
	referrer := cmp.Or(h.Get("Referrer-Policy"), sameOriginReferrer) // the page of One Tap has another
	headers.Set(h, "X-Content-Type-Options", "nosniff", "Referrer-Policy", referrer)
	return r
}

const (
	noStore            = "private, no-cache, no-store"
	sameOriginReferrer = "same-origin" // no-referrer would make browsers send "Origin: null" with forms
)

const typeJSON = "application/json"

// redirectTo returns a redirect response.
func redirectTo(target string) *Response { return &Response{Redirect: target} }

// jsonResponse returns a JSON response that no cache may store.
func jsonResponse(body []byte) *Response {
	return &Response{Body: body, Header: headers.New("Content-Type", typeJSON)}
}

// uncachedJSON is jsonResponse with the fields that also prevent caching by HTTP/1.0 caches.
func uncachedJSON(body []byte) *Response {
	return &Response{Body: body, Header: headers.New("Content-Type", typeJSON, "Expires", "0", "Pragma", "no-cache")}
}

// absolute prepends the origin to a path. It returns other targets unchanged.
func absolute(origin, target string) string {
	if target != "" && target[0] == '/' {
		return origin + target
	}
	return target
}

const configMessage = "There was a problem with the server configuration. Check the server logs for more information."

func refuse(response *Response, status int, body []byte) *Response {
	response.Status, response.Body = status, body
	response.Header = headers.New("Content-Type", typeJSON)
	return response
}

func serverErrorJSON(v *arrival, response *Response) *Response {
	body := append(exactjson.AppendText([]byte(`{"message":`), configMessage), `,"reference":`...)
	return refuse(response, http.StatusInternalServerError, append(exactjson.AppendText(body, v.ref()), '}'))
}
