package authecho_test

import (
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"

	authecho "github.com/latchkey-go/latchkey/adapters/echo"
	"github.com/latchkey-go/latchkey/conformance/kit/adaptertest"
	"github.com/latchkey-go/latchkey/ui"
)

// renderer draws pages with the functions of ui, and others without.
type renderer struct{ ui, own *template.Template }

// Render implements [echo.Renderer].
func (r renderer) Render(w io.Writer, name string, data any, c echo.Context) error {
	if name == "own" {
		return r.own.Execute(w, data)
	}
	return ui.Execute(c.Request().Context(), w, r.ui, name, data)
}

// TestTemplates draws a sign-in button in pages of html/template, as docs/recipes/templates.md shows it.
func TestTemplates(t *testing.T) {
	adaptertest.RunTemplates(t, func(s adaptertest.TemplateSite) func(*http.Request) (*http.Response, error) {
		e := echo.New()
		e.Renderer = renderer{s.UI, s.Own}
		e.Use(authecho.New(s.Auth).Hook())
		e.GET("/ui", func(c echo.Context) error { return c.Render(http.StatusOK, "home", nil) })
		e.GET("/own", func(c echo.Context) error {
			button, err := s.Button(c.Request().Context())
			if err != nil {
				return err
			}
			return c.Render(http.StatusOK, "own", button)
		})
		return func(request *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			e.ServeHTTP(w, request)
			return w.Result(), nil
		}
	})
}
