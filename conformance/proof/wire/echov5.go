package wire

import (
	"net/http"

	"github.com/labstack/echo/v5"

	authecho "github.com/latchkey-go/latchkey/adapters/echov5"
	"github.com/latchkey-go/latchkey/core"
)

func viaEchoV5(s Site) http.Handler {
	e, a := echo.New(), authecho.New(s.Auth)
	if !s.Mounted {
		e.RouteNotFound("/*", a.Handler)
		return e
	}
	a.Mount(e)
	e.RouteNotFound("/*", func(c *echo.Context) error { return c.String(http.StatusNotFound, Next) })
	if s.SessionPage != "" {
		e.GET(s.SessionPage, func(c *echo.Context) error {
			return c.JSON(http.StatusOK, SessionPage(authecho.Session(c)))
		}, a.Hook())
	}
	if s.Private != "" {
		private := func(c *echo.Context) error { return c.String(http.StatusOK, Secret) }
		e.Any(s.Private, private, a.RequireSession(s.PrivateGuards...))
	}
	if s.API != "" {
		a.MountWellKnown(e)
		api := func(c *echo.Context) error { return c.String(http.StatusOK, Principal(c.Request().Context())) }
		e.GET(s.API, api, a.RequirePrincipal(s.apiGuard()))
		e.POST(s.API, api, a.RequirePrincipal(core.Scopes(s.APIWriteScope)))
	}
	if s.Components != "" {
		e.GET(s.Components, func(c *echo.Context) error {
			return c.Blob(http.StatusOK, htmlType, Components(c.Request().Context()))
		}, a.Hook())
	}
	if s.SignIn != "" {
		e.POST(s.SignIn, a.SignIn)
	}
	if s.SignOut != "" {
		e.POST(s.SignOut, a.SignOut)
	}
	return e
}
