// Package authfasthttp translates requests and responses between fasthttp and core for the adapters of fiber.
//
//	request := authfasthttp.Request(c)                                        // the request without its body
//	authfasthttp.Write(c, authfasthttp.Ask(ctx, c, request, auth.Handle))     // the response of core
//
// The package only translates; core makes all decisions. The adapters for fiber are built on it, as those for gin and
// echo are built on authhttp.
//
// Fasthttp reuses the memory of its strings and bytes after a handler. The package copies all that it passes to core.
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

// Request returns a copy of the request as fasthttp received it, without the body, which [Ask] adds. The adapter adds
// the router's own settings: HeaderLimit and ProxyUntrusted of [core.Request].
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
	composed := len(raw) == 0 // built by a program, such as fiber's adaptor for net/http: there are no raw lines
	for key, value := range in.Header.All() {
		switch name := http.CanonicalHeaderKey(string(key)); {
		case name == "Host":
			r.Hosts = append(r.Hosts, string(value))
		case !composed && (name == "Cookie" || name == "Content-Type"): // fasthttp's parsed form is not used
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

// MountPrefix returns the beginning of a path that belongs to the route of a handler, such as the prefix of a group or
// of a mounted application. It has as many segments as the route before its wildcard, and no trailing slash.
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

// rawLines returns the unmodified lines of a header field. Fasthttp rewrites cookies, and turns malformed ones into
// valid ones. Of two Content-Type lines it stores only one.
func rawLines(raw []byte, field string) (lines []string) {
	for line := range bytes.SplitSeq(raw, []byte("\n")) {
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && strings.EqualFold(string(name), field) {
			lines = append(lines, string(bytes.TrimSpace(value)))
		}
	}
	return lines
}

// Ask calls entry, a method of [core.Auth] that reads the body, such as [core.Auth.SignIn], with a request of [Request]
// and its body. If the server streams bodies (StreamRequestBody), core reads at most its limit. If core has read the
// whole body, Ask restores it, so that later handlers find the fields. Otherwise it closes the connection after the
// response, because the rest of the body would be parsed as the next request.
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

// stream is a body that the server has not read yet. It is valid only until the handler returns, because fasthttp
// reuses its memory.
type stream struct {
	from io.Reader
	// read is the recorded data, or nil if it is too long to restore. length is the declared length, or negative if it is
	// unknown.
	read       []byte
	length     int
	ended      bool
	incomplete bool // read is not the whole body
}

// The maximum number of bytes of a body that are restored, with a declared length (which core limits) and without one.
const (
	maxRestored        = 1 << 20
	maxRestoredChunked = 64 << 10
)

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (n int, err error) {
	if s.ended {
		return 0, io.EOF
	}
	n, err = s.from.Read(p)
	limit := maxRestored
	if s.length < 0 {
		limit = maxRestoredChunked
	}
	if s.incomplete = s.incomplete || len(s.read)+n > limit || s.length > limit; s.incomplete {
		s.read = nil
	} else {
		s.read = append(slices.Grow(s.read, max(0, s.length-len(s.read))), p[:n]...)
	}
	s.ended = errors.Is(err, io.EOF)
	return n, err
}

// end ends the stream, and reports whether all of it was read and recorded.
func (s *stream) end() (all bool) {
	all, s.ended = s.ended && !s.incomplete, true
	return all
}
