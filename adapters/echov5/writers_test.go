package authecho_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v5"
	"github.com/labstack/echo/v5/middleware"

	authecho "github.com/latchkey-go/latchkey/adapters/echov5"
)

// opaque is a ResponseWriter of a middleware without an Unwrap method.
type opaque struct{ http.ResponseWriter }

// counted is a ResponseWriter with an Unwrap method.
type counted struct{ http.ResponseWriter }

// Unwrap supports [echo.UnwrapResponse].
func (w counted) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TestWritersInFront adds middlewares before the hook that replace echo's writer. Cookies must still be sent with the
// header. If a writer hides the response, the result is an error and not a lost cookie.
func TestWritersInFront(t *testing.T) {
	auth := newAuth(t)
	replaced := func(by func(http.ResponseWriter) http.ResponseWriter) echo.MiddlewareFunc {
		return func(next echo.HandlerFunc) echo.HandlerFunc {
			return func(c *echo.Context) error {
				c.SetResponse(by(c.Response()))
				return next(c)
			}
		}
	}
	for _, row := range []struct {
		name, method string
		inFront      echo.MiddlewareFunc
		status       int
	}{
		{"none", "GET", nil, 200},
		{"none, and HEAD", "HEAD", nil, 200},
		{"gzip", "GET", middleware.Gzip(), 200},
		{"one that unwraps", "GET", replaced(func(w http.ResponseWriter) http.ResponseWriter { return counted{w} }), 200},
		{"one that does not", "GET", replaced(func(w http.ResponseWriter) http.ResponseWriter { return opaque{w} }), 500},
	} {
		t.Run(row.name, func(t *testing.T) {
			e := echo.NewWithConfig(echo.Config{Router: echo.NewRouter(echo.RouterConfig{AutoHandleHEAD: true})})
			if row.inFront != nil {
				e.Use(row.inFront)
			}
			e.GET("/", func(c *echo.Context) error {
				if s, err := authecho.Session(c); s == nil || err != nil {
					t.Errorf("the session is %v, %v", s, err)
				}
				if err := c.String(200, strings.Repeat("page ", 1000)); err != nil {
					return err
				}
				c.Response().Header().Add("Set-Cookie", "late=1")
				return nil
			}, authecho.New(auth).Hook())
			r := signedIn(t, auth)
			r.Method = row.method
			r.Header.Set("Accept-Encoding", "gzip")
			answer := httptest.NewRecorder()
			e.ServeHTTP(answer, r)
			sent := answer.Result().Header["Set-Cookie"] // the header that was sent
			held := strings.Contains(strings.Join(sent, "\n"), "authjs.session-token")
			if answer.Code != row.status || held != (row.status == 200) {
				t.Errorf("answered %d with %q", answer.Code, sent)
			}
		})
	}
}
