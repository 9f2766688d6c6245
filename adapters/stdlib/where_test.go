package authhttp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// TestUnderReadsThePathOfTheRouter checks that a guard after StripPrefix or a path rewrite protects the page that the
// mux serves.
func TestUnderReadsThePathOfTheRouter(t *testing.T) {
	auth, _, _, _ := newSite(t)
	inner := http.NewServeMux()
	for _, path := range []string{"/admin/users", "/public"} {
		inner.HandleFunc(path, func(http.ResponseWriter, *http.Request) {})
	}
	guarded := authhttp.New(auth).RequireWhere(core.PathPrefix("/admin"))(inner)
	rewrite := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/de")
		guarded.ServeHTTP(w, r)
	})
	for _, row := range []struct {
		name            string
		handler         http.Handler
		guarded, public string
	}{
		{"nothing", guarded, "/admin/users", "/public"},
		{"StripPrefix", http.StripPrefix("/app", guarded), "/app/admin/users", "/app/public"},
		{"a path that is rewritten behind the hook", authhttp.New(auth).Hook(rewrite), "/de/admin/users", "/de/public"},
		{"a rewritten path", rewrite, "/de/admin/users", "/de/public"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for path, want := range map[string]int{row.guarded: 401, row.public: 200} {
				w := httptest.NewRecorder()
				row.handler.ServeHTTP(w, httptest.NewRequest("GET", "http://app.test"+path, nil))
				if w.Code != want {
					t.Errorf("%s: answered %d, want %d", path, w.Code, want)
				}
			}
		})
	}
}
