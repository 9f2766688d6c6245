// Package authecho serves Latchkey with echo v5.
//
//	a := authecho.New(auth)
//	a.Mount(e)                                        // sign-in page, callbacks, session JSON under /auth
//	e.Use(a.Hook())                                   // authecho.Session(c)
//	e.GET("/account", account, a.RequireSession())
package authecho

import (
	"context"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v5"
	"github.com/labstack/echo/v5/middleware"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// Adapter translates requests and responses between echo and core. It is safe for concurrent use. Create it with [New].
type Adapter struct {
	// Skipper, if not nil, selects the requests that Hook skips. Set it before the hook is used.
	Skipper middleware.Skipper

	auth *core.Auth
}

// New returns an Adapter for auth, which was created with [core.New] or [core.PerRequest].
func New(auth *core.Auth) *Adapter { return &Adapter{auth: auth} }

// Router is the part of *echo.Echo and *echo.Group that Mount uses.
type Router interface {
	Any(path string, handler echo.HandlerFunc, middleware ...echo.MiddlewareFunc) echo.RouteInfo
}

// Mount registers all methods and all paths below the base path. It panics if r is a group whose prefix moves the
// routes out of the base path. In that case, mount on the *echo.Echo and set Config.BasePath to the whole path.
func (a *Adapter) Mount(r Router) {
	want := a.auth.MountPath("") + "/*"
	if path := r.Any(want, a.Handler).Path; path != want {
		panic(fmt.Sprintf("authecho: the auth routes are mounted at %s, but browsers request them at %s: "+
			"mount on the *echo.Echo, with Config.BasePath set to the whole path", path, want))
	}
}

// MountWellKnown registers the documents outside of the base path, such as /.well-known/change-password, for GET and
// HEAD requests. They depend on the plugins and providers; see [core.Auth.WellKnownPaths].
func (a *Adapter) MountWellKnown(e *echo.Echo) {
	for _, path := range a.auth.WellKnownPaths() {
		e.Match([]string{"GET", "HEAD"}, path, a.Handler)
	}
}

// Handler handles a request to the auth routes.
func (a *Adapter) Handler(c *echo.Context) error { return respond(c, a.auth.Handle) }

// respond runs entry and writes its response.
func respond(c *echo.Context, entry func(context.Context, *core.Request) *core.Response) error {
	authhttp.Write(c.Response(), authhttp.Ask(c.Request(), entry))
	return nil
}

// Hook is a middleware that makes the session available to the handlers after it. The session is read on first use,
// once per request.
func (a *Adapter) Hook() echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c *echo.Context) error {
			if a.Skipper != nil && a.Skipper(c) {
				return next(c)
			}
			return a.visit(c, next)
		}
	}
}

func (a *Adapter) visit(c *echo.Context, next echo.HandlerFunc) error {
	if core.VisitOf(c.Request().Context(), a.auth) != nil { // another hook of the same Auth has run
		return next(c)
	}
	answer, err := echo.UnwrapResponse(c.Response())
	if err != nil {
		return fmt.Errorf("authecho: a middleware has set a response that does not unwrap to an *echo.Response: %w", err)
	}
	visit, writer := a.auth.Visit(c.Request().Context(), authhttp.Request(c.Request())), answer.ResponseWriter
	own := authhttp.NewWriter(writer, visit)
	c.SetRequest(c.Request().WithContext(visit))
	answer.ResponseWriter = own
	err = next(c)
	visit.Commit(writer.Header()) // of this response: after a timeout, c may already serve another request
	if answer.ResponseWriter == http.ResponseWriter(own) {
		answer.ResponseWriter = writer
	}
	return err
}

// RequireSession is a middleware that lets only signed-in users through. Without a session, page requests are
// redirected to the sign-in page with 303, and other requests get 401 (docs/protocol.md §7.9).
//
// The guards run after that check, in order: [core.RecentSignIn], or guards of the application. RequireSession includes
// [Adapter.Hook] but ignores Skipper. It also works after the hook.
func (a *Adapter) RequireSession(guards ...core.Guard) echo.MiddlewareFunc {
	return a.RequireSessionWhere(nil, guards...)
}

