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
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
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
	raw := in.Header.RawHeaders()
	composed := len(raw) == 0 // by a program, such as fiber's adaptor beneath net/http: there are no lines to read
	for key, value := range in.Header.All() {
		switch name := http.CanonicalHeaderKey(string(key)); {
		case name == "Host":
			r.Hosts = append(r.Hosts, string(value))
		case !composed && (name == "Cookie" || name == "Content-Type"): // as fasthttp understood them
		default:
			r.Header[name] = append(r.Header[name], string(value))
		}
	}
	for _, name := range []string{"Cookie", "Content-Type"} {
		if lines := rawLines(raw, name); lines != nil {
			r.Header[name] = lines
		}
	}
	return r
}

// MountPrefix returns the beginning of a path that belongs to the route on which a handler is registered, such as the
// prefix of a group or of a mounted application. It has as many segments as the route in front of a wildcard, and no
// slash at its end.
func MountPrefix(route, path string) string {
	end := 0
	for segment := range strings.SplitSeq(strings.Trim(route, "/"), "/") {
		if segment == "" || strings.ContainsAny(segment, "*+") {
			break
		}
		next := strings.IndexByte(path[min(end+1, len(path)):], '/')
		if next < 0 {
			return path
		}
		end += 1 + next
	}
	return path[:end]
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

// Ask calls a method of [core.Auth] that reads the body, such as [core.Auth.SignIn], with a request of [Request] and
// the body that belongs to it. If the server streams bodies (StreamRequestBody), core reads at most its limit. A body
// that core has read to its end is put back, so that later handlers find the fields. Otherwise the connection is
// closed, because the rest of the body would be read as the next request.
func Ask(
	ctx context.Context, c *fasthttp.RequestCtx, r *core.Request,
	entry func(context.Context, *core.Request) *core.Response,
) *core.Response {
	body := c.RequestBodyStream()
	if body == nil {
		r.Body = bytes.NewReader(bytes.Clone(c.Request.Body()))
		return entry(ctx, r)
	}
	streamed := &stream{from: body, length: c.Request.Header.ContentLength()}
	r.Body, r.ContentLength = streamed, int64(streamed.length)
	response := entry(ctx, r)
	if streamed.end() {
		c.Request.SetBodyRaw(streamed.read)
	} else {
		c.SetConnectionClose()
	}
	return response
}

// stream is a body that the server has not read itself. It ends with the handler: fasthttp uses its memory again.
type stream struct {
	from io.Reader
	// read is the data that was read, nil if it is too much to put back. length is the body's declared length, negative
	// if it has none.
	read   []byte
	length int
	ended  bool
	lost   bool // read is not all of it
}

// The number of bytes of a body that are put back: with a declared length, which core bounds, and without one.
const (
	maxKept        = 1 << 20
	maxKeptChunked = 64 << 10
)

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (n int, err error) {
	if s.ended {
		return 0, io.EOF
	}
	n, err = s.from.Read(p)
	most := maxKept
	if s.length < 0 {
		most = maxKeptChunked
	}
	if s.lost = s.lost || len(s.read)+n > most || s.length > most; s.lost {
		s.read = nil
	} else {
		s.read = append(slices.Grow(s.read, max(0, s.length-len(s.read))), p[:n]...)
	}
	s.ended = errors.Is(err, io.EOF)
	return n, err
}

// end ends the stream, and reports whether all of it had been read.
func (s *stream) end() (all bool) {
	all, s.ended = s.ended && !s.lost, true
	return all
}
