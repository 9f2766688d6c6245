package main

import (
	"github.com/gofiber/fiber/v3"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiberv3"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

func main() {
	// reads AUTH_SECRET, AUTH_URL, AUTH_GITHUB_ID and AUTH_GITHUB_SECRET
	auth, err := core.New(core.Config{Providers: []core.Provider{providers.GitHub()}})
	if err != nil {
		panic(err) // lists every configuration error and its fix
	}
	a := authfiber.New(auth)
	app := fiber.New(fiber.Config{ReadBufferSize: 16 << 10, DisablePreParseMultipartForm: true})
	a.Mount(app)
	app.Get("/account", a.RequireSession(), func(c fiber.Ctx) error {
		session, _ := authfiber.Session(c)
		return c.SendString("Hello, " + session.User.Name)
	})
	panic(app.Listen("localhost:3000"))
}
