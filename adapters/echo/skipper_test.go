package authecho_test

import (
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"

	authecho "github.com/latchkey-go/latchkey/adapters/echo"
	"github.com/latchkey-go/latchkey/core"
)

// TestSkipper requests pages that the hook skips, and one with RequireSession, which skips no request.
func TestSkipper(t *testing.T) {
	auth, err := core.New(core.Config{
		URL: "http://example.com", Getenv: func(string) string { return "" },
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
	})
	if err != nil {
		t.Fatal(err)
	}
	a, e := authecho.New(auth), echo.New()
	a.Skipper = func(c echo.Context) bool { return c.Path() != "/page" }
	e.Use(a.Hook())
	hooked := func(c echo.Context) error {
		if core.VisitOf(c.Request().Context(), auth) == nil {
			return c.String(200, "skipped")
		}
		return c.String(200, "hooked")
	}
	e.GET("/page", hooked)
	e.GET("/health", hooked)
	e.GET("/private", hooked, a.RequireSession())
	for path, want := range map[string]string{"/page": "hooked", "/health": "skipped", "/private": ""} {
		answer := httptest.NewRecorder()
		e.ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
		if want == "" && answer.Code != 401 || want != "" && answer.Body.String() != want {
			t.Errorf("%s answered %d %s", path, answer.Code, answer.Body)
		}
	}
}
