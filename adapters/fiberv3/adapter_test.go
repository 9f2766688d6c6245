package authfiber_test

import (
	"bufio"
	"bytes"
	"net"
	"testing"

	"github.com/gofiber/fiber/v3"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiberv3"
	"github.com/latchkey-go/latchkey/conformance/kit/adaptertest"
	"github.com/latchkey-go/latchkey/core"
)

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, s adaptertest.Site) string {
		f := fiber.New(fiber.Config{
			ReadBufferSize: 32 << 10, DisablePreParseMultipartForm: true, BodyLimit: 8 << 20,
		})
		a, office := authfiber.New(s.Auth), authfiber.New(s.Other)
		a.Mount(f)
		page := func(c fiber.Ctx) error {
			_, _ = authfiber.Session(c)
			return c.SendString(adaptertest.Page(authfiber.Session(c)))
		}
		f.Get("/page", a.Hook(), page)
		f.Get("/private", a.RequireSession(), page)
		f.Get("/strict", a.RequireSession(s.Guard), page)
		for _, path := range []string{"/area/page", "/areal"} {
			f.Get(path, a.RequireSessionWhere(core.Under("/area"), s.Guard), page)
		}
		f.Get("/office", a.Hook(), office.RequireSession(), page)
		f.Get("/later", a.Hook(), func(c fiber.Ctx) error {
			ctx := c.Context()
			s.Later(func() (*core.Session, error) { return core.SessionFrom(ctx) })
			return c.SendString("ok")
		})
		f.Get("/hold", a.Hook(), func(c fiber.Ctx) error { s.Hold(); return page(c) })
		f.Get("/stream", a.Hook(), func(c fiber.Ctx) error {
			ctx := c.Context()
			return c.SendStreamWriter(func(w *bufio.Writer) {
				_, _ = w.WriteString("begin\n")
				_ = w.Flush()
				_, _ = w.WriteString(adaptertest.Page(core.SessionFrom(ctx)))
			})
		})
		f.Get("/parallel", a.Hook(), func(c fiber.Ctx) error {
			ctx := c.Context()
			adaptertest.Parallel(ctx, func() (*core.Session, error) { return core.SessionFrom(ctx) }, c.Set)
			return c.SendString("ok")
		})
		f.All("/component", a.Hook(), a.Hook(), func(c fiber.Ctx) error {
			c.Set("Content-Type", "text/html")
			return adaptertest.Component(c.Context(), c.Response().BodyWriter())
		})
		once := func(c fiber.Ctx) error { return c.SendString(adaptertest.Page(a.Session(c))) }
		f.Get("/once", once)
		f.Get("/twice", a.Hook(), func(c fiber.Ctx) error { _, _ = a.Session(c); return once(c) })
		try := func(action fiber.Handler) fiber.Handler {
			return func(c fiber.Ctx) error {
				if err := action(c); err != nil {
					return c.Status(422).SendString(adaptertest.Failed(err))
				}
				return nil
			}
		}
		f.Post("/try/signin", try(a.TrySignIn))
		f.Post("/try/signout", try(a.TrySignOut))
		f.Post("/call/signin", try(func(c fiber.Ctx) error {
			return a.TrySignInWith(c, adaptertest.Decode[core.SignInInput](bytes.NewReader(c.Body())))
		}))
		f.Post("/call/signout", try(func(c fiber.Ctx) error {
			return a.TrySignOutWith(c, adaptertest.Decode[core.SignOutInput](bytes.NewReader(c.Body())))
		}))
		f.Post("/signin", a.SignIn)
		f.Post("/signout", a.SignOut)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- f.Listener(listener, fiber.ListenConfig{DisableStartupMessage: true}) }()
		t.Cleanup(func() {
			if err := f.Shutdown(); err != nil {
				t.Error(err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		return listener.Addr().String()
	})
}
