package authgin_test

import (
	"context"
	"io"
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
		r, a := gin.New(), authgin.New(s.Auth)
		for _, step := range s.Before {
			r.Use(before(step))
		}
		a.Mount(r)
		a.MountWellKnown(r)
		for _, route := range s.Routes {
			var chain []gin.HandlerFunc
			for _, step := range route.Before {
				chain = append(chain, before(step))
			}
			chain = append(chain, func(c *gin.Context) { route.Do(call{c, a}) })
			if route.Method == "" {
				r.Any(route.Path, chain...)
			} else {
				r.Handle(route.Method, route.Path, chain...)
			}
		}
		server := httptest.NewServer(r)
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	})
}

func before(step adaptertest.Step) gin.HandlerFunc {
	a := authgin.New(step.Auth)
	switch step.Kind {
	case adaptertest.RequireSession:
		return a.RequireSession(step.Guards...)
	case adaptertest.RequireSessionWhere:
		return a.RequireSessionWhere(step.Where, step.Guards...)
	case adaptertest.RequirePrincipal:
		return a.RequirePrincipal(step.PrincipalGuards...)
	case adaptertest.Early:
		return func(c *gin.Context) { step.Do(call{c, a}); c.Next() }
	}
	return a.Hook()
}

// call implements the kit's Call with lines that a handler of gin would contain.
type call struct {
	c *gin.Context
	a *authgin.Adapter
}

func (c call) Write(b []byte) (int, error) { return c.c.Writer.Write(b) }
func (c call) Context() context.Context    { return c.c.Request.Context() }
func (c call) Body() io.Reader             { return c.c.Request.Body }
func (c call) Field(name string) string    { return c.c.PostForm(name) }
func (c call) Header(name, value string)   { c.c.Header(name, value) }
func (c call) Status(code int)             { c.c.Status(code) }

func (c call) Stream(first string, then func() string) {
	_, _ = c.c.Writer.WriteString(first)
	c.c.Writer.Flush()
	_, _ = c.c.Writer.WriteString(then())
}

func (c call) Session() (*core.Session, error)    { return authgin.Session(c.c) }
func (c call) OneSession() (*core.Session, error) { return c.a.LoadSession(c.c) }

func (c call) Kept() func() (*core.Session, error) {
	kept := c.c.Copy()
	return func() (*core.Session, error) { return authgin.Session(kept) }
}

func (c call) SignIn()                                { c.a.SignIn(c.c) }
func (c call) SignOut()                               { c.a.SignOut(c.c) }
func (c call) StartSignIn(in *core.SignInInput) error { return c.a.StartSignIn(c.c, in) }
func (c call) EndSession(in *core.SignOutInput) error { return c.a.EndSession(c.c, in) }
