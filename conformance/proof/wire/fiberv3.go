package wire

import (
	"net/http"

	"github.com/gofiber/fiber/v3"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiberv3"
	"github.com/latchkey-go/latchkey/core"
)

func viaFiberV3(s Site) *fiber.App {
	a := authfiber.New(s.Auth)
	f := fiber.New(fiber.Config{
		ReadBufferSize: 64 << 10, DisablePreParseMultipartForm: true, StreamRequestBody: true,
		ReadTimeout: s.ReadTimeout, WriteTimeout: s.WriteTimeout, IdleTimeout: patience,
	})
	if s.Busy != nil {
		f.Use(func(c fiber.Ctx) error {
			s.Busy.Add(1)
			defer s.Busy.Done()
			return c.Next()
		})
	}
	if !s.Mounted {
		f.Use(a.Handler)
		return f
	}
	a.Mount(f)
	if s.SessionPage != "" {
		f.Get(s.SessionPage, a.Hook(), func(c fiber.Ctx) error { return c.JSON(SessionPage(authfiber.Session(c))) })
	}
	if s.Private != "" {
		f.All(s.Private, a.RequireSession(s.PrivateGuards...), func(c fiber.Ctx) error { return c.SendString(Secret) })
	}
	if s.API != "" {
		a.MountWellKnown(f)
		api := func(c fiber.Ctx) error { return c.SendString(Principal(c.Context())) }
		f.Get(s.API, a.RequirePrincipal(s.apiGuard()), api)
		f.Post(s.API, a.RequirePrincipal(core.Scopes(s.APIWriteScope)), api)
	}
	if s.Components != "" {
		f.Get(s.Components, a.Hook(), func(c fiber.Ctx) error {
			return c.Type("html", "utf-8").Send(Components(c.Context()))
		})
	}
	if s.SignIn != "" {
		f.Post(s.SignIn, a.SignIn)
	}
	if s.SignOut != "" {
		f.Post(s.SignOut, a.SignOut)
	}
	f.Use(func(c fiber.Ctx) error { return c.Status(http.StatusNotFound).SendString(Next) })
	return f
}
