// The fiber example: home page, protected account page, session JSON, four sign-in methods, offline.
package main

import (
	"bytes"
	"log"
	"os"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp/fasthttpadaptor"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/examples/internal/demo"
)

func main() {
	app, err := demo.Start()
	if err != nil {
		log.Fatal(err)
	}
	f := routes(app)
	f.Hooks().OnListen(func(fiber.ListenData) error { app.Welcome(os.Stdout); return nil })
	if err := app.Run(func() error { return f.Listener(app.Listener) }, f.ShutdownWithContext); err != nil {
		log.Fatal(err)
	}
}

func routes(app *demo.App) *fiber.App {
	f := fiber.New(fiber.Config{
		DisableStartupMessage: true,
		ReadBufferSize:        32 << 10, // cookies of large sessions need more than fiber's 4 KiB of headers
		// Core handles malformed uploads like other malformed requests.
		DisablePreParseMultipartForm: true,
		ReadTimeout:                  15 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
	})
	f.Get("/demo.css", func(c *fiber.Ctx) error { return c.Type("css", "utf-8").Send(demo.Stylesheet()) })
	f.Get("/favicon.ico", func(c *fiber.Ctx) error { return c.Type("svg").Send(demo.Icon()) })
	mailbox := fasthttpadaptor.NewFastHTTPHandler(app.Mailbox)
	f.Get("/mailbox", func(c *fiber.Ctx) error { mailbox(c.Context()); return nil })

	a := authfiber.New(app.Auth)
	a.Mount(f)
	f.Use(a.Hook())
	f.Get("/", page(demo.Home))
	f.Get("/account", a.RequireSession(), page(demo.Account))
	f.Get("/api/session", func(c *fiber.Ctx) error {
		session, err := authfiber.Session(c)
		if err != nil {
			return err
		}
		return c.JSON(session)
	})
	return f
}

func page(view func(*core.Session) templ.Component) fiber.Handler {
	return func(c *fiber.Ctx) error {
		session, err := authfiber.Session(c)
		if err != nil {
			return err
		}
		var body bytes.Buffer
		if err := view(session).Render(c.UserContext(), &body); err != nil {
			return err
		}
		c.Set("Content-Security-Policy", demo.ContentPolicy)
		return c.Type("html", "utf-8").Send(body.Bytes())
	}
}
