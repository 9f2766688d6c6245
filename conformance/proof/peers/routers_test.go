package peers_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/go-chi/chi/v5"
	"github.com/gorilla/mux"
	"github.com/julienschmidt/httprouter"
	"github.com/uptrace/bunrouter"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
)

// recipes are the programs of docs/recipes/routers.md, and the variants that it describes.
var recipes = map[string]func(a *authhttp.Adapter, admin core.Guard) http.Handler{
	"chi": func(a *authhttp.Adapter, admin core.Guard) http.Handler {
		r := chi.NewRouter()
		r.Use(a.Hook)
		r.Handle("/auth/*", a)
		r.Get("/", greet)
		r.With(a.RequireSession).Get("/account", greet)
		r.With(a.Require(admin)).Get("/admin", greet)
		return r
	},
	"chi, a group": func(a *authhttp.Adapter, admin core.Guard) http.Handler {
		r := chi.NewRouter()
		r.Handle("/auth/*", a)
		r.Group(func(r chi.Router) {
			r.Use(a.Hook)
			r.Get("/", greet)
			r.Group(func(r chi.Router) { r.Use(a.RequireSession); r.Get("/account", greet) })
			r.Group(func(r chi.Router) { r.Use(a.Require(admin)); r.Get("/admin", greet) })
		})
		return r
	},
	"gorilla/mux": func(a *authhttp.Adapter, admin core.Guard) http.Handler {
		r := mux.NewRouter()
		r.Use(a.Hook)
		r.PathPrefix("/auth/").Handler(a)
		r.HandleFunc("/", greet)
		r.Handle("/account", a.RequireSession(http.HandlerFunc(greet)))
		r.Handle("/admin", a.Require(admin)(http.HandlerFunc(greet)))
		return r
	},
	"httprouter": func(a *authhttp.Adapter, admin core.Guard) http.Handler {
		r := httprouter.New()
		r.Handler("GET", "/auth/*route", a)
		r.Handler("POST", "/auth/*route", a)
		r.Handler("GET", "/", http.HandlerFunc(greet))
		r.Handler("GET", "/account", a.RequireSession(http.HandlerFunc(greet)))
		r.Handler("GET", "/admin", a.Require(admin)(http.HandlerFunc(greet)))
		return a.Hook(r)
	},
	"bunrouter": func(a *authhttp.Adapter, admin core.Guard) http.Handler {
		r, page := bunrouter.New(), http.HandlerFunc(greet)
		r.GET("/auth/*route", bunrouter.HTTPHandler(a))
		r.POST("/auth/*route", bunrouter.HTTPHandler(a))
		r.GET("/", bunrouter.HTTPHandler(page))
		r.GET("/account", bunrouter.HTTPHandler(a.RequireSession(page)))
		r.GET("/admin", bunrouter.HTTPHandler(a.Require(admin)(page)))
		return a.Hook(r)
	},
}

// greet responds with the name of the user.
func greet(w http.ResponseWriter, r *http.Request) {
	name := "nobody"
	if s, err := authhttp.Session(r); err != nil {
		name = err.Error()
	} else if s != nil {
		name = s.User.Name
	}
	_, _ = io.WriteString(w, "hello "+name)
}

// routersAuth signs users in by their name.
func routersAuth(t testing.TB, origin string) *core.Auth {
	t.Helper()
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: origin,
		Getenv:  func(string) string { return "" },
		Session: core.SessionConfig{Bearer: true},
		Providers: []core.Provider{&core.CredentialsProvider{
			Fields: []core.Field{{Name: "name"}},
			Authorize: func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
				return &core.User{ID: form["name"], Name: form["name"]}, nil
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

func onlyAda(_ context.Context, s *core.Session) error {
	if s.User.Name != "Ada" {
		return core.ErrForbidden
	}
	return nil
}

// TestRouterRecipes signs in through each router, with a browser's cookie jar, and looks at a page for everyone, one
// for users and one for administrators.
func TestRouterRecipes(t *testing.T) {
	t.Parallel()
	for name, recipe := range recipes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.NotFoundHandler())
			t.Cleanup(server.Close)
			server.Config.Handler = recipe(authhttp.New(routersAuth(t, server.URL)), onlyAda)
			for _, user := range []struct{ name, home, account, admin string }{
				{"", "200 hello nobody", "303 /auth/signin", "303 /auth/signin"},
				{"Bob", "200 hello Bob", "200 hello Bob", "403 "},
				{"Ada", "200 hello Ada", "200 hello Ada", "200 hello Ada"},
			} {
				client := routersClient(t, server.URL)
				if user.name != "" {
					client.signIn(user.name)
				}
				for path, want := range map[string]string{"/": user.home, "/account": user.account, "/admin": user.admin} {
					if got := client.get(path); !strings.HasPrefix(got, want) {
						t.Errorf("%q asks for %s and gets %q, want %q", user.name, path, got, want)
					}
				}
			}
		})
	}
}

