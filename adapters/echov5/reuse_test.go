package authecho_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/labstack/echo/v5"

	authecho "github.com/latchkey-go/latchkey/adapters/echov5"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
)

func newAuth(t *testing.T) *core.Auth {
	t.Helper()
	auth, err := core.New(core.Config{
		URL: "http://app.test", Getenv: func(string) string { return "" },
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Session: core.SessionConfig{UpdateAge: core.UpdateAlways},
	})
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

// signedIn returns a request with a session that every response extends.
func signedIn(t *testing.T, auth *core.Auth) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://app.test/", nil)
	for _, cookie := range authtest.Cookies(t, auth, "http://app.test", &core.User{ID: "1", Name: "Ada"}) {
		r.AddCookie(cookie)
	}
	return r
}

// TestContextOfAnotherRequest makes the handler return when its context already belongs to the next request. This
// happens if a timeout responds and the handler continues. The hook's cookies must be written only to its own response,
// so that the other user does not get them.
func TestContextOfAnotherRequest(t *testing.T) {
	auth := newAuth(t)
	first, second := httptest.NewRecorder(), httptest.NewRecorder()
	r := signedIn(t, auth)
	c := echo.New().NewContext(r, first)
	err := authecho.New(auth).Hook()(func(c *echo.Context) error {
		if s, err := authecho.Session(c); s == nil || err != nil {
			t.Errorf("the session is %v, %v", s, err)
		}
		c.Reset(r, second)
		return nil
	})(c)
	if err != nil {
		t.Fatal(err)
	}
	if got := second.Header()["Set-Cookie"]; got != nil || writerOf(t, c) != http.ResponseWriter(second) {
		t.Errorf("the answer to another visitor sets %q, or lost its writer", got)
	}
	if got := first.Header()["Set-Cookie"]; len(got) != 1 {
		t.Errorf("the answer sets %q", got)
	}
}

// writerOf returns the writer of echo's response.
func writerOf(t *testing.T, c *echo.Context) http.ResponseWriter {
	t.Helper()
	answer, err := echo.UnwrapResponse(c.Response())
	if err != nil {
		t.Fatal(err)
	}
	return answer.ResponseWriter
}

// TestTimeout makes a timeout before the hook respond while a handler that has read the session continues.
func TestTimeout(t *testing.T) {
	auth, e := newAuth(t), echo.New()
	ctx, end := context.WithCancel(t.Context())
	answered, ended := make(chan struct{}), make(chan struct{})
	e.GET("/", func(c *echo.Context) error {
		defer close(ended)
		if s, err := authecho.Session(c); s == nil || err != nil {
			t.Errorf("the session is %v, %v", s, err)
		}
		end()
		<-answered
		return c.String(200, "late")
	}, authecho.New(auth).Hook())
	answer := httptest.NewRecorder()
	http.TimeoutHandler(e, time.Hour, "").ServeHTTP(answer, signedIn(t, auth).WithContext(ctx))
	close(answered)
	<-ended
	if answer.Code != 503 || answer.Header()["Set-Cookie"] != nil {
		t.Errorf("answered %d with %q", answer.Code, answer.Header())
	}
}
