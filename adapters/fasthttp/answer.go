package authfasthttp

import (
	"github.com/valyala/fasthttp"

	"github.com/latchkey-go/latchkey/core"
)

// Write writes a response of core. A header field replaces the values that handlers in front have set. Cookies and the
// names of Vary are added to theirs.
func Write(c *fasthttp.RequestCtx, response *core.Response) {
	fields := header{&c.Response.Header}
	for name, value := range response.Header.All() {
		if name != "Vary" {
			fields.Set(name, value)
			continue
		}
		if more := response.VaryBesides(fields.Values(name)); more != "" {
			fields.Add(name, more)
		}
	}
	for _, cookie := range response.Cookies { // fasthttp keeps the lines of different cookies apart
		fields.Add("Set-Cookie", cookie.String())
	}
	c.SetStatusCode(response.Status)
	c.Response.SetBodyRaw(response.Body)
}

// WriteOrFail writes an answer of core, or returns why the request failed and leaves the answer to the caller; see
// [core.Response.Failure].
func WriteOrFail(c *fasthttp.RequestCtx, response *core.Response) error {
	if err := response.Failure(Header(c)); err != nil {
		return err
	}
	Write(c, response)
	return nil
}

// Header is the header of the answer to a request.
func Header(c *fasthttp.RequestCtx) core.HeaderWriter { return header{&c.Response.Header} }

type header struct{ *fasthttp.ResponseHeader }

// Get implements [core.HeaderWriter].
func (h header) Get(name string) string { return string(h.Peek(name)) }

// Values returns all values of a field, as those of [net/http.Header] does.
func (h header) Values(name string) (values []string) {
	for _, value := range h.PeekAll(name) {
		values = append(values, string(value))
	}
	return values
}

// Commit commits a visit to the answer of the request with this ID ([fasthttp.RequestCtx.ID]), when the next handler
// has returned. After a timeout the router may have used its context again: now, which is what that context holds by
// then, is nil or has the ID of another visitor's request. There is no answer to write cookies into then, and they are
// dropped.
func Commit(visit *core.Visit, now *fasthttp.RequestCtx, id uint64) {
	if now != nil && now.ID() == id {
		visit.Commit(Header(now))
	}
}