// routersBrowser keeps cookies and follows no redirect.
type routersBrowser struct {
	*testing.T
	http.Client
	origin string
}

func routersClient(t *testing.T, origin string) *routersBrowser {
	jar, _ := cookiejar.New(nil)
	return &routersBrowser{t, http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}, origin}
}

// get returns the status and, of a redirect, the path, otherwise the body.
func (b *routersBrowser) get(path string) string {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.origin+path, nil)
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Accept", "text/html")
	return b.do(request)
}

func (b *routersBrowser) do(request *http.Request) string {
	b.Helper()
	r, err := b.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		b.Fatal(err)
	}
	if to, err := url.Parse(r.Header.Get("Location")); err == nil && to.Path != "" {
		body = []byte(to.Path)
	}
	return strings.Join([]string{r.Status[:3], string(body)}, " ")
}

// signIn submits the form of the sign-in page.
func (b *routersBrowser) signIn(name string) {
	b.Helper()
	_, token, _ := strings.Cut(b.get("/auth/csrf"), `"csrfToken":"`)
	token, _, _ = strings.Cut(token, `"`)
	form := url.Values{"csrfToken": {token}, "name": {name}}
	request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, b.origin+"/auth/callback/credentials",
		strings.NewReader(form.Encode()))
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if got := b.do(request); !strings.HasPrefix(got, "302") {
		b.Fatal(got)
	}
}

// TestConnect calls a method of connect-go behind the guards, without a session, with one and with one that may not.
func TestConnect(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	auth := routersAuth(t, server.URL)
	a, handler := authhttp.New(auth), http.NewServeMux()
	a.Mount(handler)
	const procedure = "/greet.v1.GreetService/Greet"
	handler.Handle(procedure, a.Require(onlyAda)(connect.NewUnaryHandler(procedure,
		func(ctx context.Context, _ *connect.Request[emptypb.Empty]) (*connect.Response[wrapperspb.StringValue], error) {
			s, err := core.SessionFrom(ctx)
			if err != nil || s == nil {
				return nil, connect.NewError(connect.CodeInternal, err)
			}
			return connect.NewResponse(wrapperspb.String("hello " + s.User.Name)), nil
		})))
	server.Config.Handler = handler
	client := connect.NewClient[emptypb.Empty, wrapperspb.StringValue](server.Client(), server.URL+procedure)
	for _, row := range []struct {
		name string
		code connect.Code
	}{{"", connect.CodeUnauthenticated}, {"Bob", connect.CodePermissionDenied}, {"Ada", 0}} {
		request := connect.NewRequest(&emptypb.Empty{})
		if row.name != "" {
			for _, c := range authtest.Cookies(t, auth, server.URL, &core.User{ID: row.name, Name: row.name}) {
				request.Header().Add("Cookie", c.Name+"="+c.Value)
			}
		}
		response, err := client.CallUnary(t.Context(), request)
		switch {
		case row.code == 0 && (err != nil || response.Msg.GetValue() != "hello "+row.name):
			t.Errorf("%s gets %v, %v", row.name, response, err)
		case row.code != 0 && connect.CodeOf(err) != row.code:
			t.Errorf("%q gets %v, want %v", row.name, err, row.code)
		}
	}
}
