package authfiber_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	"github.com/latchkey-go/latchkey/core"
)

// TestRequest signs in with a form of the application, for the host of the request.
func TestRequest(t *testing.T) {
	auth, f := newAuth(t, nil), fiber.New()
	authfiber.New(auth).Mount(f)
	f.Post("/register", func(c *fiber.Ctx) error {
		cookies, err := auth.NewSession(c.UserContext(), authfiber.Request(c), &core.User{ID: "1", Name: "Ada"})
		for _, cookie := range cookies {
			c.Response().Header.Add("Set-Cookie", cookie.String())
		}
		return err
	})
	r := httptest.NewRequest("POST", "/register", nil)
	r.Header.Set("X-Forwarded-Proto", "https")
	registered := ask(t, f, r)
	lines := registered.Header["Set-Cookie"]
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "__Secure-authjs.session-token=") {
		t.Fatalf("answered %d with %q", registered.StatusCode, lines)
	}
	r = httptest.NewRequest("GET", "/auth/session", nil)
	r.Header.Set("X-Forwarded-Proto", "https")
	r.Header.Set("Cookie", strings.Split(lines[0], ";")[0])
	if answer := ask(t, f, r); !strings.Contains(answer.Body, "Ada") {
		t.Errorf("the session is %s", answer.Body)
	}
}
