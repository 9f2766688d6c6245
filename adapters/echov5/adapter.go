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

// Adapter carries requests between echo and core. It is safe for concurrent use; make it with [New].
type Adapter struct {
	// Skipper leaves requests out of the hook, nil: none. Set it before the hook is used.
	Skipper middleware.Skipper

	auth *core.Auth
}

// New returns an Adapter for an Auth, of [core.New] or [core.PerRequest].
func New(auth *core.Auth) *Adapter { return &Adapter{auth: auth} }

// Router is what Mount needs of an *echo.Echo or *echo.Group.
type Router interface {
	Any(path string, handler echo.HandlerFunc, middleware ...echo.MiddlewareFunc) echo.RouteInfo
}

// Mount registers the auth routes, all methods, below the base path. On a group whose prefix moves them away from there
// it panics: mount on the *echo.Echo, with Config.BasePath set to the whole path.
func (a *Adapter) Mount(r Router) {
	want := a.auth.MountPath("") + "/*"
	if path := r.Any(want, a.Handler).Path; path != want {
		panic(fmt.Sprintf("authecho: the auth routes are mounted at %s, and browsers look for them at %s: "+
			"mount on the *echo.Echo, with Config.BasePath set to the whole path", path, want))
	}
}

// Handler answers a request to the auth routes.
func (a *Adapter) Handler(c *echo.Context) error { return answer(c, a.auth.Handle) }

// answer lets an entry of core answer.
func answer(c *echo.Context, entry func(context.Context, *core.Request) *core.Response) error {
	authhttp.Write(c.Response(), authhttp.Ask(c.Request(), entry))
	return nil
}

// Hook makes the session available to the handlers behind it: read on first use, once per request.
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
	if core.VisitOf(c.Request().Context(), a.auth) != nil { // a hook of the same Auth is in front
		return next(c)
	}
	answer, err := echo.UnwrapResponse(c.Response())
	if err != nil {
		return fmt.Errorf("authecho: a middleware in front has set a response that leads to no *echo.Response: %w", err)
	}
	visit, writer := a.auth.Visit(c.Request().Context(), authhttp.Request(c.Request())), answer.ResponseWriter
	own := authhttp.NewWriter(writer, visit)
	c.SetRequest(c.Request().WithContext(visit))
	answer.ResponseWriter = own
	err = next(c)
	visit.Commit(writer.Header()) // of this answer: behind a timeout the context may be another visitor's by now
	if answer.ResponseWriter == http.ResponseWriter(own) {
		answer.ResponseWriter = writer
	}
	return err
}

// RequireSession lets only signed-in visitors through: others get 303 to the sign-in page, or 401 where no page was
// asked for (docs/protocol.md §7.9). It is a hook too, which Skipper does not touch, and works behind another.
// Guards are asked after that, in their order: [core.Fresh], or the application's own.
func (a *Adapter) RequireSession(guards ...core.Guard) echo.MiddlewareFunc {
	return a.RequireSessionWhere(nil, guards...)
}

// RequireSessionWhere is RequireSession for the requests that where picks, such as [core.Under]("/admin"): in front of
// all routes at once. Others pass, and have the hook.
func (a *Adapter) RequireSessionWhere(where func(*core.Request) bool, guards ...core.Guard) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		guarded := func(c *echo.Context) error {
			at := core.At(where, c.Request().URL.Path, "")
			if _, refusal := core.VisitOf(c.Request().Context(), a.auth).RequireWhere(at, guards...); refusal != nil {
				authhttp.Write(c.Response(), refusal)
				return nil
			}
			return next(c)
		}
		return func(c *echo.Context) error { return a.visit(c, guarded) }
	}
}

// Session returns the visitor's session, nil without one, behind the hook; see [core.SessionFrom].
func Session(c *echo.Context) (*core.Session, error) { return core.SessionFrom(c.Request().Context()) }

// Session returns the visitor's session in one call, nil without one, with a hook in front or without. What it sets is
// in the answer's header: call it before the header goes out; see [core.Auth.Session].
func (a *Adapter) Session(c *echo.Context) (*core.Session, error) {
	return a.auth.Session(c.Request().Context(), authhttp.Request(c.Request()), c.Response().Header())
}

// SignIn answers a form of the application that starts a sign-in: see [core.Auth.SignIn].
func (a *Adapter) SignIn(c *echo.Context) error { return answer(c, a.auth.SignIn) }

// SignOut answers a form of the application that signs out: see [core.Auth.SignOut].
func (a *Adapter) SignOut(c *echo.Context) error { return answer(c, a.auth.SignOut) }

// TrySignIn is SignIn for handlers that answer failures themselves: where the sign-in fails it answers nothing and
// returns the error; see [core.Response.Failure].
func (a *Adapter) TrySignIn(c *echo.Context) error {
	return authhttp.WriteOrFail(c.Response(), authhttp.Ask(c.Request(), a.auth.SignIn))
}

// TrySignOut is SignOut for handlers that answer failures themselves, as TrySignIn is for sign-ins.
func (a *Adapter) TrySignOut(c *echo.Context) error {
	return authhttp.WriteOrFail(c.Response(), authhttp.Ask(c.Request(), a.auth.SignOut))
}

// TrySignInWith is TrySignIn for components: it starts a sign-in with an input of the application in place of a form;
// see [core.Auth.SignInWith]. What is wrong with the input is a *[core.InvalidInputError].
func (a *Adapter) TrySignInWith(c *echo.Context, in core.SignInInput) error {
	return authhttp.WriteOrFail(c.Response(), a.auth.SignInWith(c.Request().Context(), authhttp.Request(c.Request()), in))
}

// TrySignOutWith is TrySignInWith for signing out.
func (a *Adapter) TrySignOutWith(c *echo.Context, in core.SignOutInput) error {
	return authhttp.WriteOrFail(c.Response(), a.auth.SignOutWith(c.Request().Context(), authhttp.Request(c.Request()), in))
}
