// The echo example: home page, protected account page, session JSON, four sign-in methods, offline.
package main

import (
	"log"
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	authecho "github.com/latchkey-go/latchkey/adapters/echo"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/examples/internal/demo"
)

func main() {
	app, err := demo.Start()
	if err != nil {
		log.Fatal(err)
	}
	if err := app.Serve(routes(app)); err != nil {
		log.Fatal(err)
	}
}

func routes(app *demo.App) http.Handler {
	e := echo.New()
	e.GET("/demo.css", func(c echo.Context) error {
		return c.Blob(http.StatusOK, "text/css; charset=utf-8", demo.Stylesheet())
	})
	e.GET("/favicon.ico", func(c echo.Context) error { return c.Blob(http.StatusOK, "image/svg+xml", demo.Icon()) })
	e.GET("/mailbox", echo.WrapHandler(app.Mailbox))

	a := authecho.New(app.Auth)
	a.Mount(e)
	pages := e.Group("", a.Hook())
	pages.GET("/", page(demo.Home))
	pages.GET("/account", page(demo.Account), a.RequireSession())
	pages.GET("/api/session", func(c echo.Context) error {
		session, err := authecho.Session(c)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, session)
	})
	return e
}

func page(view func(*core.Session) templ.Component) echo.HandlerFunc {
	return func(c echo.Context) error {
		session, err := authecho.Session(c)
		if err != nil {
			return err
		}
		c.Response().Header().Set("Content-Security-Policy", demo.ContentPolicy)
		templ.Handler(view(session)).ServeHTTP(c.Response(), c.Request())
		return nil
	}
}
