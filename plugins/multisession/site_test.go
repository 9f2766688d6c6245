package multisession_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/multisession"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// sessionCookie is the name of the session cookie on https.
const sessionCookie = "__Secure-authjs.session-token"

// service simulates an OAuth provider. The authorization code is also the access token, and it is the name of the
// person.
type service struct{}

func (service) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := map[string]string{"token_type": "bearer"}
	if r.URL.Path == "/token" {
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		answer["access_token"] = r.PostForm.Get("code")
	} else {
		person := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		answer = map[string]string{"sub": person, "name": strings.ToUpper(person), "email": person + "@example.com"}
	}
	body, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)),
	}, err
}

// rows is a store whose session operations fail on request.
type rows struct {
	*memory.Store
	mu    sync.Mutex
	fails bool
}

func (r *rows) failing(fails bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = fails
}

func (r *rows) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails {
		return errors.New("the store failed")
	}
	return nil
}

func (r *rows) SessionAndUser(ctx context.Context, token string) (*store.Session, *core.User, error) {
	if err := r.failed(); err != nil {
		return nil, nil, err
	}
	return r.Store.SessionAndUser(ctx, token)
}

func (r *rows) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	if err := r.failed(); err != nil {
		return nil, err
	}
	return r.Store.DeleteSession(ctx, token)
}

// site is an application in which a browser can have several accounts. Several processes share the store.
type site struct {
	*testing.T
	rows     *rows
	strategy core.Strategy
	changes  []func(*core.Config)
	auth     *core.Auth
	accounts *multisession.Accounts

	mu     *sync.Mutex
	log    *[]string // audit events
	banned map[string]bool
}

// both runs a test under both session strategies, with a virtual clock.
func both(t *testing.T, test func(s *site), changes ...func(*core.Config)) {
	t.Helper()
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(newSite(t, strategy, changes...)) })
		})
	}
}

// people are the users, who sign in with their ID.
var people = []string{"ada", "bob", "cleo", "dan", "eve", "fay"}

func newSite(t *testing.T, strategy core.Strategy, changes ...func(*core.Config)) *site {
	t.Helper()
	s := &site{
		T: t, rows: &rows{Store: memory.New()}, strategy: strategy, changes: changes, mu: new(sync.Mutex),
		log: new([]string), banned: map[string]bool{},
	}
	for _, id := range people {
		u := &core.User{ID: id, Name: strings.ToUpper(id), Email: id + "@example.com", EmailVerified: time.Now()}
		if _, err := s.rows.CreateUser(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	return s.process()
}

// process starts another process with the same store.
func (s *site) process() *site {
	s.Helper()
	p := *s
	p.accounts = multisession.New()
	config := s.config()
	config.Plugins = append(config.Plugins, p.accounts, bans{s})
	for _, f := range s.changes {
		f(&config)
	}
	var err error
	if p.auth, err = core.New(config); err != nil {
		s.Fatal(err)
	}
	return &p
}

// bans is a plugin that refuses new sessions of some users.
type bans struct{ s *site }

func (b bans) Attach(h *core.PluginHost) error {
	h.TrackAuthentication()
	h.EndsSessions()
	h.AddUserCheck(func(_ context.Context, userID string) error {
		if b.s.isBanned(userID) {
			return core.NewError(core.ErrAccessDenied, errors.New("banned"))
		}
		return nil
	})
	return nil
}

func (s *site) isBanned(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.banned[id]
}

func (s *site) ban(id string, banned bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.banned[id] = banned
}

func (s *site) config() core.Config {
	return core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: s.rows, URL: "https://app.test",
		Session:          core.SessionConfig{Strategy: s.strategy, RememberMe: true},
		InsecureNoLimits: true, Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Providers: []core.Provider{
			&core.OAuthProvider{
				ID: "p", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
				HTTPClient:    &http.Client{Transport: service{}},
				Authorization: core.Endpoint{URL: "https://p.example/authorize"},
				Token:         core.Endpoint{URL: "https://p.example/token"},
				Userinfo:      core.Endpoint{URL: "https://p.example/userinfo"},
			},
			&core.CredentialsProvider{
				Fields: []core.Field{{Name: "id"}},
				Authorize: func(ctx context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
					u, err := s.rows.User(ctx, form["id"])
					if errors.Is(err, core.ErrNotFound) {
						return nil, nil
					}
					return u, err
				},
			},
		},
		Audit: func(_ context.Context, e audit.Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			*s.log = append(*s.log, strings.TrimSpace(fmt.Sprintf("%s %s", e.Name, e.UserID)))
		},
	}
}

// audited returns the number of events of that name and user.
func (s *site) audited(event string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range *s.log {
		if e == event {
			n++
		}
	}
	return n
}

// browser is a browser with cookies.
type browser struct {
	s       *site
	cookies map[string]string
	set     map[string]core.Cookie // as last set
	limit   int                    // Request.HeaderLimit
}

func (s *site) browser() *browser {
	return &browser{s: s, cookies: map[string]string{}, set: map[string]core.Cookie{}}
}

// copied returns another browser with the same cookies.
func (b *browser) copied() *browser {
	return &browser{b.s, maps.Clone(b.cookies), maps.Clone(b.set), b.limit}
}

// at returns the browser at another process.
func (b *browser) at(s *site) *browser { return &browser{s, b.cookies, b.set, b.limit} }

func (b *browser) request(method, target string, form url.Values, header ...string) *core.Request {
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{"app.test"}, Scheme: "https", RemoteAddr: "192.0.2.1:1234",
		Header: http.Header{}, HeaderLimit: b.limit,
	}
	var cookies []string
	for _, name := range slices.Sorted(maps.Keys(b.cookies)) {
		cookies = append(cookies, name+"="+url.QueryEscape(b.cookies[name]))
	}
	if len(cookies) > 0 {
		r.Header.Set("Cookie", strings.Join(cookies, "; "))
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = strings.NewReader(form.Encode())
	}
	return r
}

