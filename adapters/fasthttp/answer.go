package authfasthttp

import (
	"github.com/valyala/fasthttp"

	"github.com/latchkey-go/latchkey/core"
)

// Write writes a response of core. A header field replaces the values that earlier handlers have set. Cookies and the
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
	for _, cookie := range response.Cookies { // fasthttp writes one line for each cookie
		fields.Add("Set-Cookie", cookie.String())
	}
	c.SetStatusCode(response.Status)
	c.Response.SetBodyRaw(response.Body)
}

// WriteOrFail writes a response of core. If the request failed, it writes nothing and returns the error, so that the
// caller can respond; see [core.Response.Failure].
func WriteOrFail(c *fasthttp.RequestCtx, response *core.Response) error {
	if err := response.Failure(Header(c)); err != nil {
		return err
	}
	Write(c, response)
	return nil
}

// Header returns the header of the response to c.
func Header(c *fasthttp.RequestCtx) core.HeaderWriter { return header{&c.Response.Header} }

type header struct{ *fasthttp.ResponseHeader }

// Get implements [core.HeaderWriter].
func (h header) Get(name string) string { return string(h.Peek(name)) }

// Values returns all values of a field, like the method of [net/http.Header].
func (h header) Values(name string) (values []string) {
	for _, value := range h.PeekAll(name) {
		values = append(values, string(value))
	}
	return values
}

// Commit commits a visit when the next handler returns. id is the [fasthttp.RequestCtx.ID] of the visit's request, and
// now is the context that the router's context contains at that time. After a timeout the router may have reused its
// context: now is then nil or has the ID of another user's request. In that case Commit drops the cookies, so that they
// cannot reach the other user.
func Commit(visit *core.Visit, now *fasthttp.RequestCtx, id uint64) {
	if now != nil && now.ID() == id {
		visit.Commit(Header(now))
	}
}
