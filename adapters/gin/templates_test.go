package authgin_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/conformance/kit/adaptertest"
	"github.com/latchkey-go/latchkey/ui"
)

// TestTemplates draws a sign-in button in pages of html/template, as docs/recipes/templates.md shows it.
func TestTemplates(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	adaptertest.RunTemplates(t, func(s adaptertest.TemplateSite) func(*http.Request) (*http.Response, error) {
		r := gin.New()
		r.SetHTMLTemplate(s.Own)
		r.Use(authgin.New(s.Auth).Hook())
		r.GET("/ui", func(c *gin.Context) {
			if err := ui.Render(c.Writer, c.Request, s.UI, "home", nil); err != nil {
				t.Error(err)
			}
		})
		r.GET("/own", func(c *gin.Context) {
			button, err := s.Button(c.Request.Context())
			if err != nil {
				t.Error(err)
			}
			c.HTML(http.StatusOK, "own", button)
		})
		return func(request *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			r.ServeHTTP(w, request)
			return w.Result(), nil
		}
	})
}
