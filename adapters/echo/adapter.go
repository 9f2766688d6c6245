// Package authecho serves Latchkey with echo.
//
//	a := authecho.New(auth)
//	a.Mount(e)                                        // sign-in page, callbacks, session JSON under /auth
//	e.Use(a.Hook())                                   // authecho.Session(c)
//	e.GET("/account", account, a.RequireSession())
package authecho

import (
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// Adapter carries requests between echo and core. It is safe for concurrent use; make it with [New].
type Adapter struct {
	// Skipper leaves requests out of the hook, nil: none. Set it before the hook is used.
	Skipper middleware.Skipper

	http *authhttp.Adapter
	base string
}

// New returns an Adapter for an *core.Auth, or for a [core.SelectFunc] that chooses one per request.
func New(s core.Selector) *Adapter {
	return &Adapter{http: authhttp.New(s), base: authhttp.BasePath(s)}
}

// Router is what Mount needs of an *echo.Echo or *echo.Group.
type Router interface {
	Any(path string, handler echo.HandlerFunc, middleware ...echo.MiddlewareFunc) []*echo.Route
}

// Mount registers the auth routes, all methods, below the base path of the *core.Auth, "/auth" for other selectors.
func (a *Adapter) Mount(r Router) { r.Any(a.base+"/*", a.Handler) }

// Handler answers a request to the auth routes.
func (a *Adapter) Handler(c echo.Context) error {
	a.http.ServeHTTP(c.Response(), c.Request())
	return nil
}

// Hook makes the session available to the handlers behind it: read on first use, once per request.
func (a *Adapter) Hook() echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if a.Skipper == nil || !a.Skipper(c) {
				c.SetRequest(c.Request().WithContext(a.http.Begin(c.Response(), c.Request())))
			}
			return next(c)
		}
	}
}

// RequireSession lets only requests of somebody who is signed in through: others get 303 to the sign-in page, or 401 where no
// page was asked for. It works with and without the hook in front.
func (a *Adapter) RequireSession() echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r, ok := a.http.Admit(c.Response(), c.Request())
			if !ok {
				return nil
			}
			c.SetRequest(r)
			return next(c)
		}
	}
}

// Session returns who is signed in, nil for nobody; see [core.SessionFrom].
func Session(c echo.Context) (*core.Session, error) { return core.SessionFrom(c.Request().Context()) }

// SignIn answers a form of the application that starts a sign-in: see [core.SignInAction].
func (a *Adapter) SignIn(c echo.Context) error {
	a.http.SignIn(c.Response(), c.Request())
	return nil
}

// SignOut answers a form of the application that signs out: see [core.SignOutAction].
func (a *Adapter) SignOut(c echo.Context) error {
	a.http.SignOut(c.Response(), c.Request())
	return nil
}
