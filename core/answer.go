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
		r.Header = make(http.Header, usualFields)
	}
	h := headerValues{header: r.Header}
	if r.Redirect != "" {
		h.set("Location", r.Redirect)
		if r.Status != http.StatusSeeOther {
			r.Status = http.StatusFound
		}
		if wantsURL(request) || asksJSON(request) {
			r.Status = http.StatusOK
			h.set(contentJSON[0], contentJSON[1])
			r.Body = append(exactjson.AppendText([]byte(`{"url":`), r.Redirect), '}')
			if r.Err != nil {
				delete(r.Header, "Location")
			}
		}
	}
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
	if _, ok := r.Header["Cache-Control"]; !ok {
		h.set("Cache-Control", noStore)
	}
	for _, field := range everyAnswer {
		if all := r.Header[field[0]]; len(all) != 1 || all[0] != field[1] {
			h.set(field[0], field[1])
		}
	}
	return r
}

// everyAnswer is in the header of every answer, whatever an action says.
var everyAnswer = [...][2]string{
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "same-origin"}, // no-referrer would make browsers send Origin: null with our forms
}

// usualFields is room for the header of nearly all answers, in a map that never grows.
const usualFields = 8

// headerValues fills a header whose values lie in one allocation. They are the answer's own: the application that gets
// a Response may change it without changing other answers.
type headerValues struct {
	header http.Header
	room   []string
}

func (h *headerValues) set(name, value string) {
	if len(h.room) == cap(h.room) {
		h.room = make([]string, 0, usualFields/2)
	}
	n := len(h.room)
	h.room = append(h.room, value)
	h.header[name] = h.room[n : n+1 : n+1]
}

// newHeader makes a header of names and values, and of what is in every answer.
func newHeader(fields ...[2]string) http.Header {
	h := headerValues{make(http.Header, usualFields), make([]string, 0, len(fields)+len(everyAnswer))}
	for _, field := range fields {
		h.set(field[0], field[1])
	}
	for _, field := range everyAnswer {
		h.set(field[0], field[1])
	}
	return h.header
}

// alsoVaries adds a field of the request to those that an answer follows (RFC 9110 section 12.5.5).
func alsoVaries(h http.Header, field string) {
	vary := strings.Join(h["Vary"], ", ")
	switch {
	case vary == "":
		h["Vary"] = []string{field}
	case !follows(vary, field):
		h["Vary"] = []string{vary + ", " + field}
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

// jsonResponse is an API answer that no cache keeps.
func jsonResponse(body []byte) *Response {
	return answerJSON(body, [2]string{"Expires", "0"}, [2]string{"Pragma", "no-cache"})
}

// answerJSON is an answer that is JSON, with further fields of its header: two at most.
func answerJSON(body []byte, further ...[2]string) *Response {
	made := &struct { // one allocation
		Response
		room [2 + 2 + len(everyAnswer)]string
	}{Response: Response{Body: body}}
	h := headerValues{make(http.Header, usualFields), made.room[:0]}
	h.set(contentJSON[0], contentJSON[1])
	h.set("Cache-Control", noStore)
	for _, field := range further {
		h.set(field[0], field[1])
	}
	for _, field := range everyAnswer {
		h.set(field[0], field[1])
	}
	made.Header = h.header
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
