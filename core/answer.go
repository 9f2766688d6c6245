package core

import (
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// finish makes the Response ready to be written: redirect, headers of every answer, and JSON in place of a redirect for
// clients that ask for it (docs/protocol.md §1.6, §1.7).
func finish(request *Request, r *Response) *Response {
	h := &r.Header
	if r.Redirect != "" {
		h.set([2]string{"Location", r.Redirect})
		if r.Status != http.StatusSeeOther {
			r.Status = http.StatusFound
		}
		if wantsURL(request) || asksJSON(request) {
			r.Status = http.StatusOK
			h.set(contentJSON)
			r.Body = append(exactjson.AppendText([]byte(`{"url":`), r.Redirect), '}')
			if r.Err != nil {
				h.Del("Location")
			}
		}
	}
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
	if h.find("Cache-Control") < 0 {
		h.set(notStored)
	}
	for _, field := range everyAnswer {
		h.set(field)
	}
	return r
}

// alsoVaries adds a field of the request to those that an answer follows (RFC 9110 section 12.5.5).
func alsoVaries(h *Header, field string) {
	switch vary := h.Get("Vary"); {
	case vary == "":
		h.Set("Vary", field)
	case !follows(vary, field):
		h.Set("Vary", vary+", "+field)
	}
}

// follows reports whether a Vary header names a field, or all. X-Cookie-Notice is not Cookie.
func follows(vary, field string) bool {
	for name := range strings.SplitSeq(vary, ",") {
		if name = strings.TrimSpace(name); name == "*" || strings.EqualFold(name, field) {
			return true
		}
	}
	return false
}

const noStore = "private, no-cache, no-store"

// What bodies are.
var (
	contentJSON = [2]string{"Content-Type", "application/json"}
	contentHTML = [2]string{"Content-Type", "text/html; charset=utf-8"}
)

// What keeps caches off: all, and those of HTTP/1.0.
var (
	notStored   = [2]string{"Cache-Control", noStore}
	expired     = [2]string{"Expires", "0"}
	notKeptByV1 = [2]string{"Pragma", "no-cache"}
)

// redirectTo is an answer that leads elsewhere.
func redirectTo(target string) *Response {
	made := &struct { // one allocation
		Response
		room [1 + usualFields][2]string
	}{Response: Response{Redirect: target}}
	made.Header.fields = made.room[:0]
	return &made.Response
}

// jsonResponse is an API answer that no cache keeps.
func jsonResponse(body []byte) *Response { return answerJSON(body, expired, notKeptByV1) }

// answerJSON is an answer that is JSON, with further fields of its header: two at most.
func answerJSON(body []byte, further ...[2]string) *Response {
	made := &struct { // one allocation
		Response
		room [2 + 2 + len(everyAnswer)][2]string
	}{Response: Response{Body: body}}
	made.Header = headerIn(append(made.room[:0], contentJSON, notStored), further)
	return &made.Response
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
	response.Header = newHeader(contentJSON)
	return response
}

func hostOf(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	return host
}
