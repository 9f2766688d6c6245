package authgin_test

import (
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/core"
)

// TestMountOnAGroup requests the routes below the base path.
func TestMountOnAGroup(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	for _, row := range []struct{ base, group, at string }{
		{"/auth", "/", "/auth/csrf"},
		{"/api/auth", "/api", "/api/auth/csrf"},
		{"/api/auth", "/api/", "/api/auth/csrf"},
		{"/auth", "/api", ""},
		{"/api/auth", "/ap", ""},
	} {
		t.Run(row.base+" on "+row.group, func(t *testing.T) {
			auth, err := core.New(core.Config{
				BasePath: row.base, TrustHost: core.True,
				Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Getenv: func(string) string { return "" },
			})
			if err != nil {
				t.Fatal(err)
			}
			r := gin.New()
			if refused := panics(func() { authgin.New(auth).Mount(r.Group(row.group)) }); refused != (row.at == "") {
				t.Fatalf("Mount panicked: %v", refused)
			}
			if row.at == "" {
				return
			}
			answer := httptest.NewRecorder()
			if r.ServeHTTP(answer, httptest.NewRequest("GET", row.at, nil)); answer.Code != 200 {
				t.Errorf("%s answered %d", row.at, answer.Code)
			}
		})
	}
}

// TestMountNextTo registers routes of an application before and after Mount.
func TestMountNextTo(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	auth, err := core.New(core.Config{
		URL: "http://app.test", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ route, path string }{
		{"/auth/signin", "/auth/signin"},
		{"/auth/welcome/:step", "/auth/welcome/1"},
		{"/auth", "/auth"},
		{"/:page", "/x"},
		{"/:tenant/settings", "/x/settings"},
		{"/:tenant/:page", "/x/y"},
		{"/static/*path", "/static/x"},
	} {
		for _, first := range []bool{true, false} {
			r := gin.New()
			own := func(c *gin.Context) { c.Status(418) }
			if first {
				r.GET(row.route, own)
			}
			authgin.New(auth).Mount(r)
			if !first {
				r.GET(row.route, own)
			}
			for path, want := range map[string]int{
				row.path: 418, "/auth/session": 200, "/auth/session/": 200, "/auth/signout": 200, "/auth/callback/x": 302,
				"/auth/nowhere": 400, "/auth/a/b/c/d": 400, "/auth//session": 200,
			} {
				w := httptest.NewRecorder()
				r.ServeHTTP(w, httptest.NewRequest("GET", "http://app.test"+path, nil))
				if w.Code != want {
					t.Errorf("%s, registered first: %t: %s is answered %d, want %d", row.route, first, path, w.Code, want)
				}
			}
		}
	}
}

// panics reports whether f panics.
func panics(f func()) (it bool) {
	defer func() { it = recover() != nil }()
	f()
	return false
}
