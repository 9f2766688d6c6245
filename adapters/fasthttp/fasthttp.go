// Package authfasthttp carries requests between fasthttp and core, for adapters of routers that stand on fasthttp.
//
//	request := authfasthttp.Request(c)                                        // what came in, without its body
//	authfasthttp.Write(c, authfasthttp.Ask(ctx, c, request, auth.Handle))     // what core answers
//
// It translates and decides nothing: every rule is core's. The adapters of fiber stand on it, as those of gin and echo
// stand on authhttp.
//
// fasthttp lends its strings and bytes for the length of a handler; what goes to core is copied.
package authfasthttp

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/latchkey-go/latchkey/core"
)

// Request copies what fasthttp received, as it came, but for the body, which [Ask] hands over: core parses it. What the
// router's own settings say is the adapter's to add: [core.Request.HeaderLimit] and [core.Request.ProxyUntrusted].
func Request(c *fasthttp.RequestCtx) *core.Request {
	in := &c.Request
	r := &core.Request{
		Method: string(in.Header.Method()), Target: string(in.Header.RequestURI()), Scheme: "http",
		RemoteAddr: c.RemoteAddr().String(), Header: http.Header{},
	}
	if c.IsTLS() {
		r.Scheme = "https"
	}
	for key, value := range in.Header.All() {
		switch name := http.CanonicalHeaderKey(string(key)); name {
		case "Host":
			r.Hosts = append(r.Hosts, string(value))
		case "Cookie", "Content-Type": // as fasthttp understood them
		default:
			r.Header[name] = append(r.Header[name], string(value))
		}
	}
	for _, name := range []string{"Cookie", "Content-Type"} {
		if lines := rawLines(in.Header.RawHeaders(), name); lines != nil {
			r.Header[name] = lines
		}
	}
	return r
}

// rawLines are the lines of a header field as they were sent. fasthttp writes cookies anew, and makes good ones out of
// bad ones on the way; of two content types it keeps one.
func rawLines(raw []byte, field string) (lines []string) {
	for line := range bytes.SplitSeq(raw, []byte("\n")) {
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && strings.EqualFold(string(name), field) {
			lines = append(lines, string(bytes.TrimSpace(value)))
		}
	}
	return lines
}

// Write writes an answer of core and adds nothing.
func Write(c *fasthttp.RequestCtx, response *core.Response) {
	header := &c.Response.Header
	for name, values := range response.Header {
		for _, value := range values {
			header.Add(name, value)
		}
	}
	for _, cookie := range response.Cookies { // a line of its own for each: fasthttp keeps those of different cookies apart
		header.Add("Set-Cookie", cookie.String())
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

// Commit commits a visit to the answer of the request with this ID ([fasthttp.RequestCtx.ID]), when the next handler
// has returned. After a timeout the router may have used its context again: now, which is what that context holds by
// then, is nil or has the ID of another visitor's request. There is no answer to write cookies into then, and they are
// dropped.
func Commit(visit *core.Visit, now *fasthttp.RequestCtx, id uint64) {
	if now != nil && now.ID() == id {
		visit.Commit(Header(now))
	}
}