func (b *browser) send(r *core.Request) *core.Response {
	answer := b.s.auth.Handle(b.s.Context(), r)
	b.take(answer.Cookies)
	return answer
}

func (b *browser) take(cookies []core.Cookie) {
	seen := map[string]bool{}
	for _, c := range cookies {
		if seen[c.Name] {
			b.s.Errorf("a response sets the cookie %s twice", c.Name)
		}
		seen[c.Name] = true
		b.cookies[c.Name], b.set[c.Name] = c.Value, c
		if c.Value == "" || c.HasMaxAge && c.MaxAge == 0 {
			delete(b.cookies, c.Name)
		}
	}
}

func (b *browser) get(target string, header ...string) *core.Response {
	return b.send(b.request(http.MethodGet, target, nil, append([]string{"Accept", "text/html"}, header...)...))
}

// token returns the CSRF token of a page.
func (b *browser) token() string {
	var token struct{ CSRFToken string }
	_ = json.Unmarshal(b.get("/auth/csrf").Body, &token)
	return token.CSRFToken
}

func (b *browser) post(target string, form url.Values, header ...string) *core.Response {
	filled := url.Values{"csrfToken": {b.token()}}
	maps.Copy(filled, form)
	return b.send(b.request(http.MethodPost, target, filled, append([]string{"Accept", "text/html"}, header...)...))
}

// session returns the session, or nil.
func (b *browser) session() *core.Session {
	b.s.Helper()
	v := b.s.auth.Visit(b.s.Context(), b.request(http.MethodGet, "/", nil))
	session, err := v.Session()
	if err != nil {
		b.s.Fatal(err)
	}
	answer := &core.Response{Header: http.Header{}}
	v.Commit(answer.Header)
	b.take(cookiesOf(answer.Header))
	return session
}

// user returns the ID of the active user, or "".
func (b *browser) user() string {
	b.s.Helper()
	if s := b.session(); s != nil {
		return s.UserID
	}
	return ""
}

// signIn signs in a user with a form.
func (b *browser) signIn(id string, remember ...string) *core.Response {
	b.s.Helper()
	form := url.Values{"id": {id}, "callbackUrl": {"/home"}}
	if len(remember) > 0 {
		form.Set("rememberMe", remember[0])
	}
	return b.post("/auth/callback/credentials", form)
}

// oauth signs in a person with the OAuth provider.
func (b *browser) oauth(id string) *core.Response {
	b.s.Helper()
	started := b.post("/auth/signin/p", nil)
	to, err := url.Parse(started.Redirect)
	if err != nil {
		b.s.Fatal(err)
	}
	query := url.Values{"code": {id}}
	if state := to.Query().Get("state"); state != "" {
		query.Set("state", state)
	}
	return b.get("/auth/callback/p?" + query.Encode())
}

// add adds accounts with the button and a sign-in.
func (b *browser) add(ids ...string) {
	b.s.Helper()
	for _, id := range ids {
		if r := b.post("/auth/accounts/add", nil); r.Status != http.StatusSeeOther {
			b.s.Fatalf("add %s: %d %s", id, r.Status, r.Body)
		}
		b.signIn(id)
		if got := b.user(); got != id {
			b.s.Fatalf("the active account is %q, not %q", got, id)
		}
	}
}

// entry is an account in JSON.
type entry struct {
	ID, Name, Email  string
	Active, SignedIn bool
}

// list returns the accounts as JSON.
func (b *browser) list() (all []entry) {
	b.s.Helper()
	r := b.get("/auth/accounts", "Accept", "application/json")
	var out struct{ Accounts []entry }
	if err := json.Unmarshal(r.Body, &out); err != nil || r.Status != http.StatusOK {
		b.s.Fatalf("list: %d %s (%v)", r.Status, r.Body, err)
	}
	return out.Accounts
}

// names describes the accounts, such as "bob*, ada, cleo?": the active one and one that is signed out.
func (b *browser) names() string {
	b.s.Helper()
	var names []string
	for _, e := range b.list() {
		name, _, _ := strings.Cut(e.Email, "@")
		if e.Active {
			name += "*"
		}
		if !e.SignedIn {
			name += "?"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// ref returns the reference of an account, or "".
func (b *browser) ref(id string) string {
	b.s.Helper()
	for _, e := range b.list() {
		if e.Email == id+"@example.com" {
			return e.ID
		}
	}
	return ""
}

func (b *browser) switchTo(id string) *core.Response {
	b.s.Helper()
	return b.post("/auth/accounts/switch", url.Values{"account": {b.ref(id)}, "callbackUrl": {"/home"}})
}

// code returns the code of a problem, or "".
func code(r *core.Response) string {
	var p struct{ Code string }
	_ = json.Unmarshal(r.Body, &p)
	return p.Code
}

// cookiesOf parses the Set-Cookie lines of a header.
func cookiesOf(h http.Header) (all []core.Cookie) {
	for _, c := range (&http.Response{Header: h}).Cookies() {
		value, err := url.QueryUnescape(c.Value)
		if err != nil {
			continue
		}
		all = append(all, core.Cookie{Name: c.Name, Value: value, Expires: c.Expires})
	}
	return all
}
