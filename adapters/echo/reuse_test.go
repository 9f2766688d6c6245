package authecho_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"

	authecho "github.com/latchkey-go/latchkey/adapters/echo"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
)

// TestContextOfAnotherRequest makes the handler return when its context already belongs to the next request. This
// happens if a timeout responds and the handler continues. The hook's cookies must be written only to its own response,
// so that the other user does not get them.
func TestContextOfAnotherRequest(t *testing.T) {
	auth, err := core.New(core.Config{
		URL: "http://app.test", Getenv: func(string) string { return "" },
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Session: core.SessionConfig{UpdateAge: core.UpdateAlways},
	})
	if err != nil {
		t.Fatal(err)
	}
	first, second := httptest.NewRecorder(), httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://app.test/", nil)
	for _, cookie := range authtest.Cookies(t, auth, "http://app.test", &core.User{ID: "1", Name: "Ada"}) {
		r.AddCookie(cookie)
	}
	c := echo.New().NewContext(r, first)
	err = authecho.New(auth).Hook()(func(c echo.Context) error {
		if s, err := authecho.Session(c); s == nil || err != nil {
			t.Errorf("the session is %v, %v", s, err)
		}
		c.Response().Writer = second
		return nil
	})(c)
	if err != nil {
		t.Fatal(err)
	}
	if got := second.Header()["Set-Cookie"]; got != nil || c.Response().Writer != http.ResponseWriter(second) {
		t.Errorf("the answer to another visitor sets %q, or lost its writer", got)
	}
	if got := first.Header()["Set-Cookie"]; len(got) != 1 {
		t.Errorf("the answer sets %q", got)
	}
}
