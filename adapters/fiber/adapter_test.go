package authfiber_test

import (
	"net"
	"testing"

	"github.com/gofiber/fiber/v2"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	"github.com/latchkey-go/latchkey/conformance/adaptertest"
	"github.com/latchkey-go/latchkey/core"
)

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, s core.Selector) string {
		f := fiber.New(fiber.Config{DisableStartupMessage: true, ReadBufferSize: 32 << 10, DisablePreParseMultipartForm: true, BodyLimit: 8 << 20})
		a := authfiber.New(s)
		a.Mount(f)
		page := func(c *fiber.Ctx) error {
			_, _ = authfiber.Session(c)
			return c.SendString(adaptertest.Page(authfiber.Session(c)))
		}
		f.Get("/page", a.Hook(), page)
		f.Get("/private", a.RequireSession(), page)
		f.Post("/signin", a.SignIn)
		f.Post("/signout", a.SignOut)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- f.Listener(listener) }()
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
