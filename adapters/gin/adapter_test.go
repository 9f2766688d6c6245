package authgin_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/conformance/kit/adaptertest"
	"github.com/latchkey-go/latchkey/core"
)

func TestAdapter(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	adaptertest.Run(t, func(t *testing.T, s adaptertest.Site) string {
		r := gin.New()
		a, office := authgin.New(s.Auth), authgin.New(s.Other)
		a.Mount(r)
		page := func(c *gin.Context) {
			_, _ = authgin.Session(c)
			c.String(200, "%s", adaptertest.Page(authgin.Session(c)))
		}
		r.GET("/page", a.Hook(), page)
		r.GET("/private", a.RequireSession(), page)
		r.GET("/strict", a.RequireSession(s.Guard), page)
		for _, path := range []string{"/area/page", "/areal"} {
			r.GET(path, a.RequireSessionWhere(core.Under("/area"), s.Guard), page)
		}
		r.GET("/office", a.Hook(), office.RequireSession(), page)
		hooked := r.Group("/", a.Hook(), a.Hook())
		hooked.GET("/later", func(c *gin.Context) {
			kept := c.Copy()
			s.Later(func() (*core.Session, error) { return authgin.Session(kept) })
			c.String(200, "ok")
		})
		hooked.GET("/hold", func(c *gin.Context) { s.Hold(); page(c) })
		hooked.GET("/stream", func(c *gin.Context) {
			_, _ = c.Writer.WriteString("begin\n")
			c.Writer.Flush()
			_, _ = c.Writer.WriteString(adaptertest.Page(authgin.Session(c)))
		})
		hooked.GET("/parallel", func(c *gin.Context) {
			adaptertest.Parallel(c.Request.Context(), func() (*core.Session, error) { return authgin.Session(c) }, c.Header)
			c.String(200, "ok")
		})
		hooked.Any("/component", func(c *gin.Context) {
			c.Header("Content-Type", "text/html")
			if err := adaptertest.Component(c.Request.Context(), c.Writer); err != nil {
				c.String(500, "%v", err)
			}
		})
		once := func(c *gin.Context) { c.String(200, "%s", adaptertest.Page(a.Session(c))) }
		r.GET("/once", once)
		hooked.GET("/twice", func(c *gin.Context) { _, _ = a.Session(c); once(c) })
		try := func(action func(*gin.Context) error) gin.HandlerFunc {
			return func(c *gin.Context) {
				if err := action(c); err != nil {
					c.String(422, "%s", adaptertest.Failed(err))
				}
			}
		}
		r.POST("/try/signin", try(a.TrySignIn))
		r.POST("/try/signout", try(a.TrySignOut))
		r.POST("/call/signin", try(func(c *gin.Context) error {
			return a.TrySignInWith(c, adaptertest.Decode[core.SignInInput](c.Request.Body))
		}))
		r.POST("/call/signout", try(func(c *gin.Context) error {
			return a.TrySignOutWith(c, adaptertest.Decode[core.SignOutInput](c.Request.Body))
		}))
		r.POST("/signin", a.SignIn)
		r.POST("/signout", a.SignOut)
		server := httptest.NewServer(r)
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	})
}
