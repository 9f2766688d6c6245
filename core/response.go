package core

import (
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// Response is the answer to a request before it becomes HTTP. An adapter writes it and adds nothing.
type Response struct {
	// Status is the HTTP status.
	Status int
	// Header holds the header fields except Set-Cookie; Location and Content-Type are among them.
	Header Header
	// Cookies are set in this order. They are set on failures too.
	Cookies []Cookie
	// Redirect is where the browser is sent, empty when it is not. With X-Auth-Return-Redirect the status is 200 and the
	// URL is in the body.
	Redirect string
	// Body is the whole body, nil for none.
	Body []byte
	// Err is why the request failed, nil when it did not. It is for the application and its log, never for the browser.
	Err error
}

// Fill writes header fields and cookies to the header of a response of net/http. A field replaces the values that
// handlers in front have set. Cookies and the names of Vary are added to theirs. Do not change the Response afterwards:
// the values are shared.
func (r *Response) Fill(answer http.Header) {
	for i := range r.Header.fields {
		field := &r.Header.fields[i]
		if field[0] == "Vary" && len(answer["Vary"]) > 0 {
			if more := r.VaryBesides(answer["Vary"]); more != "" {
				answer["Vary"] = append(answer["Vary"], more)
			}
			continue
		}
		answer[field[0]] = field[1:2:2]
	}
	if len(r.Cookies) == 0 {
		return
	}
	lines := slices.Grow(answer["Set-Cookie"], len(r.Cookies))
	var room [1536]byte // on the stack; what is longer moves
	for i := range r.Cookies {
		lines = append(lines, string((*cookie.Cookie)(&r.Cookies[i]).Append(room[:0])))
	}
	answer["Set-Cookie"] = lines
}

// VaryBesides returns the names in the Vary field that the values of another Vary field do not have, separated by
// commas. An adapter adds them to a Vary field that a handler in front has set. It is empty if there are none.
func (r *Response) VaryBesides(values []string) string {
	said := strings.Join(values, ",")
	var more []string
	for name := range strings.SplitSeq(r.Header.Get("Vary"), ",") {
		if name = strings.TrimSpace(name); name != "" && !follows(said, name) {
			more = append(more, name)
		}
	}
	return strings.Join(more, ", ")
}

// Failure returns why the request failed, nil when it did not. It is for applications that answer failures of a form
// action themselves, by showing the form again for instance: what the failure sets nevertheless, cookies and
// Retry-After, is then added to the header of their answer, and the rest of the Response is not written. errors.As
// finds a *[Error], whose Type.Public and Code are what a browser may be told.
func (r *Response) Failure(answer HeaderWriter) error {
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

// Header is the header of a [Response], but for its cookies: fields with one value each, in the order in which they
// were set. Names are compared as [http.Header] does, in any letter case. The zero value is an empty one. It is used by
// its address, as in response.Header.Set: a copy shares some of its fields. It is not safe for concurrent use.
type Header struct{ fields [][2]string }

// newHeader makes a header of names, in their canonical form, and values, and of what is in every answer.
func newHeader(fields ...[2]string) Header {
	return headerIn(make([][2]string, 0, len(fields)+usualFields), fields)
}

// headerIn is newHeader behind fields that are there.
func headerIn(there, further [][2]string) Header {
	return Header{append(append(there, further...), everyAnswer[:]...)}
}

// everyAnswer is in the header of every answer, whatever an action says.
var everyAnswer = [...][2]string{
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "same-origin"}, // no-referrer would make browsers send Origin: null with our forms
}

// usualFields is room for what nearly all answers have besides their own fields: everyAnswer, Cache-Control and one
// more.
const usualFields = len(everyAnswer) + 2

// Get returns the value of a field, empty when there is none.
func (h *Header) Get(name string) string {
	if at := h.find(http.CanonicalHeaderKey(name)); at >= 0 {
		return h.fields[at][1]
	}
	return ""
}

// Set sets a field, in place of the value that it has. Several values of one field are one, with commas (RFC 9110
// section 5.3).
func (h *Header) Set(name, value string) { h.set([2]string{http.CanonicalHeaderKey(name), value}) }

// Del removes a field.
func (h *Header) Del(name string) {
	if at := h.find(http.CanonicalHeaderKey(name)); at >= 0 {
		h.fields = append(h.fields[:at], h.fields[at+1:]...)
	}
}

// All yields the fields, names in their canonical form.
func (h *Header) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, field := range h.fields {
			if !yield(field[0], field[1]) {
				return
			}
		}
	}
}

// set is Set for a name in its canonical form.
func (h *Header) set(field [2]string) {
	if at := h.find(field[0]); at >= 0 {
		h.fields[at] = field
		return
	}
	if h.fields == nil {
		h.fields = make([][2]string, 0, 1+usualFields)
	}
	h.fields = append(h.fields, field)
}

// find returns where a field is, -1 when it is not there.
func (h *Header) find(name string) int {
	for i := range h.fields {
		if h.fields[i][0] == name {
			return i
		}
	}
	return -1
}

// HeaderWriter is the header of an answer; an [net/http.Header] is one.
type HeaderWriter interface {
	// Get returns the first value of a field, empty when there is none.
	Get(name string) string
	// Add adds a line.
	Add(name, value string)
}

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
