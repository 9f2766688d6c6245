package authfiber_test

import (
	"errors"
	"testing"

	"github.com/gofiber/fiber/v2"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	"github.com/latchkey-go/latchkey/adapters/internal/fibertest"
	"github.com/latchkey-go/latchkey/core"
)

func TestErrorsThatHandlersReturn(t *testing.T) {
	fibertest.Errors(t, func(auth *core.Auth, failed *fibertest.Failed) fibertest.Tester {
		f, a := fiber.New(fiber.Config{ErrorHandler: func(c *fiber.Ctx, err error) error {
			failed.Err = err
			var public *fiber.Error
			if errors.As(err, &public) {
				failed.Status = public.Code
			}
			return fiber.DefaultErrorHandler(c, err)
		}}), authfiber.New(auth)
		read := func(session func(*fiber.Ctx) (*core.Session, error)) fiber.Handler {
			return func(c *fiber.Ctx) error {
				_, err := session(c)
				return err
			}
		}
		f.Get("/hooked", a.Hook(), read(authfiber.Session))
		f.Get("/once", read(a.LoadSession))
		f.Get("/hookless", read(authfiber.Session))
		f.Post("/signin", func(c *fiber.Ctx) error { return a.StartSignIn(c, nil) })
		f.Post("/signout", func(c *fiber.Ctx) error { return a.EndSession(c, nil) })
		return tester(f)
	})
}
