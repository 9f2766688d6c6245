package main

import (
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	"github.com/latchkey-go/latchkey/core"
)

// newSite returns the router: the application's pages, and Latchkey's sign-in page and other routes under /auth.
func newSite(auth *core.Auth, mails http.Handler) *fiber.App {
	a := authfiber.New(auth)
	app := fiber.New(fiber.Config{
		ReadBufferSize:               16 << 10, // fiber's default of 4 KiB is too small for the cookies of some sign-ins
		DisablePreParseMultipartForm: true,     // lets Latchkey respond to malformed uploads
		ReadTimeout:                  15 * time.Second, WriteTimeout: time.Minute, DisableStartupMessage: true,
	})
	a.Mount(app)
	app.Get("/mailbox", adaptor.HTTPHandler(mails))
	app.Get("/", a.Hook(), show("Welcome"))
	app.Get("/members", a.RequireSession(), show("Members"))
	app.Get("/admin", a.RequireSession(adminsOnly), show("Administration"))
	return app
}

func show(title string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		session, err := authfiber.Session(c)
		if err != nil {
			return err
		}
		c.Set("Content-Type", "text/html; charset=utf-8")
		return render(c, title, session)
	}
}

func serve(site *fiber.App, addr string) error {
	return site.Listen(addr)
}
