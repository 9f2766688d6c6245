package peers_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-chi/chi/v5"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/conformance/kit/adaptertest"
	"github.com/latchkey-go/latchkey/conformance/proof/apidoc"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
)

// TestChi runs the test suite of adapters on chi: hooks and guards in middleware stacks of chi, and routes in groups.
// The OpenAPI document of the site must describe each response.
func TestChi(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, s adaptertest.Site) string {
		t.Helper()
		r, a := chi.NewRouter(), authhttp.New(s.Auth)
		for _, step := range s.Before {
			r.Use(chiStep(step))
		}
		r.Handle(s.Auth.BasePath()+"/*", a)
		for _, path := range s.Auth.WellKnownPaths() {
			r.Handle(path, a)
		}
		for _, route := range s.Routes {
			handler := func(w http.ResponseWriter, r *http.Request) { route.Do(chiCall{w, r, a}) }
			r.Group(func(r chi.Router) {
				for _, step := range route.Before {
					r.Use(chiStep(step))
				}
				if route.Method == "" {
					r.HandleFunc(route.Path, handler)
					return
				}
				r.MethodFunc(route.Method, route.Path, handler)
			})
		}
		server := httptest.NewServer(documented(t, s.Auth, r))
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	})
}

// documented compares the responses of a handler with the OpenAPI document of an Auth. An Auth for several tenants has
// no document.
func documented(t *testing.T, a *core.Auth, next http.Handler) http.Handler {
	t.Helper()
	if len(a.Routes()) == 0 {
		return next
	}
	checker, err := apidoc.New(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return checker.Handler(next, func(err error) { t.Error(err) })
}

// chiStep returns the middleware of a step.
func chiStep(step adaptertest.Step) func(http.Handler) http.Handler {
	a := authhttp.New(step.Auth)
	switch step.Kind {
	case adaptertest.RequireSession:
		return a.Require(step.Guards...)
	case adaptertest.RequireSessionWhere:
		return a.RequireWhere(step.Where, step.Guards...)
	case adaptertest.RequirePrincipal:
		return a.RequirePrincipal(step.PrincipalGuards...)
	case adaptertest.Early:
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				step.Do(chiCall{w, r, a})
				next.ServeHTTP(w, r)
			})
		}
	}
	return a.Hook
}

// chiCall implements the kit's Call with lines that a handler of net/http would contain.
type chiCall struct {
	w http.ResponseWriter
	r *http.Request
	a *authhttp.Adapter
}

func (c chiCall) Write(b []byte) (int, error) { return c.w.Write(b) }
func (c chiCall) Context() context.Context    { return c.r.Context() }
func (c chiCall) Body() io.Reader             { return c.r.Body }
func (c chiCall) Field(name string) string    { return c.r.PostFormValue(name) }
func (c chiCall) Header(name, value string)   { c.w.Header().Set(name, value) }
func (c chiCall) Status(code int)             { c.w.WriteHeader(code) }

func (c chiCall) Stream(first string, then func() string) {
	_, _ = io.WriteString(c.w, first)
	c.w.(http.Flusher).Flush()
	_, _ = io.WriteString(c.w, then())
}

func (c chiCall) Session() (*core.Session, error)     { return authhttp.Session(c.r) }
func (c chiCall) Kept() func() (*core.Session, error) { return c.Session }
func (c chiCall) OneSession() (*core.Session, error)  { return c.a.LoadSession(c.w, c.r) }

func (c chiCall) SignIn()                                { c.a.SignIn(c.w, c.r) }
func (c chiCall) SignOut()                               { c.a.SignOut(c.w, c.r) }
func (c chiCall) StartSignIn(in *core.SignInInput) error { return c.a.StartSignIn(c.w, c.r, in) }
func (c chiCall) EndSession(in *core.SignOutInput) error { return c.a.EndSession(c.w, c.r, in) }

