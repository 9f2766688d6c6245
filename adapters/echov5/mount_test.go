package authecho_test

import (
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v5"

	authecho "github.com/latchkey-go/latchkey/adapters/echov5"
	"github.com/latchkey-go/latchkey/core"
)

// TestMountOnAGroup requests the routes below the base path.
func TestMountOnAGroup(t *testing.T) {
	for _, row := range []struct{ base, group, at string }{
		{"/auth", "", "/auth/csrf"},
		{"/api/auth", "", "/api/auth/csrf"},
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
			r := echo.New()
			if refused := panics(func() { authecho.New(auth).Mount(r.Group(row.group)) }); refused != (row.at == "") {
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
