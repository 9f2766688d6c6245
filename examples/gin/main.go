// The gin example: home page, protected account page, session JSON, four sign-in methods, offline.
//
//	go run -tags nomsgpack ./examples/gin
//
// The tag leaves out gin's MessagePack support, which takes a quarter of the compile time.
package main

import (
	"log"
	"net/http"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/examples/internal/demo"
)

func main() {
	app, err := demo.Start()
	if err != nil {
		log.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	if err := app.Serve(routes(app)); err != nil {
		log.Fatal(err)
	}
}

func routes(app *demo.App) http.Handler {
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/demo.css", func(c *gin.Context) { c.Data(http.StatusOK, "text/css; charset=utf-8", demo.Stylesheet()) })
	r.GET("/favicon.ico", func(c *gin.Context) { c.Data(http.StatusOK, "image/svg+xml", demo.Icon()) })
	r.GET("/mailbox", gin.WrapH(app.Mailbox))

	a := authgin.New(app.Auth)
	a.Mount(r)
	r.Use(a.Hook())
	r.GET("/", page(demo.Home))
	r.GET("/account", a.RequireSession(), page(demo.Account))
	r.GET("/api/session", func(c *gin.Context) {
		session, err := authgin.Session(c)
		if err != nil {
			c.String(http.StatusInternalServerError, "The session could not be read.")
			return
		}
		c.JSON(http.StatusOK, session)
	})
	return r
}

func page(view func(*core.Session) templ.Component) gin.HandlerFunc {
	return func(c *gin.Context) {
		session, err := authgin.Session(c)
		if err != nil {
			c.String(http.StatusInternalServerError, "The session could not be read.")
			return
		}
		c.Header("Content-Security-Policy", demo.ContentPolicy)
		templ.Handler(view(session)).ServeHTTP(c.Writer, c.Request)
	}
}
