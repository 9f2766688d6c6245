// Package authfiber serves Latchkey with fiber v2.
//
//	a := authfiber.New(auth)
//	a.Mount(app)                                     // sign-in page, callbacks, session JSON under /auth
//	app.Use(a.Hook())                                // authfiber.Session(c)
//	app.Get("/account", a.RequireSession(), account)
//
// # Settings of fiber
//
// Set fiber.Config.ReadBufferSize to 16 KiB or more. With fiber's default of 4 KiB, a browser with a large session
// cookie and a few pending sign-ins gets 431. Mount logs a warning about a smaller buffer, and the adapter does not set
// a session cookie that fiber could not read again.
//
// Set DisablePreParseMultipartForm. Otherwise fiber responds with 400 to malformed uploads before core sees them.
//
// If fiber checks for trusted proxies, forwarded headers from other peers are ignored. Fiber's settings for case
// sensitivity do not affect the auth routes, because core reads the raw values.
//
// Core reads at most 1 MiB of a body. Fiber has read up to BodyLimit of it before (the default is 4 MiB), or nothing if
// StreamRequestBody is set.
//
// Fiber reuses the memory of its strings and bytes after a handler. The adapter copies all that it passes to core.
package authfiber

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/gofiber/fiber/v2"

	authfasthttp "github.com/latchkey-go/latchkey/adapters/internal/fasthttp"
	"github.com/latchkey-go/latchkey/core"
)

// Adapter translates requests and responses between fiber and core. It is safe for concurrent use. Create it with
// [New].
type Adapter struct {
	// Next, if not nil, returns true for the requests that Hook skips. Set it before the hook is used.
	Next func(c *fiber.Ctx) bool

	auth *core.Auth
}

// New returns an Adapter for auth, which was created with [core.New] or [core.PerRequest].
func New(auth *core.Auth) *Adapter { return &Adapter{auth: auth} }

// Mount registers all methods and all paths below the base path. If r is a group, its prefix must be the beginning of
// the base path: Mount registers the rest of the path on it. For any other group the routes would be outside the base
// path, and Mount panics.
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

// MountWellKnown registers the documents outside of the base path, such as /.well-known/change-password, for GET and
// HEAD requests. They depend on the plugins and providers; see [core.Auth.WellKnownPaths].
func (a *Adapter) MountWellKnown(app *fiber.App) {
	for _, path := range a.auth.WellKnownPaths() {
		app.Get(path, a.Handler)
	}
}

// Handler handles a request to the auth routes.
func (a *Adapter) Handler(c *fiber.Ctx) error { return respond(c, a.auth.Handle) }

// Hook is a middleware that makes the session available to the handlers after it. The session is read on first use,
// once per request. The [core.Visit] is the request's user context, c.UserContext(). Its cookies are set when the next
// handler returns. A stream or a goroutine that reads the session later sets no cookies.
func (a *Adapter) Hook() fiber.Handler {
	return func(c *fiber.Ctx) error {
		if a.Next != nil && a.Next(c) {
			return c.Next()
		}
		return a.visit(c, (*fiber.Ctx).Next)
	}
}

func (a *Adapter) visit(c *fiber.Ctx, next fiber.Handler) error {
	if core.VisitOf(c.UserContext(), a.auth) != nil { // another hook of the same Auth has run
		return next(c)
	}
	visit := a.auth.Visit(c.UserContext(), Request(c))
	c.SetUserContext(visit)
	id := c.Context().ID()
	err := next(c)
	authfasthttp.Commit(visit, c.Context(), id)
	return err
}

// RequireSession is a middleware that lets only signed-in users through. Without a session, page requests are
// redirected to the sign-in page with 303, and other requests get 401 (docs/protocol.md §7.9).
//
// The guards run after that check, in order: [core.RecentSignIn], or guards of the application. RequireSession includes
// [Adapter.Hook] but ignores Next. It also works after the hook.
func (a *Adapter) RequireSession(guards ...core.Guard) fiber.Handler {
	return a.RequireSessionWhere(nil, guards...)
}

// RequireSessionWhere is RequireSession for the requests that where selects, for example [core.PathPrefix]("/admin").
// Use it to protect paths in one middleware for all routes. Other requests pass, and their handlers can read the
// session.
func (a *Adapter) RequireSessionWhere(where func(*core.Request) bool, guards ...core.Guard) fiber.Handler {
	return a.guard(func(v *core.Visit, c *fiber.Ctx) *core.Response {
		path := strings.Clone(c.Path())
		_, refusal := v.RequireWhere(core.At(where, path, authfasthttp.MountPrefix(c.Route().Path, path)), guards...)
		return refusal
	})
}

