package authhttp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// TestOwnPages: an application can register pages of its own below the base path, in place of the built-in ones, before
// or after Mount.
func TestOwnPages(t *testing.T) {
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "http://app.test",
		Getenv: func(string) string { return "" },
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const teapot = http.StatusTeapot
	own := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(teapot) })
	for _, tt := range []struct {
		pattern, path string
	}{
		{"GET /auth/signin", "/auth/signin"},
		{"/auth/signin", "/auth/signin"},
		{"GET /auth/signout", "/auth/signout"},
		{"GET /auth/error", "/auth/error?error=Configuration"},
		{"GET /auth/verify-request", "/auth/verify-request"},
		{"GET /auth/welcome/{step}", "/auth/welcome/1"},
	} {
		for _, first := range []bool{true, false} {
			mux := http.NewServeMux()
			if first {
				mux.Handle(tt.pattern, own)
			}
			authhttp.New(auth).Mount(mux)
			if !first {
				mux.Handle(tt.pattern, own)
			}
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://app.test"+tt.path, nil))
			if w.Code != teapot {
				t.Errorf("%q, registered first: %v: the page is answered %d", tt.pattern, first, w.Code)
			}
			w = httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://app.test/auth/csrf", nil))
			if w.Code != http.StatusOK {
				t.Errorf("%q: the token is answered %d", tt.pattern, w.Code)
			}
		}
	}
}
