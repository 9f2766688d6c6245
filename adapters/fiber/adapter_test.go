package authfiber_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/gofiber/fiber/v2"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	"github.com/latchkey-go/latchkey/adapters/internal/fibertest"
	"github.com/latchkey-go/latchkey/conformance/kit/adaptertest"
	"github.com/latchkey-go/latchkey/core"
)

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, s adaptertest.Site) string {
		f, a := fiber.New(fiber.Config{
			DisableStartupMessage: true, ReadBufferSize: 64 << 10, DisablePreParseMultipartForm: true, BodyLimit: 8 << 20,
		}), authfiber.New(s.Auth)
		for _, step := range s.Before {
			f.Use(before(step))
		}
		a.Mount(f)
		a.MountWellKnown(f)
		for _, route := range s.Routes {
			var chain []fiber.Handler
			for _, step := range route.Before {
				chain = append(chain, before(step))
			}
			chain = append(chain, func(c *fiber.Ctx) error { route.Do(call{c, a}); return nil })
			if route.Method == "" {
				f.All(route.Path, chain...)
			} else {
				f.Add(route.Method, route.Path, chain...)
			}
		}
		return server(f).Start(t)
	})
}

// server returns f as a server.
func server(f *fiber.App) fibertest.Server {
	return fibertest.Server{Serve: f.Listener, Shutdown: f.Shutdown}
}

func before(step adaptertest.Step) fiber.Handler {
	a := authfiber.New(step.Auth)
	switch step.Kind {
	case adaptertest.RequireSession:
		return a.RequireSession(step.Guards...)
	case adaptertest.RequireSessionWhere:
		return a.RequireSessionWhere(step.Where, step.Guards...)
	case adaptertest.RequirePrincipal:
		return a.RequirePrincipal(step.PrincipalGuards...)
	case adaptertest.Early:
		return func(c *fiber.Ctx) error { step.Do(call{c, a}); return c.Next() }
	}
	return a.Hook()
}

// call implements the kit's Call with lines that a handler of fiber would contain.
type call struct {
	c *fiber.Ctx
	a *authfiber.Adapter
}

func (c call) Write(b []byte) (int, error) { return c.c.Write(b) }
func (c call) Context() context.Context    { return c.c.UserContext() }
func (c call) Body() io.Reader             { return bytes.NewReader(c.c.Body()) }
func (c call) Field(name string) string    { return c.c.FormValue(name) }
func (c call) Header(name, value string)   { c.c.Set(name, value) }
func (c call) Status(code int)             { c.c.Status(code) }

func (c call) Stream(first string, then func() string) {
	c.c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		_, _ = w.WriteString(first)
		_ = w.Flush()
		_, _ = w.WriteString(then())
	})
}

func (c call) Session() (*core.Session, error)    { return authfiber.Session(c.c) }
func (c call) OneSession() (*core.Session, error) { return c.a.LoadSession(c.c) }

func (c call) Kept() func() (*core.Session, error) {
	ctx := c.Context()
	return func() (*core.Session, error) { return core.SessionFrom(ctx) }
}

func (c call) SignIn()                                { _ = c.a.SignIn(c.c) }
func (c call) SignOut()                               { _ = c.a.SignOut(c.c) }
func (c call) StartSignIn(in *core.SignInInput) error { return c.a.StartSignIn(c.c, in) }
func (c call) EndSession(in *core.SignOutInput) error { return c.a.EndSession(c.c, in) }
