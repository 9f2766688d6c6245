package authecho_test

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	authecho "github.com/latchkey-go/latchkey/adapters/echo"
	"github.com/latchkey-go/latchkey/conformance/kit/adaptertest"
	"github.com/latchkey-go/latchkey/core"
)

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, s adaptertest.Site) string {
		e := echo.New()
		a, office := authecho.New(s.Auth), authecho.New(s.Other)
		a.Mount(e)
		page := func(c echo.Context) error {
			_, _ = authecho.Session(c)
			return c.String(200, adaptertest.Page(authecho.Session(c)))
		}
		e.GET("/page", page, a.Hook())
		e.GET("/private", page, a.RequireSession())
		e.GET("/strict", page, a.RequireSession(s.Guard))
		for _, path := range []string{"/area/page", "/areal"} {
			e.GET(path, page, a.RequireSessionWhere(core.Under("/area"), s.Guard))
		}
		e.GET("/office", page, a.Hook(), office.RequireSession())
		e.GET("/later", func(c echo.Context) error {
			ctx := c.Request().Context()
			s.Later(func() (*core.Session, error) { return core.SessionFrom(ctx) })
			return c.String(200, "ok")
		}, a.Hook())
		e.GET("/hold", func(c echo.Context) error { s.Hold(); return page(c) }, a.Hook())
		e.GET("/stream", func(c echo.Context) error {
			_, _ = io.WriteString(c.Response(), "begin\n")
			c.Response().Flush()
			_, err := io.WriteString(c.Response(), adaptertest.Page(authecho.Session(c)))
			return err
		}, a.Hook())
		e.GET("/parallel", func(c echo.Context) error {
			session := func() (*core.Session, error) { return authecho.Session(c) }
			adaptertest.Parallel(c.Request().Context(), session, c.Response().Header().Set)
			return c.String(200, "ok")
		}, a.Hook())
		e.Any("/component", func(c echo.Context) error {
			c.Response().Header().Set("Content-Type", "text/html")
			return adaptertest.Component(c.Request().Context(), c.Response())
		}, a.Hook(), a.Hook())
		once := func(c echo.Context) error { return c.String(200, adaptertest.Page(a.Session(c))) }
		e.GET("/once", once)
		e.GET("/twice", func(c echo.Context) error { _, _ = a.Session(c); return once(c) }, a.Hook())
		try := func(action func(echo.Context) error) echo.HandlerFunc {
			return func(c echo.Context) error {
				if err := action(c); err != nil {
					return c.String(422, adaptertest.Failed(err))
				}
				return nil
			}
		}
		e.POST("/try/signin", try(a.TrySignIn))
		e.POST("/try/signout", try(a.TrySignOut))
		e.POST("/call/signin", try(func(c echo.Context) error {
			return a.TrySignInWith(c, adaptertest.Decode[core.SignInInput](c.Request().Body))
		}))
		e.POST("/call/signout", try(func(c echo.Context) error {
			return a.TrySignOutWith(c, adaptertest.Decode[core.SignOutInput](c.Request().Body))
		}))
		e.POST("/signin", a.SignIn)
		e.POST("/signout", a.SignOut)
		server := httptest.NewServer(e)
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	})
}
