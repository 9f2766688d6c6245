package idp_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/idp"
	"github.com/latchkey-go/latchkey/providers"
)

// world is an application with the development provider, over real connections.
type world struct {
	t      *testing.T
	url    string
	client *http.Client
}

func newWorld(t *testing.T, o idp.Options) *world {
	t.Helper()
	mux := http.NewServeMux()
	app := httptest.NewServer(mux)
	t.Cleanup(app.Close)
	o.RedirectURIs = []string{app.URL + "/auth/callback/dev"}
	server, err := idp.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	auth, err := core.New(core.Config{
		URL: app.URL, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Providers: []core.Provider{providers.OIDC("dev", server.Issuer(), providers.Options{
			ClientID: server.ClientID(), ClientSecret: core.Secret(server.ClientSecret()),
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	authhttp.New(auth).Mount(mux)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "home") })
	jar, _ := cookiejar.New(nil)
	return &world{t: t, url: app.URL, client: &http.Client{Jar: jar}}
}

func (w *world) get(target string) string {
	w.t.Helper()
	res, err := w.client.Get(target)
	return w.read(res, err)
}

func (w *world) post(target string, form url.Values) string {
	w.t.Helper()
	res, err := w.client.PostForm(target, form)
	return w.read(res, err)
}

func (w *world) read(res *http.Response, err error) string {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(body)
}

var action = regexp.MustCompile(`action="([^"]+/authorize/[^"]+)"`)

// begin starts a sign-in and returns the address that the provider's page posts to.
func (w *world) begin() string {
	w.t.Helper()
	csrf := w.get(w.url + "/auth/csrf")
	_, token, _ := strings.Cut(csrf, `:"`)
	page := w.post(w.url+"/auth/signin/dev", url.Values{"csrfToken": {strings.TrimSuffix(token, `"}`)}})
	m := action.FindStringSubmatch(page)
	if m == nil {
		w.t.Fatalf("no form on the provider's page: %s", page)
	}
	return m[1]
}

func (w *world) session() string { return w.get(w.url + "/auth/session") }

func TestSignIn(t *testing.T) {
	for _, row := range []struct {
		name    string
		options idp.Options
		form    url.Values
		want    string
	}{
		{"picked", idp.Options{}, url.Values{"user": {"ada@example.com"}}, `"email":"ada@example.com"`},
		{"typed", idp.Options{}, url.Values{"name": {"Zoë"}, "email": {"Zoe@Example.com"}}, `"email":"zoe@example.com"`},
		{"cancelled", idp.Options{}, url.Values{"cancel": {"1"}}, "null"},
		{"not listed", idp.Options{OnlyListed: true}, url.Values{"email": {"eve@example.com"}}, "null"},
		{"no address", idp.Options{}, url.Values{"email": {"nobody"}}, "null"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, row.options)
			w.post(w.begin(), row.form)
			if got := w.session(); !strings.Contains(got, row.want) {
				t.Errorf("session %s, want %s", got, row.want)
			}
		})
	}
}

func TestSamePersonSameUser(t *testing.T) {
	w := newWorld(t, idp.Options{})
	w.post(w.begin(), url.Values{"user": {"ada@example.com"}})
	first := w.session()
	w.post(w.begin(), url.Values{"user": {"ada@example.com"}})
	if second := w.session(); second == "null" || !strings.Contains(first, "ada@") {
		t.Errorf("second sign-in: %s", second)
	}
}

func TestAutoSignIn(t *testing.T) {
	w := newWorld(t, idp.Options{AutoSignIn: "grace@example.com"})
	_, token, _ := strings.Cut(w.get(w.url+"/auth/csrf"), `:"`)
	if got := w.post(w.url+"/auth/signin/dev", url.Values{"csrfToken": {strings.TrimSuffix(token, `"}`)}}); got != "home" {
		t.Errorf("landed on %.200s", got)
	}
	if got := w.session(); !strings.Contains(got, "grace@example.com") {
		t.Errorf("session %s", got)
	}
}

func TestLoopbackOnly(t *testing.T) {
	for name, o := range map[string]idp.Options{
		"listen on every address":    {Addr: "0.0.0.0:0"},
		"listen on another address":  {Addr: "192.0.2.1:80"},
		"redirect to another host":   {RedirectURIs: []string{"https://evil.example/auth/callback/dev"}},
		"sign-out to another host":   {PostLogoutRedirectURIs: []string{"https://evil.example/"}},
		"redirect to a name in them": {RedirectURIs: []string{"http://localhost.evil.example/"}},
	} {
		t.Run(name, func(t *testing.T) {
			if s, err := idp.Start(o); err == nil {
				_ = s.Close()
				t.Error("it started")
			}
		})
	}
	s, err := idp.Start(idp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Issuer()+"/.well-known/openid-configuration", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "rebound.evil.example"
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("a request under another name was answered %d", res.StatusCode)
	}
}

// TestRedirectURIMismatch: the page and the log show both redirect URIs.
func TestRedirectURIMismatch(t *testing.T) {
	const registered, asked = "http://localhost:3000/auth/callback/dev", "http://localhost:8080/auth/callback/dev"
	var log strings.Builder
	server, err := idp.Start(idp.Options{
		RedirectURIs: []string{registered}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	query := url.Values{
		"client_id": {server.ClientID()}, "response_type": {"code"},
		"scope": {"openid"}, "redirect_uri": {asked},
	}
	res, err := http.Get(server.Issuer() + "/authorize?" + query.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	page, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusBadRequest || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("answered %d as %s", res.StatusCode, res.Header.Get("Content-Type"))
	}
	for _, address := range []string{registered, asked} {
		if !strings.Contains(string(page), address) || !strings.Contains(log.String(), address) {
			t.Errorf("no %s on the page or in the log\n%s\n%s", address, page, &log)
		}
	}
}
