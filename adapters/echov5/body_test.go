package authecho_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v5"
	"github.com/labstack/echo/v5/middleware"

	authecho "github.com/latchkey-go/latchkey/adapters/echov5"
	"github.com/latchkey-go/latchkey/core"
)

// TestBodiesThatMiddlewareHasRead posts the right password to a form action and to an auth route, after echo's
// middleware that reads bodies.
func TestBodiesThatMiddlewareHasRead(t *testing.T) {
	auth, err := core.New(core.Config{
		URL: "http://app.test", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		CSRF: core.InsecureSkipCSRFCheck(), // echo's middleware checks instead
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(_ context.Context, f map[string]string, _ *core.Request) (*core.User, error) {
				if f["password"] != "right" {
					return nil, nil
				}
				return &core.User{ID: "1", Name: f["name"]}, nil
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	read := func(do func(c *echo.Context)) echo.MiddlewareFunc {
		return func(next echo.HandlerFunc) echo.HandlerFunc {
			return func(c *echo.Context) error { do(c); return next(c) }
		}
	}
	type input struct {
		Name string `form:"name"`
	}
	for _, row := range []struct {
		name string
		use  echo.MiddlewareFunc
	}{
		{"CSRF by a form field", middleware.CSRFWithConfig(middleware.CSRFConfig{TokenLookup: "form:_csrf"})},
		{"method override", middleware.MethodOverrideWithConfig(middleware.MethodOverrideConfig{
			Getter: middleware.MethodFromForm("_method")})},
		{"BodyDump", middleware.BodyDump(func(*echo.Context, []byte, []byte, error) {})},
		{"FormValue", read(func(c *echo.Context) { c.FormValue("x") })},
		{"Bind", read(func(c *echo.Context) { _ = c.Bind(&input{}) })},
		{"FormValues", read(func(c *echo.Context) { _, _ = c.FormValues() })},
	} {
		t.Run(row.name, func(t *testing.T) {
			e, a := echo.New(), authecho.New(auth)
			e.Use(row.use)
			a.Mount(e)
			e.POST("/signin", a.SignIn)
			for path, status := range map[string]int{"/auth/callback/credentials": 302, "/signin": 303} {
				r := httptest.NewRequest(http.MethodPost, "http://app.test"+path, strings.NewReader(
					"_csrf=t&providerId=credentials&name=Ada&password=right&callbackUrl=/in"))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.AddCookie(&http.Cookie{Name: "_csrf", Value: "t"})
				w := httptest.NewRecorder()
				e.ServeHTTP(w, r)
				if to := w.Header().Get("Location"); w.Code != status || to != "http://app.test/in" {
					t.Errorf("%s: answered %d to %q: %s", path, w.Code, to, w.Body)
				}
			}
		})
	}
}
