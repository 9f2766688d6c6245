package authfiber_test

import (
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	"github.com/latchkey-go/latchkey/core"
)

// TestUnderReadsThePathOfTheRouter checks that a guard for a group, a mounted application or a rewritten path protects
// the page that the router serves.
func TestUnderReadsThePathOfTheRouter(t *testing.T) {
	auth, err := core.New(core.Config{
		URL: "http://app.test", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	guard := authfiber.New(auth).RequireSessionWhere(core.PathPrefix("/admin"))
	page := func(c *fiber.Ctx) error { return c.SendString("page") }
	pages := func(r fiber.Router) {
		r.Use(guard)
		r.Get("/admin/users", page)
		r.Get("/public", page)
	}
	for _, row := range []struct {
		name            string
		build           func(app *fiber.App)
		guarded, public string
	}{
		{"nothing", func(app *fiber.App) { pages(app) }, "/admin/users", "/public"},
		{"letter case", func(app *fiber.App) { pages(app) }, "/Admin/Users", "/public"},
		{"a mounted application", func(app *fiber.App) {
			sub := fiber.New()
			pages(sub)
			app.Mount("/app", sub)
		}, "/app/admin/users", "/app/public"},
		{"a group", func(app *fiber.App) { pages(app.Group("/app")) }, "/app/admin/users", "/app/public"},
		{"a group with a parameter", func(app *fiber.App) { pages(app.Group("/:tenant/x")) }, "/a/x/admin/users",
			"/a/x/public"},
		{"a rewritten path, behind the hook", func(app *fiber.App) {
			app.Use(authfiber.New(auth).Hook(), func(c *fiber.Ctx) error {
				if path := c.Path(); len(path) > 3 && path[:3] == "/de" {
					c.Path(path[3:])
				}
				return c.Next()
			})
			pages(app)
		}, "/de/admin/users", "/de/public"},
		{"a rewritten path", func(app *fiber.App) {
			app.Use(func(c *fiber.Ctx) error {
				if path := c.Path(); len(path) > 3 && path[:3] == "/de" {
					c.Path(path[3:])
				}
				return c.Next()
			})
			pages(app)
		}, "/de/admin/users", "/de/public"},
	} {
		t.Run(row.name, func(t *testing.T) {
			app := fiber.New(fiber.Config{DisableStartupMessage: true})
			row.build(app)
			for path, want := range map[string]int{row.guarded: 401, row.public: 200} {
				res, err := app.Test(httptest.NewRequest("GET", path, nil))
				if err != nil {
					t.Fatal(err)
				}
				if res.StatusCode != want {
					t.Errorf("%s: answered %d, want %d", path, res.StatusCode, want)
				}
			}
		})
	}
}