// RequireSessionWhere is RequireSession for the requests that where selects, for example [core.PathPrefix]("/admin").
// Use it to protect paths in one middleware for all routes. Other requests pass, and their handlers can read the
// session.
func (a *Adapter) RequireSessionWhere(where func(*core.Request) bool, guards ...core.Guard) echo.MiddlewareFunc {
	return a.guard(func(v *core.Visit, c *echo.Context) *core.Response {
		_, refusal := v.RequireWhere(core.At(where, c.Request().URL.Path, ""), guards...)
		return refusal
	})
}

// RequirePrincipal is a middleware for programs and users: it lets requests through that have a session or a valid
// credential of a plugin, such as an API key, and that all guards allow, for example [core.Scopes].
// [core.PrincipalFrom] returns who makes the request. It includes [Adapter.Hook] but ignores Skipper.
func (a *Adapter) RequirePrincipal(guards ...core.PrincipalGuard) echo.MiddlewareFunc {
	return a.guard(func(v *core.Visit, _ *echo.Context) *core.Response {
		_, refusal := v.RequirePrincipal(guards...)
		return refusal
	})
}

// guard returns a middleware with the hook that sends the response of check, or calls the next handler if it is nil.
func (a *Adapter) guard(check func(*core.Visit, *echo.Context) *core.Response) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		guarded := func(c *echo.Context) error {
			if refusal := check(core.VisitOf(c.Request().Context(), a.auth), c); refusal != nil {
				authhttp.Write(c.Response(), refusal)
				return nil
			}
			return next(c)
		}
		return func(c *echo.Context) error { return a.visit(c, guarded) }
	}
}

// Session returns the user's session, or nil if there is none. It needs the hook; see [core.SessionFrom].
func Session(c *echo.Context) (*core.Session, error) { return core.SessionFrom(c.Request().Context()) }

// LoadSession returns the user's session, or nil if there is none. It needs no hook. It may set response headers, so
// call it before the header is written; see [core.Auth.Session].
func (a *Adapter) LoadSession(c *echo.Context) (*core.Session, error) {
	return a.auth.Session(c.Request().Context(), authhttp.Request(c.Request()), c.Response().Header())
}

// SignIn handles the POST of a sign-in form in the application's own pages: see [core.Auth.SignIn].
func (a *Adapter) SignIn(c *echo.Context) error { return respond(c, a.auth.SignIn) }

// SignOut handles the POST of a sign-out form in the application's own pages: see [core.Auth.SignOut].
func (a *Adapter) SignOut(c *echo.Context) error { return respond(c, a.auth.SignOut) }

// StartSignIn starts a sign-in in a handler of the application that writes error responses itself. in is the input. If
// in is nil, the input is the form in the request, as in SignIn. If the sign-in fails, StartSignIn writes no response
// and returns the error (see [core.Response.Failure]), which is a *[core.InvalidInputError] for an invalid input.
func (a *Adapter) StartSignIn(c *echo.Context, in *core.SignInInput) error {
	return authhttp.WriteOrFail(
		c.Response(),
		authhttp.Ask(c.Request(), func(ctx context.Context, r *core.Request) *core.Response {
			return a.auth.SignInWith(ctx, r, in)
		}),
	)
}

// EndSession signs the user out in a handler of the application that writes error responses itself. in is the input. If
// it is nil, the fields of the form are used.
func (a *Adapter) EndSession(c *echo.Context, in *core.SignOutInput) error {
	return authhttp.WriteOrFail(
		c.Response(),
		authhttp.Ask(c.Request(), func(ctx context.Context, r *core.Request) *core.Response {
			return a.auth.SignOutWith(ctx, r, in)
		}),
	)
}
