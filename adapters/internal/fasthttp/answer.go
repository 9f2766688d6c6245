package authfasthttp

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/valyala/fasthttp"

	"github.com/latchkey-go/latchkey/core"
)

// Write writes a response of core, like [core.Response.Fill].
func Write(c *fasthttp.RequestCtx, response *core.Response) {
	edit(c, response.Fill)
	c.SetStatusCode(response.Status)
	c.Response.SetBodyRaw(response.Body)
}

// WriteOrFail writes a response of core. If the request failed, it writes nothing and returns the error, so that the
// caller can respond; see [core.Response.Failure].
func WriteOrFail(c *fasthttp.RequestCtx, response *core.Response) (err error) {
	if edit(c, func(h http.Header) { err = response.Failure(h) }); err == nil {
		Write(c, response)
	}
	return err
}

// Session returns the session of a request: see [core.Auth.Session].
func Session(
	ctx context.Context, c *fasthttp.RequestCtx, auth *core.Auth, r *core.Request,
) (session *core.Session, err error) {
	edit(c, func(h http.Header) { session, err = auth.Session(ctx, r, h) })
	return session, err
}

// Commit commits a visit when the next handler returns. id is the [fasthttp.RequestCtx.ID] of the visit's request, and
// now is the context that the router's context contains at that time. After a timeout the router may have reused its
// context: now is then nil or has the ID of another user's request. In that case Commit drops the cookies, so that they
// cannot reach the other user.
func Commit(visit *core.Visit, now *fasthttp.RequestCtx, id uint64) {
	if now != nil && now.ID() == id {
		edit(now, visit.Commit)
	}
}

// edit calls change with a copy of the response header, and writes the fields that it changed.
func edit(c *fasthttp.RequestCtx, change func(http.Header)) {
	before := http.Header{}
	for name, value := range c.Response.Header.All() {
		before.Add(string(name), string(value))
	}
	h := before.Clone()
	change(h)
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if slices.Equal(h[name], before[name]) {
			continue
		}
		c.Response.Header.Del(name)
		for _, value := range h[name] {
			c.Response.Header.Add(name, value)
		}
	}
}