// TestChiSubRouters guards pages in sub-routers: of Route with URL parameters, and of Mount, whose handlers see another
// path than the client has sent. A guard for a path prefix applies to both.
func TestChiSubRouters(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	a := authhttp.New(routersAuth(t, server.URL))
	parameter := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, chi.URLParam(r, "id")+" ")
		greet(w, r)
	}
	mounted := chi.NewRouter()
	mounted.Get("/", greet)
	mounted.Get("/{id}", parameter)
	r := chi.NewRouter()
	r.Use(a.Hook, a.RequireWhere(core.PathPrefix("/staff"), onlyAda))
	r.Handle("/auth/*", a)
	r.Route("/teams/{id}", func(r chi.Router) {
		r.Get("/", parameter)
		r.With(a.RequireSession).Get("/members", parameter)
		r.Route("/settings", func(r chi.Router) {
			r.Use(a.Require(onlyAda))
			r.Get("/", parameter)
		})
	})
	r.Mount("/staff", mounted)
	r.With(a.Require(onlyAda)).Mount("/orders", mounted)
	r.Mount("/stripped", http.StripPrefix("/stripped", a.Require(onlyAda)(mounted)))
	server.Config.Handler = r
	for _, user := range []struct {
		name  string
		pages map[string]string
	}{
		{"", map[string]string{
			"/teams/7/": "200 7 hello nobody", "/teams/7/members": "303 /auth/signin", "/teams/7/settings/": "303 /auth/signin",
			"/staff/": "303 /auth/signin", "/staff/7": "303 /auth/signin", "/orders/7": "303 /auth/signin",
			"/stripped/7": "303 /auth/signin", "//staff/7": "303 /auth/signin", "/%73taff/7": "303 /auth/signin",
		}},
		{"Bob", map[string]string{
			"/teams/7/": "200 7 hello Bob", "/teams/7/members": "200 7 hello Bob", "/teams/7/settings/": "403 ",
			"/staff/": "403 ", "/staff/7": "403 ", "/orders/7": "403 ", "/stripped/7": "403 ",
		}},
		{"Ada", map[string]string{
			"/teams/7/settings/": "200 7 hello Ada", "/staff/": "200 hello Ada", "/staff/7": "200 7 hello Ada",
			"/orders/7": "200 7 hello Ada",
		}},
	} {
		client := routersClient(t, server.URL)
		if user.name != "" {
			client.signIn(user.name)
		}
		for path, want := range user.pages {
			if got := client.get(path); !strings.HasPrefix(got, want) {
				t.Errorf("%q asks for %s and gets %q, want %q", user.name, path, got, want)
			}
		}
	}
}

// TestChiConcurrentUsers requests a page in a sub-router for different users at the same time.
func TestChiConcurrentUsers(t *testing.T) {
	t.Parallel()
	auth := routersAuth(t, "https://app.test")
	r := guardedChi(authhttp.New(auth))
	names := []string{"Ada", "Bob", "Eve"}
	var all sync.WaitGroup
	for _, name := range names {
		cookies := authtest.Cookies(t, auth, "https://app.test", &core.User{ID: name, Name: name})
		for range 20 {
			all.Go(func() {
				w := chiRequest(r, cookies)
				if want := "7 hello " + name; w.Body.String() != want {
					t.Errorf("%s gets %d %q", name, w.Code, w.Body)
				}
			})
		}
	}
	all.Wait()
}

// guardedChi returns a router with a page for users in a sub-router.
func guardedChi(a *authhttp.Adapter) http.Handler {
	r := chi.NewRouter()
	if a != nil {
		r.Use(a.Hook)
	}
	r.Route("/teams/{id}", func(r chi.Router) {
		if a != nil {
			r.Use(a.RequireSession)
		}
		r.Get("/", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, chi.URLParam(r, "id")+" ")
			if a != nil {
				greet(w, r)
			}
		})
	})
	return r
}

func chiRequest(r http.Handler, cookies []*http.Cookie) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, "https://app.test/teams/7/", nil)
	for _, c := range cookies {
		request.AddCookie(c)
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, request)
	return w
}

// BenchmarkChi compares a page for users with the same page on a bare router.
func BenchmarkChi(b *testing.B) {
	auth := routersAuth(b, "https://app.test")
	cookies := authtest.Cookies(b, auth, "https://app.test", &core.User{ID: "Ada", Name: "Ada"})
	for name, r := range map[string]http.Handler{"bare": guardedChi(nil), "latchkey": guardedChi(authhttp.New(auth))} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if w := chiRequest(r, cookies); w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
		})
	}
}
