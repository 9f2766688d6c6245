package tokens_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/tokens"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// site is an application with an API and apps, and a clock that tests set.
type site struct {
	*testing.T
	store *faulty
	apps  *tokens.Tokens
	auth  *core.Auth
	url   string

	clock *clock
	log   *logged
}

// clock is shared by the processes of a test.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) wait(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// logged is what an application has logged and audited.
type logged struct {
	mu    sync.Mutex
	log   bytes.Buffer
	audit []string
	// named are the names of the events and their credentials.
	named []string
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(p)
}

func (l *logged) note(_ context.Context, e audit.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.named = append(l.named, string(e.Name)+" "+e.Credential)
	l.audit = append(l.audit, strings.TrimRight(fmt.Sprint(e.Name, " ", e.Outcome, " ", e.UserID, " ", e.Reason), " "))
}

// events returns the audit events of apps since the last call.
func (l *logged) events() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, e := range l.audit {
		if strings.HasPrefix(e, "app.") {
			all = append(all, e)
		}
	}
	l.audit, l.named = nil, nil
	return strings.Join(all, ", ")
}

// without fails if a secret is in the log or in an audit event.
func (s *site) without(secrets ...string) {
	s.Helper()
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	for _, secret := range secrets {
		if secret == "" || strings.Contains(s.log.log.String()+strings.Join(append(s.log.audit, s.log.named...), " "), secret) {
			s.Errorf("%q is empty or in the log", secret)
		}
	}
}

// faulty is a store whose records cannot be used while broken is set.
type faulty struct {
	*memory.Store
	mu     sync.Mutex
	broken error
	reads  int
}

func (f *faulty) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	if f.broken != nil {
		return nil, f.broken
	}
	return f.Store.Record(ctx, kind, key)
}

// count returns the number of reads of records since the last call.
func (f *faulty) count() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, f.reads = f.reads, 0
	return n
}

func (f *faulty) breaks(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = err
}

// cli is the app of most tests.
var cli = tokens.App{
	ID: "acme-cli", Name: "Acme CLI", Device: true,
	RedirectURIs: []string{"http://127.0.0.1/callback", "com.example.app:/callback", "https://app.example/link?from=app"},
	Scopes:       []tokens.Scope{{Name: "orders:read", Label: "Read orders"}, {Name: "orders:write"}},
}

type change = func(*core.Config, *tokens.Options)

func newSite(t *testing.T, changes ...change) *site {
	t.Helper()
	return serve(t, &site{
		T: t, store: &faulty{Store: memory.New()}, clock: &clock{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)},
		log: &logged{},
	}, changes...)
}

// again is another process of the same application.
func (s *site) again(changes ...change) *site {
	s.Helper()
	return serve(s.T, &site{T: s.T, store: s.store, clock: s.clock, log: s.log}, changes...)
}

func serve(t *testing.T, s *site, changes ...change) *site {
	t.Helper()
	config := core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: s.store, Now: s.clock.Now,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.NewTextHandler(s.log, nil)), Audit: s.log.note,
	}
	other := tokens.App{
		ID:           "other",
		Name:         "Other",
		RedirectURIs: []string{"http://127.0.0.1/callback"},
		Scopes:       cli.Scopes,
	}
	options := tokens.Options{Apps: []tokens.App{cli, other}}
	for _, f := range changes {
		f(&config, &options)
	}
	s.apps = tokens.New(options)
	config.Plugins = append(config.Plugins, s.apps)
	var err error
	if s.auth, err = core.New(config); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"ada", "eve"} {
		if _, err := s.store.User(t.Context(), id); err == nil {
			continue
		}
		if _, err := s.store.CreateUser(t.Context(), &core.User{ID: id, Name: id, Email: id + "@example.com"}); err != nil {
			t.Fatal(err)
		}
	}
	a, mux := authhttp.New(s.auth), http.NewServeMux()
	a.Mount(mux)
	a.MountWellKnown(mux)
	mux.Handle("GET /api", a.RequirePrincipal(core.Scopes("orders:read"))(http.HandlerFunc(s.api)))
	mux.Handle("GET /people", a.RequireSession(http.HandlerFunc(s.api)))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *site) api(w http.ResponseWriter, r *http.Request) {
	p, err := core.PrincipalFrom(r.Context())
	if err != nil || p == nil {
		s.Errorf("the principal is %v, %v", p, err)
		return
	}
	_, _ = fmt.Fprintf(w, "%s %s %t", p.UserID, p.Name, p.Session != nil)
}

