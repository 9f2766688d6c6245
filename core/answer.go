package core

import (
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// finish makes the Response ready to be written: redirect, headers of every answer, and JSON in place of a redirect for
// clients that ask for it (docs/protocol.md §1.6, §1.7).
func finish(request *Request, r *Response) *Response {
	if r.Header == nil {
		r.Header = http.Header{}
	}
	h := r.Header
	if r.Redirect != "" {
		h["Location"] = []string{r.Redirect}
		r.Status = http.StatusFound
		if wantsURL(request) {
			r.Status = http.StatusOK
			h["Content-Type"] = contentJSON
			r.Body = append(exactjson.AppendText([]byte(`{"url":`), r.Redirect), '}')
			if r.Err != nil {
				delete(h, "Location")
			}
		}
	}
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
	if _, ok := h["Cache-Control"]; !ok {
		h["Cache-Control"] = noStore
	}
	h["X-Content-Type-Options"] = noSniff
	h["Referrer-Policy"] = sameOriginReferrer
	own(h)
	return r
}

// own gives a header values of its own, in one allocation: the application that gets a Response may change it without
// changing other answers.
func own(h http.Header) {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	all := make([]string, 0, n)
	for name, values := range h {
		from := len(all)
		all = append(all, values...)
		h[name] = all[from:len(all):len(all)]
	}
}

// Header values that never change: shared among the stations, so never written to. An answer that leaves core has its
// own, see own.
var (
	contentJSON        = []string{"application/json"}
	contentHTML        = []string{"text/html; charset=utf-8"}
	noStore            = []string{"private, no-cache, no-store"}
	noSniff            = []string{"nosniff"}
	sameOriginReferrer = []string{"same-origin"} // no-referrer would make browsers send Origin: null with our forms
	zero               = []string{"0"}
	noCache            = []string{"no-cache"}
)

// wantsURL reports whether the client asked for {"url": …} in place of redirects.
func wantsURL(r *Request) bool { return len(r.Header["X-Auth-Return-Redirect"]) > 0 }

// jsonResponse is an API answer that no cache keeps.
func jsonResponse(body []byte) *Response {
	return &Response{Body: body, Header: http.Header{
		"Content-Type": contentJSON, "Cache-Control": noStore, "Expires": zero, "Pragma": noCache,
	}}
}

// absolute puts the origin in front of a path.
func absolute(origin, target string) string {
	if target != "" && target[0] == '/' {
		return origin + target
	}
	return target
}

const configMessage = "There was a problem with the server configuration. Check the server logs for more information."

func refuse(response *Response, status int, body []byte) *Response {
	response.Status, response.Body = status, body
	response.Header = http.Header{"Content-Type": contentJSON}
	return response
}

func hostOf(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	return host
}
