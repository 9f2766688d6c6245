package authgin_test

import (
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/core"
)

// TestMountOnAGroup looks for the routes where the base path says they are.
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
				BasePath: row.base, TrustHost: core.On,
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

// panics reports whether f panics.
func panics(f func()) (it bool) {
	defer func() { it = recover() != nil }()
	f()
	return false
}
