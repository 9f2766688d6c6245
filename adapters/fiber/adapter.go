// Package authfiber serves Latchkey with fiber.
//
//	a := authfiber.New(auth)
//	a.Mount(app)                                     // sign-in page, callbacks, session JSON under /auth
//	app.Use(a.Hook())                                // authfiber.Session(c)
//	app.Get("/account", a.RequireSession(), account)
//
// Fiber lends its strings and bytes for the length of a handler; what goes to core is copied. Set
// fiber.Config.ReadBufferSize to 16 KiB or more: with fiber's default of 4 KiB a browser with a large session and a few
// sign-ins under way is answered 431. Mount says so in the log, and a session that fiber would not read again is not
// set. Set DisablePreParseMultipartForm: otherwise fiber answers 400 to malformed uploads before core sees them. Where
// fiber checks for trusted proxies, forwarded headers of other peers are ignored. Case rules of fiber do not matter to
// the auth routes: core reads raw values. Of a body core reads 1 MiB; fiber has read BodyLimit of it by then, 4 MiB
// unless it is set, or nothing where StreamRequestBody is.
package authfiber

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/latchkey-go/latchkey/core"
)

// Adapter carries requests between fiber and core. It is safe for concurrent use; make it with [New].
type Adapter struct{ auth *core.Auth }

// New returns an Adapter for an Auth, of [core.New] or [core.PerRequest].
func New(auth *core.Auth) *Adapter { return &Adapter{auth} }

// Mount registers the auth routes, all methods, below the base path. On a group whose prefix the base path begins with
// it registers the rest; on any other group the routes would lie outside the base path: Mount panics.
func (a *Adapter) Mount(r fiber.Router) {
	prefix := ""
	switch r := r.(type) {
	case *fiber.Group:
		prefix = r.Prefix
	case *fiber.App:
		a.auth.WarnHeaderLimit(r.Config().ReadBufferSize, "ReadBufferSize of fiber.Config")
	}
	r.All(a.auth.MountPath(prefix)+"/*", a.Handler)
}

// Handler answers a request to the auth routes.
func (a *Adapter) Handler(c *fiber.Ctx) error {
	return answer(c, a.auth.Handle)
}

// Hook makes the session available to the handlers behind it: read on first use, once per request. The visit is the
// request's user context. Its cookies are set when the next handler has returned; what a stream or a goroutine reads
// later sets none.
func (a *Adapter) Hook() fiber.Handler {
	return func(c *fiber.Ctx) error { return a.visit(c, (*fiber.Ctx).Next) }
}

func (a *Adapter) visit(c *fiber.Ctx, next fiber.Handler) error {
	if core.VisitOf(c.UserContext(), a.auth) != nil { // a hook of the same Auth is in front
		return next(c)
	}
	visit := a.auth.Visit(c.UserContext(), request(c))
	c.SetUserContext(visit)
	id := c.Context().ID()
	err := next(c)
	// After a timeout fiber may have reused c for another visitor's request: then there is no answer to write cookies
	// into.
	if now := c.Context(); now != nil && now.ID() == id {
		visit.Commit(header{c})
	}
	return err
}

// header is the header of fiber's answer.
type header struct{ c *fiber.Ctx }

// Get implements [core.HeaderWriter].
func (h header) Get(name string) string { return string(h.c.Response().Header.Peek(name)) }

// Add implements [core.HeaderWriter].
func (h header) Add(name, value string) { h.c.Response().Header.Add(name, value) }

// RequireSession lets only signed-in visitors through: others get 303 to the sign-in page, or 401 where no page was
// asked for (docs/protocol.md §7.9). It is a hook too, and works behind another.
// Guards are asked after that, in their order: [core.Fresh], or the application's own.
func (a *Adapter) RequireSession(guards ...core.Guard) fiber.Handler {
	guarded := func(c *fiber.Ctx) error {
		if _, refusal := core.VisitOf(c.UserContext(), a.auth).Require(guards...); refusal != nil {
			return write(c, refusal)
		}
		return c.Next()
	}
	return func(c *fiber.Ctx) error { return a.visit(c, guarded) }
}

// Session returns the visitor's session, nil without one, behind the hook; see [core.SessionFrom].
func Session(c *fiber.Ctx) (*core.Session, error) { return core.SessionFrom(c.UserContext()) }

