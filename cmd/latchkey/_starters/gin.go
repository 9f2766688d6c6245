package main

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/core"
)

// newSite returns the router: the application's pages, and Latchkey's sign-in page and other routes under /auth.
func newSite(auth *core.Auth, mails http.Handler) *gin.Engine {
	a := authgin.New(auth)
	r := gin.Default()
	a.Mount(r)
	r.GET("/mailbox", gin.WrapH(mails))
	r.GET("/", a.Hook(), show("Welcome"))
	r.GET("/members", a.RequireSession(), show("Members"))
	r.GET("/admin", a.RequireSession(adminsOnly), show("Administration"))
	return r
}

func show(title string) gin.HandlerFunc {
	return func(c *gin.Context) {
		session, err := authgin.Session(c)
		if err != nil {
			c.String(http.StatusInternalServerError, "Please try again.")
			return
		}
		c.Header("Content-Type", "text/html; charset=utf-8")
		_ = render(c.Writer, title, session)
	}
}

func serve(site http.Handler, addr string) error {
	server := &http.Server{
		Addr: addr, Handler: site,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute,
	}
	return server.ListenAndServe()
}
