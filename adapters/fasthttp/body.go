package authfasthttp

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/valyala/fasthttp"

	"github.com/latchkey-go/latchkey/core"
)

// Ask returns what an entry of core, such as [core.Auth.Handle], answers to a request of [Request] and the body that
// belongs to it. Where the server streams bodies (StreamRequestBody), core reads no more than its limit; what is left
// would be read as the next request of the connection, which is closed in its place.
func Ask(
	ctx context.Context, c *fasthttp.RequestCtx, r *core.Request,
	entry func(context.Context, *core.Request) *core.Response,
) *core.Response {
	body := c.RequestBodyStream()
	if body == nil {
		r.Body = bytes.NewReader(bytes.Clone(c.Request.Body()))
		return entry(ctx, r)
	}
	streamed := &stream{from: body}
	r.Body = streamed
	response := entry(ctx, r)
	if !streamed.end() {
		c.SetConnectionClose()
	}
	return response
}

// stream is a body that the server has not read itself. It ends with the handler: fasthttp uses its memory again.
type stream struct {
	from  io.Reader
	ended bool
}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (n int, err error) {
	if s.ended {
		return 0, io.EOF
	}
	n, err = s.from.Read(p)
	s.ended = errors.Is(err, io.EOF)
	return n, err
}

// end ends the stream, and reports whether all of it had been read.
func (s *stream) end() (all bool) {
	all, s.ended = s.ended, true
	return all
}
