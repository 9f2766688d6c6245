package authgin_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
)

// TestContextOfAnotherRequest makes the handler return when its context already belongs to the next request. This
// happens if a timeout responds and the handler continues. The hook's cookies must be written only to its own response,
// so that the other user does not get them.
func TestContextOfAnotherRequest(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	auth, err := core.New(core.Config{
		URL: "http://app.test", Getenv: func(string) string { return "" },
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Session: core.SessionConfig{UpdateAge: core.UpdateAlways},
	})
	if err != nil {
		t.Fatal(err)
	}
	first, second := httptest.NewRecorder(), httptest.NewRecorder()
	c, r := gin.CreateTestContext(first)
	other, _ := gin.CreateTestContext(second)
	c.Request = httptest.NewRequest(http.MethodGet, "http://app.test/", nil)
	for _, cookie := range authtest.Cookies(t, auth, "http://app.test", &core.User{ID: "1", Name: "Ada"}) {
		c.Request.AddCookie(cookie)
	}
	r.GET("/", authgin.New(auth).Hook(), func(c *gin.Context) {
		if s, err := authgin.Session(c); s == nil || err != nil {
			t.Errorf("the session is %v, %v", s, err)
		}
		c.Writer = other.Writer
	})
	r.HandleContext(c)
	if got := second.Header()["Set-Cookie"]; got != nil {
		t.Errorf("the answer to another visitor sets %q", got)
	}
	if got := first.Header()["Set-Cookie"]; len(got) != 1 {
		t.Errorf("the answer sets %q", got)
	}
}
