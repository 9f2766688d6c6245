package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a-h/templ"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/admin"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/storage/memory"
	"github.com/latchkey-go/latchkey/ui"
)

// site is an application with administrators, and a clock that tests set.
type site struct {
	*testing.T
	rows     *rows
	admins   *admin.Admin
	keys     *apikey.Keys
	auth     *core.Auth
	url      string
	strategy core.Strategy

	mu   *sync.Mutex
	now  *time.Time
	log  *[]string // audit events
	root *[]string // the IDs of the administrators
}

// rows is a store that counts the reads of bans, and fails or runs a function on request.
type rows struct {
	*memory.Store
	mu    sync.Mutex
	reads int
	fails string // such as "delete sessions"
	// then runs once, after the next read of a ban.
	then func()
	// ending runs before sessions end.
	ending func()
	// empty is the number of empty pages before the first user, as on Redis.
	empty int
}

func (r *rows) ListUsers(ctx context.Context, cursor string, limit int) ([]*core.User, string, error) {
	if n := len(strings.TrimRight(cursor, "!")); n == 0 && len(cursor) < r.empty {
		return nil, cursor + "!", nil
	}
	return r.Store.ListUsers(ctx, strings.TrimLeft(cursor, "!"), limit)
}

func (r *rows) failing(op string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = op
}

func (r *rows) fail(op string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails == op {
		return errors.New("the store failed to " + op)
	}
	return nil
}

func (r *rows) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	record, err := r.Store.Record(ctx, kind, key)
	if kind != "ban" {
		return record, err
	}
	if failed := r.fail("read ban"); failed != nil {
		return nil, failed
	}
	r.mu.Lock()
	r.reads++
	then := r.then
	r.then = nil
	r.mu.Unlock()
	if then != nil {
		then()
	}
	return record, err
}

func (r *rows) CreateRecord(ctx context.Context, record *store.Record) error {
	if err := r.fail("create " + record.Kind); err != nil {
		return err
	}
	return r.Store.CreateRecord(ctx, record)
}

func (r *rows) DeleteSessions(ctx context.Context, userID string) (int, error) {
	if err := r.fail("end sessions"); err != nil {
		return 0, err
	}
	if r.ending != nil {
		r.ending()
	}
	return r.Store.DeleteSessions(ctx, userID)
}

func (r *rows) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	if err := r.fail("end " + kind); err != nil {
		return 0, err
	}
	return r.Store.DeleteUserRecords(ctx, userID, kind)
}

// count returns the number of reads of bans since the last call.
func (r *rows) count() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, r.reads = r.reads, 0
	return n
}

// after runs f once, after the next read of a ban.
func (r *rows) after(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.then = f
}

type change = func(*core.Config, *admin.Options)

func newSite(t *testing.T, strategy core.Strategy, changes ...change) *site {
	t.Helper()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	s := &site{
		T: t, rows: &rows{Store: memory.New()}, strategy: strategy, mu: &sync.Mutex{}, now: &now, log: &[]string{},
		root: &[]string{"root", "grace"},
	}
	for _, id := range []string{"root", "grace", "ada", "bob"} {
		_, err := s.rows.CreateUser(t.Context(), &core.User{
			ID: id, Name: strings.ToUpper(id), Email: id + "@example.com", EmailVerified: now,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s.process(changes...)
}

// both runs a test under both session strategies.
func both(t *testing.T, test func(t *testing.T, strategy core.Strategy)) {
	t.Helper()
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			test(t, strategy)
		})
	}
}

func (s *site) isAdmin(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(*s.root, id)
}

// process starts another process with the store of s.
func (s *site) process(changes ...change) *site {
	s.Helper()
	p := *s
	config := core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: s.rows, Now: p.clock,
		Session: core.SessionConfig{Strategy: s.strategy}, InsecureNoLimits: true,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(ctx context.Context, fields map[string]string, _ *core.Request) (*core.User, error) {
				return s.rows.User(ctx, fields["id"])
			},
		}},
		Audit: func(_ context.Context, e audit.Event) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if n := string(e.Name); strings.HasPrefix(n, "admin.") {
				*p.log = append(*p.log, fmt.Sprintf("%s %s %s by %s: %s", n, e.Outcome, e.UserID, e.ActorID, e.Note))
			} else if e.Reason == audit.ReasonBanned {
				*p.log = append(*p.log, fmt.Sprintf("%s %s %s", n, e.Outcome, e.Reason))
			}
		},
	}
	options := admin.Options{
		Guard: func(_ context.Context, session *core.Session) error {
			if !s.isAdmin(session.UserID) {
				return core.ErrForbidden
			}
			return nil
		},
		IsAdmin: func(_ context.Context, id string) (bool, error) { return s.isAdmin(id), nil },
	}
	for _, f := range changes {
		f(&config, &options)
	}
	p.admins = admin.New(options)
	p.keys = apikey.New(apikey.Options{Prefix: "test", Scopes: []apikey.Scope{{Name: "read"}}})
	config.Plugins = append(config.Plugins, p.admins, p.keys)
	var err error
	if p.auth, err = core.New(config); err != nil {
		s.Fatal(err)
	}
	a, mux := authhttp.New(p.auth), http.NewServeMux()
	a.Mount(mux)
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.Handle("GET /me", a.Require()(ok))
	mux.Handle("GET /api", a.RequirePrincipal(core.Scopes("read"))(ok))
	pages(mux, a.Require, a.Hook(templ.Handler(ui.ImpersonationBanner())))
	server := httptest.NewServer(mux)
	s.Cleanup(server.Close)
	p.url = server.URL
	return &p
}

