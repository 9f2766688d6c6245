package peers_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// TestSharedCache requests guarded pages through an nginx that caches every response for a minute. No user gets another
// user's page, whatever Cache-Control the handler sets, and a public page is still cached.
func TestSharedCache(t *testing.T) {
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, TrustHost: core.True,
		Session: core.SessionConfig{Bearer: true}, Getenv: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	a := authhttp.New(auth)
	greet := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if control := r.URL.Query().Get("control"); control != "" {
			w.Header().Set("Cache-Control", control)
		}
		if r.URL.Path == "/streamed" {
			_, _ = io.WriteString(w, "<!doctype html>"+strings.Repeat(" ", 8192))
		}
		s, err := authhttp.Session(r)
		if err != nil {
			t.Error(err)
		}
		if s == nil {
			_, _ = io.WriteString(w, "Hello, nobody")
			return
		}
		_, _ = fmt.Fprintf(w, "Hello, %s", s.User.Name)
	}
	counted := 0
	mux := http.NewServeMux()
	mux.Handle("/guarded", a.RequireSession(http.HandlerFunc(greet)))
	mux.Handle("/page", a.Hook(http.HandlerFunc(greet)))
	mux.Handle("/streamed", a.Hook(http.HandlerFunc(greet)))
	mux.Handle("/public", a.Hook(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		counted++
		w.Header().Set("Cache-Control", "public")
		_, _ = fmt.Fprintf(w, "visit %d", counted)
	})))
	application := httptest.NewServer(mux)
	defer application.Close()
	address := free(t)
	startNginx(t, address, "\tproxy_cache_path "+t.TempDir()+" keys_zone=pages:1m;\n"+
		"\tserver {\n\t\tlisten "+address+";\n\t\tlocation / {\n\t\t\tproxy_pass "+application.URL+";\n"+
		"\t\t\tproxy_set_header Host $http_host;\n\t\t\tproxy_cache pages;\n\t\t\tproxy_cache_valid any 1m;\n\t\t}\n\t}\n")
	tokens := map[string]string{}
	for _, name := range []string{"Ada", "Eve"} {
		r := &core.Request{Method: "GET", Target: "/", Hosts: []string{address}, Scheme: "http", Header: http.Header{}}
		cookies, err := auth.NewSession(t.Context(), r, &core.User{ID: name, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		tokens[name] = cookies[0].Value
	}
	ask := func(path, as, how string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		switch {
		case as == "":
		case how == "cookie":
			r.Header.Set("Cookie", "authjs.session-token="+tokens[as])
		default:
			r.Header.Set("Authorization", "Bearer "+tokens[as])
		}
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	n := 0
	for _, path := range []string{"/guarded", "/page", "/streamed"} {
		for _, control := range []string{"", "must-revalidate", "max-age=60", "max-age=60, stale-while-revalidate=60"} {
			if path == "/streamed" && strings.HasPrefix(control, "max-age") {
				continue // its header is out before the session is read, and the handler wants the page cached
			}
			for _, how := range []string{"cookie", "bearer"} {
				n++
				target := fmt.Sprintf("%s?n=%d&control=%s", path, n, strings.ReplaceAll(control, " ", "%20"))
				for _, as := range []string{"", "Ada", "", "Eve", "Ada"} {
					status, body := ask(target, as, how)
					switch {
					case as != "" && !strings.HasSuffix(body, "Hello, "+as):
						t.Errorf("%s by %s: %s gets %d %q", target, how, as, status, strings.TrimSpace(body))
					case as == "" && (strings.Contains(body, "Ada") || strings.Contains(body, "Eve")):
						t.Errorf("%s by %s: a client without a session gets %q", target, how, strings.TrimSpace(body))
					}
				}
			}
		}
	}
	ask("/public", "", "cookie")
	ask("/public", "Ada", "cookie")
	if counted != 1 {
		t.Errorf("a public page was rendered %d times", counted)
	}
}
