package authecho_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	authecho "github.com/latchkey-go/latchkey/adapters/echo"
	"github.com/latchkey-go/latchkey/conformance/adaptertest"
	"github.com/latchkey-go/latchkey/core"
)

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, s core.Selector) string {
		e := echo.New()
		a := authecho.New(s)
		a.Mount(e)
		page := func(c echo.Context) error {
			_, _ = authecho.Session(c)
			return c.String(200, adaptertest.Page(authecho.Session(c)))
		}
		e.GET("/page", page, a.Hook())
		e.GET("/private", page, a.RequireSession())
		e.POST("/signin", a.SignIn)
		e.POST("/signout", a.SignOut)
		server := httptest.NewServer(e)
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	})
}
