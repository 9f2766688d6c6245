package authecho_test

import (
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v5"
	"github.com/labstack/echo/v5/middleware"

	authecho "github.com/latchkey-go/latchkey/adapters/echov5"
	"github.com/latchkey-go/latchkey/core"
)

// TestUnderReadsThePathOfTheRouter checks that a guard after a path rewrite protects the page that echo serves.
func TestUnderReadsThePathOfTheRouter(t *testing.T) {
	auth, err := core.New(core.Config{
		URL: "http://app.test", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	e := echo.New()
	e.Pre(middleware.Rewrite(map[string]string{"/de/*": "/$1"}))
	e.Use(authecho.New(auth).RequireSessionWhere(core.PathPrefix("/admin", "/app/admin")))
	for _, path := range []string{"/admin/users", "/app/admin/users", "/public"} {
		e.GET(path, func(c *echo.Context) error { return c.String(200, "page") })
	}
	for path, want := range map[string]int{
		"/admin/users": 401, "/de/admin/users": 401, "/app/admin/users": 401, "/public": 200, "/de/public": 200,
	} {
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest("GET", "http://app.test"+path, nil))
		if w.Code != want {
			t.Errorf("%s: answered %d, want %d", path, w.Code, want)
		}
	}
}
