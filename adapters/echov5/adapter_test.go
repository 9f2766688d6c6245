package authecho_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v5"

	authecho "github.com/latchkey-go/latchkey/adapters/echov5"
	"github.com/latchkey-go/latchkey/conformance/kit/adaptertest"
	"github.com/latchkey-go/latchkey/core"
)

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, s adaptertest.Site) string {
		e, a := echo.New(), authecho.New(s.Auth)
		for _, step := range s.Before {
			e.Use(before(step))
		}
		a.Mount(e)
		a.MountWellKnown(e)
		for _, route := range s.Routes {
			var chain []echo.MiddlewareFunc
			for _, step := range route.Before {
				chain = append(chain, before(step))
			}
			handler := func(c *echo.Context) error { route.Do(call{c, a}); return nil }
			if route.Method == "" {
				e.Any(route.Path, handler, chain...)
			} else {
				e.Add(route.Method, route.Path, handler, chain...)
			}
		}
		server := httptest.NewServer(e)
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	})
}

func before(step adaptertest.Step) echo.MiddlewareFunc {
	a := authecho.New(step.Auth)
	switch step.Kind {
	case adaptertest.RequireSession:
		return a.RequireSession(step.Guards...)
	case adaptertest.RequireSessionWhere:
		return a.RequireSessionWhere(step.Where, step.Guards...)
	case adaptertest.RequirePrincipal:
		return a.RequirePrincipal(step.PrincipalGuards...)
	case adaptertest.Early:
		return func(next echo.HandlerFunc) echo.HandlerFunc {
			return func(c *echo.Context) error { step.Do(call{c, a}); return next(c) }
		}
	}
	return a.Hook()
}

// call implements the kit's Call with lines that a handler of echo would contain.
type call struct {
	c *echo.Context
	a *authecho.Adapter
}

func (c call) Write(b []byte) (int, error) { return c.c.Response().Write(b) }
func (c call) Context() context.Context    { return c.c.Request().Context() }
func (c call) Body() io.Reader             { return c.c.Request().Body }
func (c call) Field(name string) string    { return c.c.FormValue(name) }
func (c call) Header(name, value string)   { c.c.Response().Header().Set(name, value) }
func (c call) Status(code int)             { c.c.Response().WriteHeader(code) }

func (c call) Stream(first string, then func() string) {
	_, _ = io.WriteString(c, first)
	_ = http.NewResponseController(c.c.Response()).Flush()
	_, _ = io.WriteString(c, then())
}

func (c call) Session() (*core.Session, error)    { return authecho.Session(c.c) }
func (c call) OneSession() (*core.Session, error) { return c.a.LoadSession(c.c) }

func (c call) Kept() func() (*core.Session, error) {
	ctx := c.Context()
	return func() (*core.Session, error) { return core.SessionFrom(ctx) }
}

func (c call) SignIn()                                { _ = c.a.SignIn(c.c) }
func (c call) SignOut()                               { _ = c.a.SignOut(c.c) }
func (c call) StartSignIn(in *core.SignInInput) error { return c.a.StartSignIn(c.c, in) }
func (c call) EndSession(in *core.SignOutInput) error { return c.a.EndSession(c.c, in) }
