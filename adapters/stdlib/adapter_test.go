package authhttp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/conformance/kit/adaptertest"
	"github.com/latchkey-go/latchkey/core"
)

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, s adaptertest.Site) string {
		mux := http.NewServeMux()
		a, office := authhttp.New(s.Auth), authhttp.New(s.Other)
		a.Mount(mux)
		page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = authhttp.Session(r)
			_, _ = io.WriteString(w, adaptertest.Page(authhttp.Session(r)))
		})
		mux.Handle("GET /page", a.Hook(page))
		mux.Handle("GET /private", a.RequireSession(page))
		mux.Handle("GET /strict", a.Require(s.Guard)(page))
		for _, path := range []string{"GET /area/page", "GET /areal"} {
			mux.Handle(path, a.RequireWhere(core.Under("/area"), s.Guard)(page))
		}
		mux.Handle("GET /office", a.Hook(office.RequireSession(page)))
		hooked := func(pattern string, f http.HandlerFunc) { mux.Handle(pattern, a.Hook(a.Hook(f))) }
		hooked("GET /later", func(w http.ResponseWriter, r *http.Request) {
			s.Later(func() (*core.Session, error) { return authhttp.Session(r) })
			_, _ = io.WriteString(w, "ok")
		})
		hooked("GET /hold", func(w http.ResponseWriter, r *http.Request) { s.Hold(); page(w, r) })
		hooked("GET /stream", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "begin\n")
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, adaptertest.Page(authhttp.Session(r)))
		})
		hooked("GET /parallel", func(w http.ResponseWriter, r *http.Request) {
			adaptertest.Parallel(r.Context(), func() (*core.Session, error) { return authhttp.Session(r) }, w.Header().Set)
			_, _ = io.WriteString(w, "ok")
		})
		hooked("/component", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			if err := adaptertest.Component(r.Context(), w); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
		once := func(w http.ResponseWriter, r *http.Request) {
			session, err := a.Session(w, r)
			_, _ = io.WriteString(w, adaptertest.Page(session, err))
		}
		mux.HandleFunc("GET /once", once)
		hooked("GET /twice", func(w http.ResponseWriter, r *http.Request) { _, _ = a.Session(w, r); once(w, r) })
		try := func(action func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				if err := action(w, r); err != nil {
					w.WriteHeader(http.StatusUnprocessableEntity)
					_, _ = io.WriteString(w, adaptertest.Failed(err))
				}
			}
		}
		mux.HandleFunc("POST /try/signin", try(a.TrySignIn))
		mux.HandleFunc("POST /try/signout", try(a.TrySignOut))
		mux.HandleFunc("POST /call/signin", try(func(w http.ResponseWriter, r *http.Request) error {
			return a.TrySignInWith(w, r, adaptertest.Decode[core.SignInInput](r.Body))
		}))
		mux.HandleFunc("POST /call/signout", try(func(w http.ResponseWriter, r *http.Request) error {
			return a.TrySignOutWith(w, r, adaptertest.Decode[core.SignOutInput](r.Body))
		}))
		mux.HandleFunc("POST /signin", a.SignIn)
		mux.HandleFunc("POST /signout", a.SignOut)
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	})
}

// discard is a ResponseWriter that costs nothing.
type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

func benchmarkAuth(b *testing.B) (*core.Auth, *http.Request) {
	b.Helper()
	auth, err := core.New(core.Config{
		URL: "https://app.test", Getenv: func(string) string { return "" },
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
	})
	if err != nil {
		b.Fatal(err)
	}
	token, err := auth.SealToken(&core.Token{
		Subject: "5f0c9d3e-6b9a-4c55-9d8c-0a3b7a1f2c11", Name: "Ada Lovelace", Email: "ada@example.com",
		Picture: "https://img.example/u/ada.png",
	}, "__Secure-authjs.session-token", 24*time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	first := httptest.NewRecorder()
	authhttp.New(auth).ServeHTTP(first, httptest.NewRequest(http.MethodGet, "/auth/csrf", nil))
	pairs := []string{"__Secure-authjs.session-token=" + token}
	for _, line := range first.Header()["Set-Cookie"] {
		pair, _, _ := strings.Cut(line, ";")
		pairs = append(pairs, pair)
	}
	r := httptest.NewRequest(http.MethodGet, "/page", nil)
	r.Header.Set("Cookie", strings.Join(pairs, "; "))
	r.Header.Set("Accept", "text/html,application/xhtml+xml")
	return auth, r
}

// BenchmarkSessionCheck is a signed-in page request: hook, and a handler that reads the session.
func BenchmarkSessionCheck(b *testing.B) {
	auth, r := benchmarkAuth(b)
	handler := authhttp.New(auth).Hook(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if s, err := authhttp.Session(r); err != nil || s == nil || s.User.Name != "Ada Lovelace" {
			b.Fatal(s, err)
		}
	}))
	w := discard{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(w, r)
	}
}

// BenchmarkActions are the auth routes.
func BenchmarkActions(b *testing.B) {
	for _, target := range []string{"/auth/session", "/auth/csrf", "/auth/providers", "/auth/signin"} {
		b.Run(strings.TrimPrefix(target, "/auth/"), func(b *testing.B) {
			auth, r := benchmarkAuth(b)
			r.RequestURI = target
			a := authhttp.New(auth)
			b.ReportAllocs()
			for b.Loop() {
				a.ServeHTTP(discard{http.Header{}}, r)
			}
		})
	}
}
