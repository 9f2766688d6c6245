package main

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	authecho "github.com/latchkey-go/latchkey/adapters/echo"
	"github.com/latchkey-go/latchkey/core"
)

// newSite returns the router: the application's pages, and Latchkey's sign-in page and other routes under /auth.
func newSite(auth *core.Auth, mails http.Handler) *echo.Echo {
	a := authecho.New(auth)
	e := echo.New()
	a.Mount(e)
	e.GET("/mailbox", echo.WrapHandler(mails))
	e.GET("/", show("Welcome"), a.Hook())
	e.GET("/members", show("Members"), a.RequireSession())
	e.GET("/admin", show("Administration"), a.RequireSession(adminsOnly))
	return e
}

func show(title string) echo.HandlerFunc {
	return func(c echo.Context) error {
		session, err := authecho.Session(c)
		if err != nil {
			return err
		}
		c.Response().Header().Set("Content-Type", "text/html; charset=utf-8")
		return render(c.Response(), title, session)
	}
}

func serve(site http.Handler, addr string) error {
	server := &http.Server{
		Addr: addr, Handler: site,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute,
	}
	return server.ListenAndServe()
}
