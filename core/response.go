package core

import (
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// Response is the response to a request. Adapters write it unchanged.
type Response struct {
	// Status is the HTTP status.
	Status int
	// Header contains the header fields, including Location and Content-Type, but not Set-Cookie.
	Header Header
	// Cookies are set in this order, even if the request failed.
	Cookies []Cookie
	// Redirect is the URL that the browser is redirected to. It is empty if there is no redirect. If the request has
	// X-Auth-Return-Redirect, the status is 200 and the URL is in the body.
	Redirect string
	// Body is the body. It is nil if there is none.
	Body []byte
	// Err is why the request failed, or nil. It is for the application and its log; never send it to the browser.
	Err error
}

// Fill writes the header fields and cookies to a header of net/http. A field replaces values set by earlier handlers,
// except that cookies and the names in Vary are added. Do not change the Response afterwards, because the values are
// shared.
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
	var room [1536]byte // on the stack; a longer cookie is allocated
	for i := range r.Cookies {
		lines = append(lines, string((*cookie.Cookie)(&r.Cookies[i]).Append(room[:0])))
	}
	answer["Set-Cookie"] = lines
}

// VaryBesides returns the names in the response's Vary field that are not in values, separated by commas. An adapter
// adds them to a Vary field that an earlier handler has set. The result is empty if there are none.
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

// Failure returns why the request failed, or nil. It is for applications that handle failures of a form action
// themselves, for example by showing the form again. It then adds the response's cookies and Retry-After to the given
// header; do not write the rest of the Response. errors.As finds an *[Error], whose Type.Public and Code may be shown
// to the browser.
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

// Header is the header of a [Response] without its cookies. Each field has a single value, and fields keep the order in
// which they were set. Names are case-insensitive, as in [http.Header]. The zero value is an empty Header. Use it
// through a pointer, as in response.Header.Set, because a copy shares fields. It is not safe for concurrent use.
type Header struct{ fields [][2]string }

// newHeader returns a header with fields, whose names must be canonical, and with commonFields.
func newHeader(fields ...[2]string) Header {
	return headerIn(make([][2]string, 0, len(fields)+usualFields), fields)
}

// headerIn is newHeader, with the fields appended to there.
func headerIn(there, further [][2]string) Header {
	return Header{append(append(there, further...), commonFields[:]...)}
}

// commonFields are in the header of every response.
var commonFields = [...][2]string{
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "same-origin"}, // no-referrer would make browsers send "Origin: null" with forms
}

// usualFields is the capacity for the fields that most responses have: commonFields, Cache-Control and one more.
const usualFields = len(commonFields) + 2

// Get returns the value of a field. It is empty if the field is not set.
func (h *Header) Get(name string) string {
	if at := h.find(http.CanonicalHeaderKey(name)); at >= 0 {
		return h.fields[at][1]
	}
	return ""
}

// Set sets a field and replaces its value. Combine several values of one field with commas (RFC 9110 section 5.3).
func (h *Header) Set(name, value string) { h.set([2]string{http.CanonicalHeaderKey(name), value}) }

// Del removes a field.
func (h *Header) Del(name string) {
	if at := h.find(http.CanonicalHeaderKey(name)); at >= 0 {
		h.fields = append(h.fields[:at], h.fields[at+1:]...)
	}
}

// All returns an iterator over the fields, with canonical names.
func (h *Header) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, field := range h.fields {
			if !yield(field[0], field[1]) {
				return
			}
		}
	}
}

// set is Set for a canonical name.
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

// find returns the index of a field with a canonical name, or -1.
func (h *Header) find(name string) int {
	for i := range h.fields {
		if h.fields[i][0] == name {
			return i
		}
	}
	return -1
}

// HeaderWriter is the header of a response. [net/http.Header] implements it.
type HeaderWriter interface {
	// Get returns the first value of a field. It is empty if the field is not set.
	Get(name string) string
	// Add adds a value to a field.
	Add(name, value string)
}

// finish completes a Response: it sets the redirect and the common header fields, and replaces a redirect by JSON for
// clients that request it (docs/protocol.md §1.6, §1.7).
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
	for _, field := range commonFields {
		h.set(field)
	}
	return r
}

// alsoVaries adds a request header field to Vary (RFC 9110 section 12.5.5).
func alsoVaries(h *Header, field string) {
	switch vary := h.Get("Vary"); {
	case vary == "":
		h.Set("Vary", field)
	case !follows(vary, field):
		h.Set("Vary", vary+", "+field)
	}
}

// follows reports whether a Vary value contains a field name, or "*". Names are compared as a whole: X-Cookie-Notice
// is not Cookie.
func follows(vary, field string) bool {
	for name := range strings.SplitSeq(vary, ",") {
		if name = strings.TrimSpace(name); name == "*" || strings.EqualFold(name, field) {
			return true
		}
	}
	return false
}

const noStore = "private, no-cache, no-store"

// Content types.
var (
	contentJSON = [2]string{"Content-Type", "application/json"}
	contentHTML = [2]string{"Content-Type", "text/html; charset=utf-8"}
)

// Fields that prevent caching. expired and notKeptByV1 are for HTTP/1.0 caches.
var (
	notStored   = [2]string{"Cache-Control", noStore}
	expired     = [2]string{"Expires", "0"}
	notKeptByV1 = [2]string{"Pragma", "no-cache"}
)

// redirectTo returns a redirect response.
func redirectTo(target string) *Response {
	made := &struct { // one allocation
		Response
		room [1 + usualFields][2]string
	}{Response: Response{Redirect: target}}
	made.Header.fields = made.room[:0]
	return &made.Response
}

// jsonResponse returns a JSON response with fields that prevent caching.
func jsonResponse(body []byte) *Response { return answerJSON(body, expired, notKeptByV1) }

// answerJSON returns a JSON response with up to two further header fields.
func answerJSON(body []byte, further ...[2]string) *Response {
	made := &struct { // one allocation
		Response
		room [2 + 2 + len(commonFields)][2]string
	}{Response: Response{Body: body}}
	made.Header = headerIn(append(made.room[:0], contentJSON, notStored), further)
	return &made.Response
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
	response.Header = newHeader(contentJSON)
	return response
}

func hostOf(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	return host
}
