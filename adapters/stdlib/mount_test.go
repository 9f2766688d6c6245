package authhttp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// TestOwnPages checks that an application can replace built-in pages below the base path, before or after Mount.
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
		pattern, path string // a pattern without a method must be registered before Mount
	}{
		{"GET /auth/signin", "/auth/signin"},
		{"/auth/signin", "/auth/signin"},
		{"GET /auth/signout", "/auth/signout"},
		{"GET /auth/error", "/auth/error?error=Configuration"},
		{"GET /auth/verify-request", "/auth/verify-request"},
		{"GET /auth/welcome/{step}", "/auth/welcome/1"},
	} {
		for _, first := range []bool{true, false} {
			if !first && tt.pattern[0] == '/' {
				continue
			}
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

// TestMountNextTo registers patterns of an application before and after Mount. None panics, and all auth routes work.
func TestMountNextTo(t *testing.T) {
	auth, _, _, _ := newSite(t)
	tenants := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) { return auth, nil })
	const before, both = 1, 2
	for _, row := range []struct {
		pattern, path string
		order         int
		unknown       bool // Latchkey responds to unknown paths below the base path
	}{
		{"/", "/x", both, true},
		{"GET /", "/x", both, true},
		{"POST /", "", both, true},
		{"OPTIONS /", "", both, true},
		{"GET /{$}", "/", both, true},
		{"GET /{path...}", "/x", both, true},
		{"/{path...}", "/x", both, true},
		{"POST /{x}", "", both, true},
		{"GET /{slug}", "/x", both, true},
		{"GET /{tenant}/{page}", "/x/y", both, true},
		{"GET /{a}/{b}/{c}", "/x/y/z", both, true},
		{"GET /{a}/{rest...}", "/x/y", both, true},
		{"app.test/", "", both, false},
		{"other.test/", "", both, true},
		{"GET /auth/", "", both, true},
		{"GET /auth/{path...}", "", both, true},
		{"/static/", "/static/x", both, true},
		{"GET /{tenant}/settings", "/x/settings", before, false},
		{"/{tenant}/settings", "/x/settings", before, false},
		{"GET /{tenant}/signin", "/x/signin", before, false},
		{"/{a}/{b}/edit", "/x/y/edit", before, true},
	} {
		for order := range row.order {
			for name, auth := range map[string]*core.Auth{"New": auth, "PerRequest": tenants} {
				if name == "PerRequest" && row.order == before {
					continue
				}
				mux := http.NewServeMux()
				own := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
				if order == 0 {
					mux.Handle(row.pattern, own)
				}
				authhttp.New(auth).Mount(mux)
				if order == 1 {
					mux.Handle(row.pattern, own)
				}
				ask := func(method, path string) int {
					r := httptest.NewRequestWithContext(t.Context(), method, "http://app.test"+path, nil)
					w := httptest.NewRecorder()
					mux.ServeHTTP(w, r)
					return w.Code
				}
				want := map[string]int{}
				if row.path != "" {
					want["GET "+row.path] = http.StatusTeapot
				}
				if row.pattern != "app.test/" {
					for request, status := range map[string]int{
						"GET /auth/session": 200, "GET /auth/csrf": 200, "GET /auth/signin": 200, "GET /auth/signout": 200,
						"GET /auth/error": 200, "POST /auth/signout": 302, "POST /auth/callback/credentials": 302,
						"GET /auth/page.style": 200,
					} {
						want[request] = status
					}
				}
				if row.unknown {
					want["GET /auth/nowhere"], want["GET /auth/signin/x/y"], want["PUT /auth/session"] = 400, 400, 400
				}
				for request, status := range want {
					method, path, _ := strings.Cut(request, " ")
					if got := ask(method, path); got != status {
						t.Errorf("%s, %q registered as number %d: %s is answered %d", name, row.pattern, order, request, got)
					}
				}
			}
		}
	}
}

// TestMountTwice checks that two Auths cannot have the same base path.
func TestMountTwice(t *testing.T) {
	auth, _, _, _ := newSite(t)
	mux := http.NewServeMux()
	authhttp.New(auth).Mount(mux)
	defer func() {
		if recover() == nil {
			t.Error("the second one is mounted")
		}
	}()
	authhttp.New(auth).Mount(mux)
}
