package authhuma_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/humatest"

	authhuma "github.com/latchkey-go/latchkey/adapters/huma"
	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/access"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const origin = "https://app.test"

// site is an API with an operation for each rule.
type site struct {
	testing.TB
	auth *core.Auth
	keys *apikey.Keys
	days atomic.Int64 // that have passed
}

func newSite(t testing.TB) *site {
	t.Helper()
	s, start := &site{TB: t}, time.Now()
	s.keys = apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "orders:read"}, {Name: "orders:write"}}})
	rows := memory.New()
	auth, err := core.New(core.Config{
		URL: origin, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: rows,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Now:     func() time.Time { return start.AddDate(0, 0, int(s.days.Load())) },
		Session: core.SessionConfig{Strategy: core.StrategyDatabase, Bearer: true}, Plugins: []core.Plugin{s.keys},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.auth = auth
	if _, err := rows.CreateUser(t.Context(), &core.User{ID: "ada", Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	return s
}

type input struct {
	authhuma.Caller

	Name string `query:"name"`
}

type output struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		User string `json:"user"`
	}
}

// who returns who makes a call, according to both ways to ask.
func who(ctx context.Context, in *input) (*output, error) {
	out := &output{}
	p, err := core.PrincipalFrom(ctx)
	switch {
	case err != nil || p != in.Principal():
		return nil, huma.Error500InternalServerError("the principals differ", err)
	case p == nil:
		out.Body.User = "nobody"
	case in.Session() == nil:
		out.Body.User = "key"
	default:
		out.Body.User = in.Session().UserID
	}
	if in.Name == "public" {
		out.CacheControl = "public, max-age=60"
	}
	return out, nil
}

// register adds the operations to an API.
func (s *site) register(api huma.API) {
	s.Helper()
	if err := authhuma.Protect(api, s.auth, access.Session()); err != nil {
		s.Fatal(err)
	}
	admins := access.Session(func(context.Context, *core.Session) error { return core.ErrForbidden })
	fresh := access.Session(func(context.Context, *core.Session) error { return &core.StepUp{MaxAge: time.Minute} })
	huma.Get(api, "/users", who)
	huma.Post(api, "/users", who)
	huma.Get(api, "/public", who, authhuma.Rule(access.Public()))
	huma.Get(api, "/keys", who, authhuma.Rule(access.Principal(core.Scopes("orders:read"))))
	huma.Get(api, "/write", who, authhuma.Rule(access.Principal(core.Scopes("orders:write"))))
	huma.Get(api, "/admin", who, authhuma.Rule(admins))
	huma.Get(api, "/fresh", who, authhuma.Rule(fresh))
	huma.Get(api, "/none", who, authhuma.Rule(access.Rule{}))
	huma.Register(api, huma.Operation{Method: "GET", Path: "/hidden", Hidden: true}, who)
	open := huma.NewGroup(api, "/open")
	open.UseSimpleModifier(authhuma.Rule(access.Public()))
	huma.Get(open, "/public", who)
	huma.Get(open, "/admin", who, authhuma.Rule(admins))
}

// handlers are the API on several routers, and below the hook of another adapter.
func (s *site) handlers(t *testing.T) map[string]http.Handler {
	t.Helper()
	flow, tested := humatest.New(t)
	s.register(tested)
	mux, hooked := http.NewServeMux(), http.NewServeMux()
	s.register(humago.New(mux, huma.DefaultConfig("Orders", "1")))
	s.register(humago.New(hooked, huma.DefaultConfig("Orders", "1")))
	return map[string]http.Handler{
		"flow": flow, "net/http": mux, "net/http with a hook": authhttp.New(s.auth).Hook(hooked),
	}
}

func ask(h http.Handler, method, path string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, origin+path, nil)
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func (s *site) cookie() *http.Cookie {
	s.Helper()
	return authtest.Cookies(s, s.auth, origin, &core.User{ID: "ada", Email: "ada@example.com"})[0]
}

// TestOperations calls operations with each credential, on each router.
func TestOperations(t *testing.T) {
	s := newSite(t)
	c := s.cookie()
	_, text, err := s.keys.Create(t.Context(), apikey.NewKey{Name: "x", Service: "a", Scopes: []string{"orders:read"}})
	if err != nil {
		t.Fatal(err)
	}
	cookie := http.Header{"Cookie": {c.Name + "=" + c.Value}}
	bearer := func(tokens ...string) http.Header {
		h := http.Header{}
		for _, token := range tokens {
			h.Add("Authorization", "Bearer "+token)
		}
		return h
	}
	token, key, two := bearer(c.Value), bearer(string(text)), bearer(c.Value, "x")
	large, override := bearer(strings.Repeat("a", 1<<20)), http.Header{"X-Http-Method-Override": {"GET"}}
	spellings := http.Header{
		"Authorization-Bin": {c.Value}, "X-Authorization": token["Authorization"],
		"Proxy-Authorization": token["Authorization"], "X-Forwarded-Authorization": token["Authorization"],
	}
	mixed := http.Header{"Cookie": cookie["Cookie"], "Authorization": key["Authorization"]}
	long := http.Header{"Cookie": {"a=" + strings.Repeat("a", 1<<19)}}
	both := http.Header{"Cookie": cookie["Cookie"], "Authorization": {"Bearer x"}}
	for router, h := range s.handlers(t) {
		for name, row := range map[string]struct {
			method, path string
			header       http.Header
			status       int
			want         string // the user, or the code of the problem
		}{
			"public":                       {"GET", "/public", nil, 200, "nobody"},
			"public, signed in":            {"GET", "/public", cookie, 200, "ada"},
			"public group":                 {"GET", "/open/public", nil, 200, "nobody"},
			"a cookie":                     {"GET", "/users", cookie, 200, "ada"},
			"a cookie, POST":               {"POST", "/users", cookie, 200, "ada"},
			"a session token":              {"GET", "/users", token, 200, "ada"},
			"an API key":                   {"GET", "/keys", key, 200, "key"},
			"the default":                  {"GET", "/users", nil, 401, "session_required"},
			"the default, POST":            {"POST", "/users", nil, 401, "session_required"},
			"a hidden operation":           {"GET", "/hidden", nil, 401, "session_required"},
			"a key for users":              {"GET", "/users", key, 401, "invalid_token"},
			"no scope":                     {"GET", "/write", key, 403, "insufficient_scope"},
			"a guard":                      {"GET", "/admin", cookie, 403, "forbidden"},
			"a guard in a public group":    {"GET", "/open/admin", cookie, 403, "forbidden"},
			"a step-up":                    {"GET", "/fresh", cookie, 401, "reauth_required"},
			"no rule":                      {"GET", "/none", cookie, 403, "no_rule"},
			"attack: a wrong token":        {"GET", "/users", both, 401, "invalid_token"},
			"attack: two tokens":           {"GET", "/users", two, 400, "invalid_request"},
			"attack: another method":       {"HEAD", "/users", nil, 401, ""},
			"attack: a header of a method": {"POST", "/users", override, 401, "session_required"},
			"attack: a doubled slash":      {"GET", "//users", nil, 0, ""},
			"attack: an encoded path":      {"GET", "/%75sers", nil, 0, ""},
			"attack: other spellings":      {"GET", "/users", spellings, 401, "session_required"},
			"attack: a key and a cookie":   {"GET", "/users", mixed, 401, "invalid_token"},
			"attack: a large cookie":       {"GET", "/users", long, 401, "session_required"},
			"attack: a large token":        {"GET", "/users", large, 400, "invalid_request"},
		} {
			t.Run(router+"/"+name, func(t *testing.T) {
				w := ask(h, row.method, row.path, row.header)
				switch {
				case row.status == 0 && w.Code == http.StatusOK, row.status != 0 && w.Code != row.status && row.method != "HEAD":
					t.Fatalf("answered %d: %s", w.Code, w.Body)
				case row.method == "HEAD" && w.Code == http.StatusOK:
					t.Fatal("HEAD was allowed")
				}
				if !strings.Contains(w.Body.String(), row.want) {
					t.Errorf("answered %s", w.Body)
				}
				if w.Code == http.StatusUnauthorized && w.Header().Get("Www-Authenticate") == "" {
					t.Error("the response has no challenge")
				}
			})
		}
	}
}

// TestBrowser: a browser without a session is redirected to the sign-in page, as by the other adapters.
func TestBrowser(t *testing.T) {
	s := newSite(t)
	for router, h := range s.handlers(t) {
		w := ask(h, "GET", "/users", http.Header{"Accept": {"text/html"}})
		if w.Code != http.StatusSeeOther || !strings.Contains(w.Header().Get("Location"), "/auth/signin") {
			t.Errorf("%s: answered %d to %q", router, w.Code, w.Header().Get("Location"))
		}
	}
}

// TestCaching: the responses of protected operations are private and extend the session, unless the handler declares a
// response public.
func TestCaching(t *testing.T) {
	for _, router := range []string{"flow", "net/http", "net/http with a hook"} {
		s := newSite(t)
		c, h := s.cookie(), s.handlers(t)[router]
		header := http.Header{"Cookie": {c.Name + "=" + c.Value}}
		s.days.Add(2) // the session is extended once a day
		w := ask(h, "GET", "/users?name=public", header)
		if w.Header()["Set-Cookie"] != nil || !strings.Contains(w.Header().Get("Cache-Control"), "public") {
			t.Errorf("%s: a public response has %v", router, w.Header())
		}
		s.days.Add(2)
		w = ask(h, "GET", "/users", header)
		if len(w.Header()["Set-Cookie"]) != 1 || w.Header().Get("Cache-Control") != "private" ||
			!strings.Contains(w.Header().Get("Vary"), "Cookie") {
			t.Errorf("%s: a private response has %v", router, w.Header())
		}
		if w = ask(h, "GET", "/public", nil); w.Header()["Set-Cookie"] != nil {
			t.Errorf("%s: a response without a session has %v", router, w.Header())
		}
	}
}

// TestProtectLate: operations that are registered before Protect would be public.
func TestProtectLate(t *testing.T) {
	_, api := humatest.New(t)
	huma.Get(api, "/users", func(context.Context, *struct{}) (*struct{}, error) { return nil, nil })
	if err := authhuma.Protect(api, newSite(t).auth, access.Session()); err == nil {
		t.Error("no error")
	}
}

// TestCallerWithoutProtect: Caller fails closed.
func TestCallerWithoutProtect(t *testing.T) {
	_, api := humatest.New(t)
	huma.Get(api, "/users", who)
	if w := api.Get("/users"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("answered %d: %s", w.Code, w.Body)
	}
}

// TestOpenAPI reads the document.
func TestOpenAPI(t *testing.T) {
	s := newSite(t)
	mux := http.NewServeMux()
	api := humago.New(mux, huma.DefaultConfig("Orders", "1"))
	s.register(api)
	raw, err := json.Marshal(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			SecuritySchemes map[string]map[string]string
			Schemas         map[string]struct{ Properties map[string]any }
		}
		Paths map[string]map[string]struct {
			Security  []map[string][]string
			Responses map[string]struct {
				Content map[string]struct {
					Schema map[string]string
				}
				Headers map[string]any
			}
		}
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	schemes := document.Components.SecuritySchemes
	if schemes["session"]["name"] != "__Secure-authjs.session-token" || schemes["session"]["in"] != "cookie" ||
		schemes["bearer"]["scheme"] != "bearer" {
		t.Errorf("the schemes are %v", schemes)
	}
	if document.Components.Schemas["LatchkeyProblem"].Properties["code"] == nil {
		t.Error("the problem document is not described")
	}
	for path, row := range map[string]struct {
		security string
		problems bool
	}{
		"/users":       {`[{"session":[]},{"bearer":[]}]`, true},
		"/keys":        {`[{"session":[]},{"bearer":[]}]`, true},
		"/public":      {`[{},{"session":[]},{"bearer":[]}]`, false},
		"/open/public": {`[{},{"session":[]},{"bearer":[]}]`, false},
		"/open/admin":  {`[{"session":[]},{"bearer":[]}]`, true},
	} {
		op := document.Paths[path]["get"]
		if got, _ := json.Marshal(op.Security); string(got) != row.security {
			t.Errorf("%s has the security %s", path, got)
		}
		for _, status := range []string{"401", "403"} {
			content, there := op.Responses[status].Content["application/problem+json"]
			if there != row.problems || there && content.Schema["$ref"] != "#/components/schemas/LatchkeyProblem" {
				t.Errorf("%s, %s: %v", path, status, op.Responses)
			}
		}
		if row.problems != (op.Responses["401"].Headers["WWW-Authenticate"] != nil) {
			t.Errorf("%s: the challenge is not described", path)
		}
	}
	if w := ask(mux, "GET", "/openapi.json", nil); w.Code != http.StatusOK {
		t.Errorf("the document has status %d", w.Code)
	}
}

// TestConcurrentCalls makes calls of different users at the same time.
func TestConcurrentCalls(t *testing.T) {
	s := newSite(t)
	c := s.cookie()
	for _, h := range s.handlers(t) {
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				header, want := http.Header{"Cookie": {c.Name + "=" + c.Value}}, "ada"
				if i%2 == 0 {
					header, want = nil, "nobody"
				}
				if w := ask(h, "GET", "/public", header); !strings.Contains(w.Body.String(), want) {
					t.Errorf("answered %s", w.Body)
				}
			})
		}
		all.Wait()
	}
}

// BenchmarkGet compares a call with a session cookie with the bare framework.
func BenchmarkGet(b *testing.B) {
	s := newSite(b)
	c := s.cookie()
	empty := func(context.Context, *struct{}) (*output, error) { return &output{}, nil }
	for _, name := range []string{"bare", "latchkey"} {
		mux := http.NewServeMux()
		api := humago.New(mux, huma.DefaultConfig("Orders", "1"))
		if name == "latchkey" {
			if err := authhuma.Protect(api, s.auth, access.Session()); err != nil {
				b.Fatal(err)
			}
		}
		huma.Get(api, "/users", empty)
		header := http.Header{"Cookie": {c.Name + "=" + c.Value}}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if w := ask(mux, "GET", "/users", header); w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
		})
	}
}
