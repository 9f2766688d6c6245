package authfiber_test

import (
	"html/template"
	"io"
	"net/http"
	"testing"

	"github.com/gofiber/fiber/v2"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	"github.com/latchkey-go/latchkey/conformance/kit/adaptertest"
	"github.com/latchkey-go/latchkey/ui"
)

// views are templates as fiber draws them.
type views struct{ own *template.Template }

// Load implements [fiber.Views].
func (views) Load() error { return nil }

// Render implements [fiber.Views].
func (v views) Render(w io.Writer, name string, data any, _ ...string) error {
	return v.own.ExecuteTemplate(w, name, data)
}

// TestTemplates draws a sign-in button in pages of html/template, as docs/recipes/templates.md shows it.
func TestTemplates(t *testing.T) {
	adaptertest.RunTemplates(t, func(s adaptertest.TemplateSite) func(*http.Request) (*http.Response, error) {
		f := fiber.New(fiber.Config{Views: views{s.Own}})
		f.Use(authfiber.New(s.Auth).Hook())
		f.Get("/ui", func(c *fiber.Ctx) error {
			c.Type("html")
			return ui.Execute(c.UserContext(), c, s.UI, "home", nil)
		})
		f.Get("/own", func(c *fiber.Ctx) error {
			button, err := s.Button(c.UserContext())
			if err != nil {
				return err
			}
			return c.Render("own", button)
		})
		return func(request *http.Request) (*http.Response, error) { return f.Test(request) }
	})
}
