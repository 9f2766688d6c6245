package authhttp_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/conformance/kit/adaptertest"
	"github.com/latchkey-go/latchkey/core"
)

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, s adaptertest.Site) string {
		mux, a := http.NewServeMux(), authhttp.New(s.Auth)
		a.Mount(mux)
		a.MountWellKnown(mux)
		for _, route := range s.Routes {
			var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				route.Do(call{w, r, a})
			})
			for _, step := range slices.Backward(route.Before) {
				handler = before(step, handler)
			}
			mux.Handle(strings.TrimSpace(route.Method+" "+route.Path), handler)
		}
		var handler http.Handler = mux
		for _, step := range slices.Backward(s.Before) {
			handler = before(step, handler)
		}
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	})
}

func before(step adaptertest.Step, next http.Handler) http.Handler {
	a := authhttp.New(step.Auth)
	switch step.Kind {
	case adaptertest.RequireSession:
		return a.Require(step.Guards...)(next)
	case adaptertest.RequireSessionWhere:
		return a.RequireWhere(step.Where, step.Guards...)(next)
	case adaptertest.RequirePrincipal:
		return a.RequirePrincipal(step.PrincipalGuards...)(next)
	case adaptertest.Early:
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			step.Do(call{w, r, a})
			next.ServeHTTP(w, r)
		})
	}
	return a.Hook(next)
}

// call implements the kit's Call with lines that a handler of net/http would contain.
type call struct {
	w http.ResponseWriter
	r *http.Request
	a *authhttp.Adapter
}

func (c call) Write(b []byte) (int, error) { return c.w.Write(b) }
func (c call) Context() context.Context    { return c.r.Context() }
func (c call) Body() io.Reader             { return c.r.Body }
func (c call) Field(name string) string    { return c.r.PostFormValue(name) }
func (c call) Header(name, value string)   { c.w.Header().Set(name, value) }
func (c call) Status(code int)             { c.w.WriteHeader(code) }

func (c call) Stream(first string, then func() string) {
	_, _ = io.WriteString(c.w, first)
	c.w.(http.Flusher).Flush()
	_, _ = io.WriteString(c.w, then())
}

func (c call) Session() (*core.Session, error)     { return authhttp.Session(c.r) }
func (c call) Kept() func() (*core.Session, error) { return c.Session }
func (c call) OneSession() (*core.Session, error)  { return c.a.LoadSession(c.w, c.r) }

func (c call) SignIn()                                { c.a.SignIn(c.w, c.r) }
func (c call) SignOut()                               { c.a.SignOut(c.w, c.r) }
func (c call) StartSignIn(in *core.SignInInput) error { return c.a.StartSignIn(c.w, c.r, in) }
func (c call) EndSession(in *core.SignOutInput) error { return c.a.EndSession(c.w, c.r, in) }

// discard is a ResponseWriter without costs.
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
	token, err := auth.EncodeToken(&core.Token{
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

// BenchmarkSessionCheck measures a signed-in page request: the hook, and a handler that reads the session.
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

// BenchmarkActions measures the auth routes.
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