func (s *site) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.now
}

func (s *site) wait(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*s.now = s.now.Add(d)
}

// events returns the audit events since the last call.
func (s *site) events() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := strings.Join(*s.log, "\n")
	*s.log = nil
	return all
}

// client is a browser of a user.
type client struct {
	*http.Client
	s *site
}

// as returns a browser with a session of a user who has just signed in.
func (s *site) as(id string) *client {
	s.Helper()
	c := authtest.SignIn(s.T, s.auth, s.url, &core.User{ID: id, Name: id, Email: id + "@example.com"})
	return &client{c, s}
}

// browser returns a browser without a session.
func (s *site) browser() *client {
	s.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	return &client{&http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}, s}
}

// signIn signs a user in with the form, and returns the status of a page that needs a session.
func (c *client) signIn(id string) int {
	c.s.Helper()
	form := url.Values{"csrfToken": {c.csrf()}, "id": {id}}
	c.send("POST", "/auth/callback/credentials", strings.NewReader(form.Encode()),
		"Content-Type", "application/x-www-form-urlencoded")
	return c.get("/me").status
}

type reply struct {
	status int
	body   string
	header http.Header
}

func (c *client) send(method, path string, body io.Reader, header ...string) reply {
	c.s.Helper()
	r, err := http.NewRequestWithContext(c.s.Context(), method, c.s.url+path, body)
	if err != nil {
		c.s.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := c.Do(r)
	if err != nil {
		c.s.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		c.s.Fatal(err)
	}
	return reply{res.StatusCode, string(text), res.Header}
}

func (c *client) get(path string, header ...string) reply {
	c.s.Helper()
	return c.send("GET", path, nil, append([]string{"Accept", "application/json"}, header...)...)
}

// page requests a page as a browser does.
func (c *client) page(path string) reply {
	c.s.Helper()
	return c.send("GET", path, nil, "Accept", "text/html")
}

func (c *client) csrf() string {
	c.s.Helper()
	var token struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(c.get("/auth/csrf").body), &token); err != nil {
		c.s.Fatal(err)
	}
	return token.CSRFToken
}

// post sends JSON to an action. fields lists names and values.
func (c *client) post(verb string, fields ...string) reply {
	c.s.Helper()
	body := map[string]any{"csrfToken": c.csrf()}
	for i := 0; i < len(fields); i += 2 {
		body[fields[i]] = fields[i+1]
	}
	text, err := json.Marshal(body)
	if err != nil {
		c.s.Fatal(err)
	}
	return c.send("POST", "/auth/admin/"+verb, bytes.NewReader(text),
		"Content-Type", "application/json", "Accept", "application/json")
}

// submit sends a form as a browser does, and returns the page that it is redirected to.
func (c *client) submit(verb string, fields ...string) reply {
	c.s.Helper()
	form := url.Values{"csrfToken": {c.csrf()}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	r := c.send("POST", "/auth/admin/"+verb, strings.NewReader(form.Encode()),
		"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
	if r.status == http.StatusSeeOther {
		return c.page(strings.TrimPrefix(r.header.Get("Location"), c.s.url))
	}
	return r
}

func (r reply) code() string {
	var problem struct{ Code string }
	_ = json.Unmarshal([]byte(r.body), &problem)
	return strings.TrimSpace(fmt.Sprint(r.status, " ", problem.Code))
}

// is checks the status and the code of a problem, such as "404 not_found".
func (s *site) is(r reply, want string) {
	s.Helper()
	if got := r.code(); got != want {
		s.Errorf("the response is %s, want %s: %s", got, want, r.body)
	}
}

// key creates an API key of a user, and returns the status of a request with it.
func (s *site) key(id string) func() int {
	s.Helper()
	_, text, err := s.keys.Create(s.Context(), apikey.NewKey{UserID: id, Name: "script", Scopes: []string{"read"}})
	if err != nil {
		s.Fatal(err)
	}
	return func() int {
		c := &client{authtest.WithKey(s.T, s.url, text), s}
		return c.get("/api").status
	}
}

// parsed returns the address of the site.
func (s *site) parsed() *url.URL {
	s.Helper()
	at, err := url.Parse(s.url)
	if err != nil {
		s.Fatal(err)
	}
	return at
}
