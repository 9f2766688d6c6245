// Package authfiber serves Latchkey with fiber v3.
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
// TrustProxy is set, forwarded headers of peers that fiber does not trust are ignored. Case rules of fiber do not
// matter to the auth routes: core reads raw values. Of a body core reads 1 MiB; fiber has read BodyLimit of it by then,
// 4 MiB unless it is set, or nothing where StreamRequestBody is.
package authfiber

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/gofiber/fiber/v3"

	authfasthttp "github.com/latchkey-go/latchkey/adapters/fasthttp"
	"github.com/latchkey-go/latchkey/core"
)

// Adapter carries requests between fiber and core. It is safe for concurrent use; make it with [New].
type Adapter struct {
	// Next leaves requests out of the hook where it returns true, nil: none. Set it before the hook is used.
	Next func(c fiber.Ctx) bool

	auth *core.Auth
}

// New returns an Adapter for an Auth, of [core.New] or [core.PerRequest].
func New(auth *core.Auth) *Adapter { return &Adapter{auth: auth} }

// Mount registers the auth routes, all methods, below the base path. On a group whose prefix the base path begins with
// it registers the rest; on any other group the routes would lie outside the base path: Mount panics. A Domain has to
// be one of the *fiber.App: where one of a group lies, fiber does not say.
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
func (a *Adapter) Handler(c fiber.Ctx) error { return answer(c, a.auth.Handle) }

// Hook makes the session available to the handlers behind it: read on first use, once per request. The visit is the
// request's context, c.Context(); c itself is a context too, but none that knows of the visit. Its cookies are set when
// the next handler has returned; what a stream or a goroutine reads later, or a handler behind a timeout, sets none.
func (a *Adapter) Hook() fiber.Handler {
	return func(c fiber.Ctx) error {
		if a.Next != nil && a.Next(c) {
			return c.Next()
		}
		return a.visit(c, fiber.Ctx.Next)
	}
}

func (a *Adapter) visit(c fiber.Ctx, next fiber.Handler) error {
	if core.VisitOf(c.Context(), a.auth) != nil { // a hook of the same Auth is in front
		return next(c)
	}
	visit := a.auth.Visit(c.Context(), Request(c))
	c.SetContext(visit)
	id := c.RequestCtx().ID()
	err := next(c)
	if !timedOut(c) {
		authfasthttp.Commit(visit, c.RequestCtx(), id)
	}
	return err
}

// timedOut reports whether fiber's timeout has answered in place of the handler, which goes on and may still write to
// the header that the hook would write to. A stream of events (middleware/sse) abandons its context too: its header has
// yet to go out.
func timedOut(c fiber.Ctx) bool {
	return c.IsAbandoned() && c.RequestCtx().LastTimeoutErrorResponse() != nil
}

// RequireSession lets only signed-in visitors through: others get 303 to the sign-in page, or 401 where no page was
// asked for (docs/protocol.md §7.9). It is a hook too, which Next does not touch, and works behind another.
// Guards are asked after that, in their order: [core.Fresh], or the application's own.
func (a *Adapter) RequireSession(guards ...core.Guard) fiber.Handler {
	return a.RequireSessionWhere(nil, guards...)
}

// RequireSessionWhere is RequireSession for the requests that where picks, such as [core.Under]("/admin"): in front of
// all routes at once. Others pass, and have the hook.
func (a *Adapter) RequireSessionWhere(where func(*core.Request) bool, guards ...core.Guard) fiber.Handler {
	guarded := func(c fiber.Ctx) error {
		path := strings.Clone(c.Path())
		at := core.At(where, path, authfasthttp.MountPrefix(c.Route().Path, path))
		if _, refusal := core.VisitOf(c.Context(), a.auth).RequireWhere(at, guards...); refusal != nil {
			authfasthttp.Write(c.RequestCtx(), refusal)
			return nil
		}
		return c.Next()
	}
	return func(c fiber.Ctx) error { return a.visit(c, guarded) }
}

