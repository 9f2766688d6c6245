package authfiber_test

import (
	"testing"

	"github.com/gofiber/fiber/v3"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiberv3"
	"github.com/latchkey-go/latchkey/adapters/internal/fibertest"
	"github.com/latchkey-go/latchkey/core"
)

func TestStreamedBodies(t *testing.T) {
	fibertest.StreamedBodies(t, func(auth *core.Auth, smuggled func()) fibertest.Server {
		f := fiber.New(fiber.Config{StreamRequestBody: true, DisablePreParseMultipartForm: true})
		authfiber.New(auth).Mount(f)
		f.Get("/smuggled", func(fiber.Ctx) error { smuggled(); return nil })
		return server(f)
	})
}
