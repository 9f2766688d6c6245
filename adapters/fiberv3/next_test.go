package authfiber_test

import (
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v3"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiberv3"
	"github.com/latchkey-go/latchkey/core"
)

// TestNext requests pages that the hook skips, and one with RequireSession, which skips no request.
func TestNext(t *testing.T) {
	auth := newAuth(t, nil)
	a, f := authfiber.New(auth), fiber.New()
	a.Next = func(c fiber.Ctx) bool { return c.Path() != "/page" }
	f.Use(a.Hook())
	hooked := func(c fiber.Ctx) error {
		if core.VisitOf(c.Context(), auth) == nil {
			return c.SendString("skipped")
		}
		return c.SendString("hooked")
	}
	f.Get("/page", hooked)
	f.Get("/health", hooked)
	f.Get("/private", a.RequireSession(), hooked)
	for path, want := range map[string]string{"/page": "hooked", "/health": "skipped", "/private": ""} {
		answer := ask(t, f, httptest.NewRequest("GET", path, nil))
		if want == "" && answer.StatusCode != 401 || want != "" && answer.Body != want {
			t.Errorf("%s answered %d %s", path, answer.StatusCode, answer.Body)
		}
	}
}