// Session returns the session of the request, nil if there is none. It needs the hook; see [core.SessionFrom]. A
// handler can return its error to fiber: the text is safe, errors.As finds a *[fiber.Error] with the status 500 or 503,
// and the *[core.Error] with the cause.
func Session(c fiber.Ctx) (*core.Session, error) {
	session, err := core.SessionFrom(c.Context())
	if errors.Is(err, core.ErrNoHook) { // which no Auth has logged
		//nolint:sloglint // without the hook there is no other logger
		slog.ErrorContext(c.Context(), "auth: no session", slog.Any("error", err))
	}
	return session, public(err)
}

// Session returns the visitor's session in one call, nil without one, with a hook in front or without. What it sets is
// in the answer's header; see [core.Auth.Session].
func (a *Adapter) Session(c fiber.Ctx) (*core.Session, error) {
	session, err := a.auth.Session(c.Context(), Request(c), authfasthttp.Header(c.RequestCtx()))
	return session, public(err)
}

// SignIn answers a form of the application that starts a sign-in: see [core.Auth.SignIn].
func (a *Adapter) SignIn(c fiber.Ctx) error { return answer(c, a.auth.SignIn) }

// SignOut answers a form of the application that signs out: see [core.Auth.SignOut].
func (a *Adapter) SignOut(c fiber.Ctx) error { return answer(c, a.auth.SignOut) }

// TrySignIn is SignIn for handlers that respond to failures themselves: if the sign-in fails, it writes no response and
// returns the error, which is safe to return to fiber, as that of Session; see [core.Response.Failure].
func (a *Adapter) TrySignIn(c fiber.Ctx) error {
	return public(authfasthttp.WriteOrFail(c.RequestCtx(), ask(c, a.auth.SignIn)))
}

// TrySignOut is SignOut for handlers that answer failures themselves, as TrySignIn is for sign-ins.
func (a *Adapter) TrySignOut(c fiber.Ctx) error {
	return public(authfasthttp.WriteOrFail(c.RequestCtx(), ask(c, a.auth.SignOut)))
}

// TrySignInWith is TrySignIn for components: it starts a sign-in with an input of the application in place of a form;
// see [core.Auth.SignInWith]. What is wrong with the input is a *[core.InvalidInputError].
func (a *Adapter) TrySignInWith(c fiber.Ctx, in core.SignInInput) error {
	return public(authfasthttp.WriteOrFail(c.RequestCtx(), a.auth.SignInWith(c.Context(), Request(c), in)))
}

// TrySignOutWith is TrySignInWith for signing out.
func (a *Adapter) TrySignOutWith(c fiber.Ctx, in core.SignOutInput) error {
	return public(authfasthttp.WriteOrFail(c.RequestCtx(), a.auth.SignOutWith(c.Context(), Request(c), in)))
}

// answer has core answer a request with its body.
func answer(c fiber.Ctx, entry func(context.Context, *core.Request) *core.Response) error {
	authfasthttp.Write(c.RequestCtx(), ask(c, entry))
	return nil
}

// ask returns what an entry of core answers to a request with its body.
func ask(c fiber.Ctx, entry func(context.Context, *core.Request) *core.Response) *core.Response {
	return authfasthttp.Ask(c.Context(), c.RequestCtx(), Request(c), entry)
}

// Request is what fiber received and what its settings say, but for the body: for methods of [core.Auth] that take a
// request, such as [core.Auth.NewSession]. It is a copy, and good after the handler.
//
// Without TrustProxy fiber trusts no proxy; core then decides by its own configuration, as on routers that have no such
// setting.
func Request(c fiber.Ctx) *core.Request {
	r, config := authfasthttp.Request(c.RequestCtx()), c.App().Config()
	r.Path = strings.Clone(c.Path())
	r.MountPrefix = authfasthttp.MountPrefix(c.Route().Path, r.Path)
	r.HeaderLimit, r.ProxyUntrusted = config.ReadBufferSize, config.TrustProxy && !c.IsProxyTrusted()
	return r
}