// as returns the browser of a user who has just signed in.
func (s *site) as(id string) *http.Client {
	s.Helper()
	c := authtest.SignIn(s.T, s.auth, s.url, &core.User{ID: id, Name: id, Email: id + "@example.com"})
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// reply is a response and its body.
type reply struct {
	*http.Response
	body string
}

// code returns the error code of RFC 6749 or of a problem document.
func (r reply) code() string {
	var e struct{ Error, Code string }
	_ = json.Unmarshal([]byte(r.body), &e)
	return e.Error + e.Code
}

func (s *site) send(c *http.Client, method, path string, form url.Values, header ...string) reply {
	s.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
		header = append(header, "Content-Type", "application/x-www-form-urlencoded")
	}
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, body)
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	res, err := c.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		s.Fatal(err)
	}
	return reply{res, string(text)}
}

// call requests the API with an access token.
func (s *site) call(token string) reply {
	s.Helper()
	return s.send(http.DefaultClient, "GET", "/api", nil, "Authorization", "Bearer "+token)
}

// program posts a form to an endpoint, as a program does.
func (s *site) program(path string, form url.Values, header ...string) reply {
	s.Helper()
	return s.send(http.DefaultClient, "POST", "/auth/"+path, form, header...)
}

var (
	inputs = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
	forms  = regexp.MustCompile(`<form action="([^"]*)"`)
)

// submit sends the form of a page as a browser does, with these fields in addition.
func (s *site) submit(c *http.Client, page reply, fields ...string) reply {
	s.Helper()
	form := url.Values{}
	for _, m := range inputs.FindAllStringSubmatch(page.body, -1) {
		form.Set(m[1], strings.NewReplacer("&amp;", "&", "&#43;", "+", "&#34;", `"`).Replace(m[2]))
	}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	action := forms.FindStringSubmatch(page.body)
	if action == nil {
		s.Fatalf("the page has no form: %d %s", page.StatusCode, page.body)
	}
	return s.send(c, "POST", strings.TrimPrefix(action[1], s.url), form, "Accept", "text/html", "Origin", s.url)
}

// config returns the configuration of a client.
func (s *site) config() *oauth2.Config {
	return &oauth2.Config{
		ClientID: "acme-cli", RedirectURL: "http://127.0.0.1:7777/callback", Scopes: []string{"orders:read"},
		Endpoint: oauth2.Endpoint{
			AuthURL: s.url + "/auth/authorize", TokenURL: s.url + "/auth/token",
			DeviceAuthURL: s.url + "/auth/device/authorization", AuthStyle: oauth2.AuthStyleInParams,
		},
	}
}

// allow lets the app sign in, in the browser of a user, and returns the URL that the browser opens then.
func (s *site) allow(browser *http.Client, address string) *url.URL {
	s.Helper()
	page := s.send(browser, "GET", strings.TrimPrefix(address, s.url), nil, "Accept", "text/html")
	if page.StatusCode != http.StatusOK {
		s.Fatalf("the page: %d %s", page.StatusCode, page.body)
	}
	r := s.submit(browser, page, "decision", "allow")
	to, err := r.Location()
	if err != nil || r.StatusCode != http.StatusSeeOther {
		s.Fatalf("allowed: %d %s, %v", r.StatusCode, r.body, err)
	}
	return to
}

// signIn signs a user in with the code flow.
func (s *site) signIn(id string) *oauth2.Token {
	s.Helper()
	config, verifier := s.config(), oauth2.GenerateVerifier()
	to := s.allow(s.as(id), config.AuthCodeURL("some-state", oauth2.S256ChallengeOption(verifier)))
	token, err := config.Exchange(s.Context(), to.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		s.Fatal(err)
	}
	return token
}

// refresh sends a refresh token.
func (s *site) refresh(token string) reply {
	s.Helper()
	return s.program("token", url.Values{
		"grant_type": {"refresh_token"}, "client_id": {"acme-cli"}, "refresh_token": {token},
	})
}

// tokenOf decodes a token response.
func (s *site) tokenOf(r reply) (t struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Type    string `json:"token_type"`
	Scope   string `json:"scope"`
	Expires int    `json:"expires_in"`
}) {
	s.Helper()
	if err := json.Unmarshal([]byte(r.body), &t); err != nil || r.StatusCode != http.StatusOK || t.Access == "" {
		s.Fatalf("the token response is %d %s", r.StatusCode, r.body)
	}
	return t
}