// RequirePrincipal is a middleware for programs and users: it lets requests through that have a session or a valid
// credential of a plugin, such as an API key, and that all guards allow, for example [core.Scopes].
// [core.PrincipalFrom] returns who makes the request for c.UserContext(). It includes [Adapter.Hook] but ignores Next.
func (a *Adapter) RequirePrincipal(guards ...core.PrincipalGuard) fiber.Handler {
	return a.guard(func(v *core.Visit, _ *fiber.Ctx) *core.Response {
		_, refusal := v.RequirePrincipal(guards...)
		return refusal
	})
}

// guard returns a middleware with the hook that sends the response of check, or calls the next handler if it is nil.
func (a *Adapter) guard(check func(*core.Visit, *fiber.Ctx) *core.Response) fiber.Handler {
	guarded := func(c *fiber.Ctx) error {
		if refusal := check(core.VisitOf(c.UserContext(), a.auth), c); refusal != nil {
			authfasthttp.Write(c.Context(), refusal)
			return nil
		}
		return c.Next()
	}
	return func(c *fiber.Ctx) error { return a.visit(c, guarded) }
}

// Session returns the user's session, or nil if there is none. It needs the hook; see [core.SessionFrom]. A handler can
// return the error to fiber: its text is safe to show, and errors.As finds a *[fiber.Error] with the status 500 or 503,
// and the *[core.Error] with the cause.
func Session(c *fiber.Ctx) (*core.Session, error) {
	session, err := core.SessionFrom(c.UserContext())
	if errors.Is(err, core.ErrNoHook) { // no Auth has logged this error
		//nolint:sloglint // without the hook there is no other logger
		slog.ErrorContext(c.UserContext(), "auth: no session", slog.Any("error", err))
	}
	return session, public(err)
}

// LoadSession returns the user's session, or nil if there is none. It needs no hook. It may set response headers; see
// [core.Auth.Session].
func (a *Adapter) LoadSession(c *fiber.Ctx) (*core.Session, error) {
	session, err := authfasthttp.Session(c.UserContext(), c.Context(), a.auth, Request(c))
	return session, public(err)
}

// SignIn handles the POST of a sign-in form in the application's own pages: see [core.Auth.SignIn].
func (a *Adapter) SignIn(c *fiber.Ctx) error { return respond(c, a.auth.SignIn) }

// SignOut handles the POST of a sign-out form in the application's own pages: see [core.Auth.SignOut].
func (a *Adapter) SignOut(c *fiber.Ctx) error { return respond(c, a.auth.SignOut) }

// StartSignIn starts a sign-in in a handler of the application that writes error responses itself. in is the input. If
// in is nil, the input is the form in the request, as in SignIn. If the sign-in fails, StartSignIn writes no response
// and returns the error (see [core.Response.Failure]), which is a *[core.InvalidInputError] for an invalid input. Like
// the error of LoadSession, it is safe to return to fiber.
func (a *Adapter) StartSignIn(c *fiber.Ctx, in *core.SignInInput) error {
	return public(authfasthttp.WriteOrFail(c.Context(), call(c, func(ctx context.Context, r *core.Request) *core.Response {
		return a.auth.SignInWith(ctx, r, in)
	})))
}

// EndSession signs the user out in a handler of the application that writes error responses itself. in is the input. If
// it is nil, the fields of the form are used.
func (a *Adapter) EndSession(c *fiber.Ctx, in *core.SignOutInput) error {
	return public(authfasthttp.WriteOrFail(c.Context(), call(c, func(ctx context.Context, r *core.Request) *core.Response {
		return a.auth.SignOutWith(ctx, r, in)
	})))
}

// respond runs entry with the request and its body, and writes the response.
func respond(c *fiber.Ctx, entry func(context.Context, *core.Request) *core.Response) error {
	authfasthttp.Write(c.Context(), call(c, entry))
	return nil
}

// call runs entry with the request and its body.
func call(c *fiber.Ctx, entry func(context.Context, *core.Request) *core.Response) *core.Response {
	return authfasthttp.Ask(c.UserContext(), c.Context(), Request(c), entry)
}

// Request returns a copy of the request without its body, together with fiber's own settings for proxies and header
// size. It is for methods of [core.Auth] that take a request, such as [core.Auth.NewSession]. The copy stays valid
// after the handler.
func Request(c *fiber.Ctx) *core.Request {
	r := authfasthttp.Request(c.Context())
	r.Path = strings.Clone(c.Path())
	r.MountPrefix = authfasthttp.MountPrefix(c.Route().Path, r.Path)
	r.HeaderLimit, r.ProxyUntrusted = c.App().Config().ReadBufferSize, !c.IsProxyTrusted()
	return r
}