// Session returns the visitor's session in one call, nil without one, with a hook in front or without. What it sets is
// in the answer's header; see [core.Auth.Session].
func (a *Adapter) Session(c *fiber.Ctx) (*core.Session, error) {
	return a.auth.Session(c.UserContext(), request(c), header{c})
}

// SignIn answers a form of the application that starts a sign-in: see [core.Auth.SignIn].
func (a *Adapter) SignIn(c *fiber.Ctx) error {
	return answer(c, a.auth.SignIn)
}

// SignOut answers a form of the application that signs out: see [core.Auth.SignOut].
func (a *Adapter) SignOut(c *fiber.Ctx) error {
	return answer(c, a.auth.SignOut)
}

// TrySignIn is SignIn for handlers that answer failures themselves: where the sign-in fails it answers nothing and
// returns the error; see [core.Response.Failure].
func (a *Adapter) TrySignIn(c *fiber.Ctx) error {
	return writeOrFail(c, ask(c, a.auth.SignIn))
}

// TrySignOut is SignOut for handlers that answer failures themselves, as TrySignIn is for sign-ins.
func (a *Adapter) TrySignOut(c *fiber.Ctx) error {
	return writeOrFail(c, ask(c, a.auth.SignOut))
}

// answer has core answer a request with its body.
func answer(c *fiber.Ctx, handle func(context.Context, *core.Request) *core.Response) error {
	return write(c, ask(c, handle))
}

// ask returns core's answer to a request with its body. Where fiber streams bodies (StreamRequestBody), core reads no
// more than its limit; what is left would be read as the next request of the connection, which is closed in its place.
func ask(c *fiber.Ctx, handle func(context.Context, *core.Request) *core.Response) *core.Response {
	r := request(c)
	var streamed *stream
	if body := c.Context().RequestBodyStream(); body != nil {
		streamed = &stream{from: body}
		r.Body = streamed
	} else {
		r.Body = bytes.NewReader(bytes.Clone(c.Context().Request.Body()))
	}
	response := handle(c.UserContext(), r)
	if streamed != nil && !streamed.end() {
		c.Context().SetConnectionClose()
	}
	return response
}

// stream is a body that fiber has not read itself. It ends with the handler: fiber uses its memory again.
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

// request copies what fiber received, as it came, but for the body: core parses it.
func request(c *fiber.Ctx) *core.Request {
	in := &c.Context().Request
	r := &core.Request{
		Method: strings.Clone(c.Method()), Target: string(in.Header.RequestURI()), Scheme: "http",
		RemoteAddr: c.Context().RemoteAddr().String(), Header: http.Header{}, HeaderLimit: c.App().Config().ReadBufferSize,
		ProxyUntrusted: !c.IsProxyTrusted(),
	}
	if c.Context().IsTLS() {
		r.Scheme = "https"
	}
	for key, value := range in.Header.All() {
		switch name := http.CanonicalHeaderKey(string(key)); name {
		case "Host":
			r.Hosts = append(r.Hosts, string(value))
		case "Cookie", "Content-Type": // as fiber understood them
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

// rawLines are the lines of a header field as they were sent. Fiber writes cookies anew, and makes good ones out of bad
// ones on the way; of two content types it keeps one.
func rawLines(raw []byte, field string) (lines []string) {
	for line := range bytes.SplitSeq(raw, []byte("\n")) {
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && strings.EqualFold(string(name), field) {
			lines = append(lines, string(bytes.TrimSpace(value)))
		}
	}
	return lines
}

// write writes an answer of core and adds nothing.
func write(c *fiber.Ctx, response *core.Response) error {
	for name, values := range response.Header {
		for _, value := range values {
			c.Response().Header.Add(name, value)
		}
	}
	for _, cookie := range response.Cookies {
		setCookie(c, cookie)
	}
	return c.Status(response.Status).Send(response.Body)
}

// writeOrFail writes an answer of core, or returns why the request failed and leaves the answer to the handler.
func writeOrFail(c *fiber.Ctx, response *core.Response) error {
	if err := response.Failure(header{c}); err != nil {
		return err
	}
	return write(c, response)
}

// setCookie adds a Set-Cookie line of its own; fiber keeps the lines of different cookies apart.
func setCookie(c *fiber.Ctx, cookie core.Cookie) {
	c.Response().Header.Add(fiber.HeaderSetCookie, cookie.String())
}
