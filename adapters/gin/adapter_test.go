package authgin_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/conformance/adaptertest"
	"github.com/latchkey-go/latchkey/core"
)

func TestAdapter(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	adaptertest.Run(t, func(t *testing.T, s core.Selector) string {
		r := gin.New()
		a := authgin.New(s)
		a.Mount(r)
		page := func(c *gin.Context) {
			_, _ = authgin.Session(c)
			c.String(200, "%s", adaptertest.Page(authgin.Session(c)))
		}
		r.GET("/page", a.Hook(), page)
		r.GET("/private", a.RequireSession(), page)
		r.POST("/signin", a.SignIn)
		r.POST("/signout", a.SignOut)
		server := httptest.NewServer(r)
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	})
}
