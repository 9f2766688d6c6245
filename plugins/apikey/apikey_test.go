package apikey_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// site is an application with an API, keys and a clock that tests set.
type site struct {
	*testing.T
	store *faulty
	keys  *apikey.Keys
	auth  *core.Auth
	url   string

	mu    sync.Mutex
	now   time.Time
	log   bytes.Buffer
	audit []string // names, outcomes and users
	told  []string // whole events
}

// faulty is a store whose reads of records fail while broken is set.
type faulty struct {
	*memory.Store
	mu     sync.Mutex
	broken error
	reads  int
	listed func() // runs once, after records were listed
	// fails is a write that fails, such as "create outbox". created counts the records that were created.
	fails   string
	created map[string]int
}

// failing makes a write fail until the next call.
func (f *faulty) failing(write string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fails, f.created = write, map[string]int{}
}

func (f *faulty) write(op, kind string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails == op+" "+kind {
		return errors.New("the store is unavailable")
	}
	if op == "create" && f.created != nil {
		f.created[kind]++
	}
	return nil
}

func (f *faulty) CreateRecord(ctx context.Context, r *store.Record) error {
	if err := f.write("create", r.Kind); err != nil {
		return err
	}
	return f.Store.CreateRecord(ctx, r)
}

func (f *faulty) UpdateRecord(ctx context.Context, r *store.Record) error {
	if err := f.write("update", r.Kind); err != nil {
		return err
	}
	return f.Store.UpdateRecord(ctx, r)
}

func (f *faulty) ListRecords(
	ctx context.Context, kind, prefix, cursor string, limit int,
) ([]*store.Record, string, error) {
	page, next, err := f.Store.ListRecords(ctx, kind, prefix, cursor, limit)
	f.mu.Lock()
	then := f.listed
	if len(page) > 0 {
		f.listed = nil
	}
	f.mu.Unlock()
	if then != nil && len(page) > 0 {
		then()
	}
	return page, next, err
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

var scopes = []apikey.Scope{{Name: "orders:read", Label: "Read orders"}, {Name: "orders:write"}}

// newSite serves an application. change may modify the configuration.
func newSite(t *testing.T, change ...func(*core.Config, *apikey.Options)) *site {
	t.Helper()
	return serve(t, &faulty{Store: memory.New()}, change...)
}

func serve(t *testing.T, rows *faulty, change ...func(*core.Config, *apikey.Options)) *site {
	t.Helper()
	s := &site{T: t, store: rows, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	config := core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: s.store, Now: s.clock,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.NewTextHandler(s, nil)),
		Audit: func(_ context.Context, e audit.Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.told = append(s.told, fmt.Sprintf("%+v", e))
			s.audit = append(s.audit, fmt.Sprint(e.Name, " ", e.Outcome, " ", e.UserID))
		},
	}
	options := apikey.Options{Prefix: "acme_test", Scopes: scopes}
	for _, f := range change {
		f(&config, &options)
	}
	s.keys = apikey.New(options)
	config.Plugins = append(config.Plugins, s.keys)
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

// Write implements [io.Writer] for the log.
func (s *site) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

func (s *site) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *site) wait(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// events returns the audit events of keys since the last call.
func (s *site) events() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, e := range s.audit {
		if strings.HasPrefix(e, "key.") {
			all = append(all, e)
		}
	}
	s.audit = nil
	return strings.Join(all, ", ")
}

// as returns a client with a session of the user.
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

func (s *site) send(c *http.Client, method, path string, body io.Reader, header ...string) reply {
	s.Helper()
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

// call requests the API with a key.
func (s *site) call(key string) reply {
	s.Helper()
	return s.send(http.DefaultClient, "GET", "/api", nil, "Authorization", "Bearer "+key)
}

// flush stores the times of use, so that no background write follows.
func (s *site) flush() {
	s.Helper()
	if err := s.keys.Flush(s.Context()); err != nil {
		s.Fatal(err)
	}
}

// csrf returns the CSRF token of a client.
func (s *site) csrf(c *http.Client) string {
	s.Helper()
	var token struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(s.send(c, "GET", "/auth/csrf", nil).body), &token); err != nil {
		s.Fatal(err)
	}
	return token.CSRFToken
}

// token returns the session token of a client.
func (s *site) token(c *http.Client) (session string) {
	s.Helper()
	at, err := url.Parse(s.url)
	if err != nil {
		s.Fatal(err)
	}
	for _, cookie := range c.Jar.Cookies(at) {
		if strings.HasSuffix(cookie.Name, "session-token") {
			session = cookie.Value
		}
	}
	return session
}

// post sends JSON to an action, with the CSRF token.
func (s *site) post(c *http.Client, action string, body map[string]any, header ...string) reply {
	s.Helper()
	body["csrfToken"] = s.csrf(c)
	text, err := json.Marshal(body)
	if err != nil {
		s.Fatal(err)
	}
	return s.send(c, "POST", "/auth/"+action, bytes.NewReader(text),
		append(header, "Content-Type", "application/json", "Accept", "application/json")...)
}

// newKey is the response to a request that creates a key.
type newKey struct {
	ID, Key, Name, Last4, Code string
	Scopes                     []string
	Expires                    time.Time
}

func (s *site) create(c *http.Client, body map[string]any) (made newKey) {
	s.Helper()
	r := s.post(c, "api-keys", body)
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || r.StatusCode != 200 {
		s.Fatalf("create: %d %s", r.StatusCode, r.body)
	}
	return made
}

// TestKeys creates, uses and revokes a key, with both session strategies and in two processes.
func TestKeys(t *testing.T) {
	for name, strategy := range map[string]core.Strategy{"jwt": core.StrategyJWT, "database": core.StrategyDatabase} {
		t.Run(name, func(t *testing.T) {
			change := func(c *core.Config, _ *apikey.Options) { c.Session.Strategy = strategy }
			s := newSite(t, change)
			other := serve(t, s.store, change) // another process
			ada := s.as("ada")
			made := s.create(ada, map[string]any{"name": " Backup ", "scopes": []string{"orders:read"}, "days": 30})
			if made.Name != "Backup" || !strings.HasPrefix(made.Key, "acme_test_") || !strings.HasSuffix(made.Key, made.Last4) ||
				!made.Expires.Equal(s.clock().Add(30*24*time.Hour)) {
				t.Errorf("the key is %+v", made)
			}
			for _, in := range []*site{s, other} {
				if r := in.call(made.Key); r.StatusCode != 200 || r.body != "ada Backup false" {
					t.Errorf("with the key: %d %s", r.StatusCode, r.body)
				}
			}
			listed := s.send(ada, "GET", "/auth/api-keys", nil, "Accept", "application/json")
			if !strings.Contains(listed.body, made.ID) || strings.Contains(listed.body, made.Key) ||
				!strings.Contains(listed.body, `{"name":"orders:read","label":"Read orders"}`) {
				t.Errorf("the list is %s", listed.body)
			}
			eve := s.as("eve")
			if r := s.send(eve, "GET", "/auth/api-keys", nil, "Accept", "application/json"); strings.Contains(r.body, made.ID) {
				t.Errorf("another user reads %s", r.body)
			}
			for _, action := range []string{"revoke", "rotate"} {
				if r := s.post(eve, "api-keys/"+action, map[string]any{"id": made.ID}); r.StatusCode != 404 {
					t.Errorf("another user: %s: %d %s", action, r.StatusCode, r.body)
				}
			}
			if r := s.post(ada, "api-keys/revoke", map[string]any{"id": made.ID}); r.StatusCode != 200 {
				t.Fatalf("revoke: %d %s", r.StatusCode, r.body)
			}
			for _, in := range []*site{s, other} {
				if r := in.call(made.Key); r.StatusCode != 401 ||
					!strings.Contains(r.Header.Get("Www-Authenticate"), "invalid_token") {
					t.Errorf("after the revocation: %d %s", r.StatusCode, r.body)
				}
			}
			if got := s.events(); got != "key.created ok ada, key.revoked ok ada" {
				t.Errorf("audited %s", got)
			}
			secret := strings.Split(made.Key, "_")[3]
			s.mu.Lock()
			defer s.mu.Unlock()
			if strings.Contains(s.log.String(), secret[:8]) {
				t.Errorf("the log contains the key: %s", &s.log)
			}
		})
	}
}

// TestKeyEnds makes a key end in each way.
func TestKeyEnds(t *testing.T) {
	for name, end := range map[string]func(s *site, key newKey){
		"it expires": func(s *site, _ newKey) { s.wait(24 * time.Hour) },
		"its user is deleted": func(s *site, _ newKey) {
			if err := s.store.DeleteUser(s.Context(), "ada"); err != nil {
				s.Fatal(err)
			}
		},
		"the application revokes it": func(s *site, key newKey) {
			if err := s.keys.Revoke(s.Context(), "ada", key.ID); err != nil {
				s.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			made := s.create(s.as("ada"), map[string]any{"name": "x", "scopes": []string{"orders:read"}, "days": 1})
			s.wait(24*time.Hour - time.Second)
			if r := s.call(made.Key); r.StatusCode != 200 {
				t.Fatalf("before: %d %s", r.StatusCode, r.body)
			}
			end(s, made)
			if r := s.call(made.Key); r.StatusCode != 401 {
				t.Errorf("afterwards: %d %s", r.StatusCode, r.body)
			}
		})
	}
}

// TestEndCredentials deletes the keys of a user whose account will be deleted, and no others.
func TestEndCredentials(t *testing.T) {
	s := newSite(t)
	create := func(id string) newKey {
		return s.create(s.as(id), map[string]any{"name": "x", "scopes": []string{"orders:read"}})
	}
	ada, eve := create("ada"), create("eve")
	if err := s.keys.EndCredentials(t.Context(), "ada"); err != nil {
		t.Fatal(err)
	}
	if a, e := s.call(ada.Key), s.call(eve.Key); a.StatusCode != 401 || e.StatusCode != 200 {
		t.Errorf("the key of the user got %d, that of another user %d", a.StatusCode, e.StatusCode)
	}
	if events := s.events(); !strings.Contains(events, "key.revoked ok ada") {
		t.Errorf("audit events %q", events)
	}
}

// TestWrongKeys sends keys that are not valid.
func TestWrongKeys(t *testing.T) {
	s := newSite(t)
	ada := s.as("ada")
	made := s.create(ada, map[string]any{"name": "x", "scopes": []string{"orders:write"}})
	others, _, err := newSite(t).keys.Create(t.Context(), apikey.NewKey{
		Service: "billing", Name: "x", Scopes: []string{"orders:read"},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, foreign, err := newSite(t).keys.Create(t.Context(), apikey.NewKey{
		UserID: "ada", Name: "x", Scopes: []string{"orders:read"},
	})
	if err != nil || others.ID == "" {
		t.Fatal(err)
	}
	if r := s.call(made.Key); r.StatusCode != 403 ||
		!strings.Contains(r.Header.Get("Www-Authenticate"), `error="insufficient_scope", scope="orders:read"`) {
		t.Errorf("without the scope: %d %v", r.StatusCode, r.Header)
	}
	parts := strings.Split(made.Key, "_")
	s.flush()
	s.store.count()
	for name, key := range map[string]string{
		"mistyped": made.Key[:len(made.Key)-1] + "-", "cut off": made.Key[:30], "only the prefix": "acme_test_",
		"of another environment": strings.Replace(made.Key, "acme_test", "acme_live", 1),
		"not a key":              "acme_test_" + parts[2], "very long": "acme_test_" + strings.Repeat("x", 5000),
	} {
		if r := s.call(key); r.StatusCode != 401 && r.StatusCode != 400 {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
	}
	if n := s.store.count(); n > 0 {
		t.Errorf("malformed keys cost %d reads", n)
	}
	if r := s.call(string(foreign)); r.StatusCode != 401 { // well formed
		t.Errorf("an unknown key: %d %s", r.StatusCode, r.body)
	}
	if r := s.call(apikey.Forged("acme_test", made.Key)); r.StatusCode != 401 {
		t.Errorf("the ID of a key with another secret: %d %s", r.StatusCode, r.body)
	}
	if r := s.send(ada, "GET", "/api", nil, "Authorization", "Bearer "+string(foreign)); r.StatusCode != 401 {
		t.Errorf("an unknown key with a session: %d %s", r.StatusCode, r.body)
	}
	s.store.breaks(fmt.Errorf("db-1.internal: %w", core.ErrStoreUnavailable))
	if r := s.call(made.Key); r.StatusCode != 503 || strings.Contains(r.body, "db-1") {
		t.Errorf("the store is down: %d %s", r.StatusCode, r.body)
	}
	s.store.breaks(nil)
	if r := s.call(made.Key); r.StatusCode != 403 {
		t.Errorf("the store is back: %d %s", r.StatusCode, r.body)
	}
}

// TestKeysDoNotManageKeys sends keys and bearer sessions to everything that requires a user in a browser.
func TestKeysDoNotManageKeys(t *testing.T) {
	s := newSite(t, func(c *core.Config, _ *apikey.Options) {
		c.Session.Bearer = true
		c.Plugins = append(c.Plugins, account.New(account.Options{}))
	})
	ada := s.as("ada")
	made := s.create(ada, map[string]any{"name": "x", "scopes": []string{"orders:read"}})
	session := s.token(ada)
	for _, row := range []struct {
		method, path string
		key, bearer  int
	}{
		{"GET", "/people", 401, 200},
		{"GET", "/auth/account", 401, 200},
		{"GET", "/auth/api-keys", 401, 403},
		{"POST", "/auth/api-keys", 0, 0},
		{"POST", "/auth/api-keys/rotate", 0, 0},
		{"POST", "/auth/api-keys/revoke", 0, 0},
	} {
		for name, client := range map[string]*http.Client{"alone": {}, "with a session": ada} {
			if row.method == "POST" {
				body := map[string]any{"id": made.ID, "name": "y", "scopes": []string{"orders:read"}}
				for credential, want := range map[string]int{made.Key: 401, session: 403} {
					r := s.post(client, strings.TrimPrefix(row.path, "/auth/"), body, "Authorization", "Bearer "+credential)
					if r.StatusCode != want && r.StatusCode != 403 {
						t.Errorf("POST %s, %s: %d %s", row.path, name, r.StatusCode, r.body)
					}
				}
				continue
			}
			for credential, want := range map[string]int{made.Key: row.key, session: row.bearer} {
				r := s.send(client, "GET", row.path, nil, "Authorization", "Bearer "+credential, "Accept", "application/json")
				if r.StatusCode != want {
					t.Errorf("%s, %s: %d, want %d: %s", row.path, name, r.StatusCode, want, r.body)
				}
			}
		}
	}
	if keys, err := s.keys.Of(t.Context(), "ada"); len(keys) != 1 || err != nil {
		t.Errorf("the keys are %v, %v", keys, err)
	}
	if r := s.send(&http.Client{}, "GET", "/auth/session", nil, "Authorization", "Bearer "+made.Key); r.body != "null" {
		t.Errorf("the session of a key is %s", r.body)
	}
}

// TestProxyToken manages keys behind a proxy whose bearer token reaches the application.
func TestProxyToken(t *testing.T) {
	s := newSite(t)
	r := s.post(s.as("ada"), "api-keys", map[string]any{"name": "x", "scopes": []string{"orders:read"}},
		"Authorization", "Bearer of-the-proxy")
	if r.StatusCode != 200 {
		t.Errorf("create: %d %s", r.StatusCode, r.body)
	}
}

// TestRotate replaces a key. The old one works until the overlap is over.
func TestRotate(t *testing.T) {
	s := newSite(t, func(_ *core.Config, o *apikey.Options) { o.Overlap = time.Hour })
	ada := s.as("ada")
	old := s.create(ada, map[string]any{"name": "x", "scopes": []string{"orders:read"}, "days": 30})
	s.events()
	var made newKey
	r := s.post(ada, "api-keys/rotate", map[string]any{"id": old.ID})
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || r.StatusCode != 200 || made.Key == old.Key {
		t.Fatalf("rotate: %d %s", r.StatusCode, r.body)
	}
	if made.Name != "x" || made.Scopes[0] != "orders:read" || !made.Expires.Equal(old.Expires) {
		t.Errorf("the new key is %+v", made)
	}
	if got := s.events(); got != "key.rotated ok ada" {
		t.Errorf("audited %s", got)
	}
	for _, row := range []struct {
		wait time.Duration
		want int
	}{{0, 200}, {time.Hour - time.Second, 200}, {time.Second, 401}} {
		s.wait(row.wait)
		if r := s.call(old.Key); r.StatusCode != row.want {
			t.Errorf("the old key after %v: %d", row.wait, r.StatusCode)
		}
		if r := s.call(made.Key); r.StatusCode != 200 {
			t.Errorf("the new key after %v: %d", row.wait, r.StatusCode)
		}
	}
	s.wait(time.Hour)
	if _, _, err := s.keys.Rotate(t.Context(), "ada", old.ID); err == nil {
		t.Error("an expired key was rotated")
	}
}

// TestRotateAgain replaces a key twice, as a user does whose browser did not receive the first successor.
func TestRotateAgain(t *testing.T) {
	s := newSite(t)
	ada := s.as("ada")
	old := s.create(ada, map[string]any{"name": "x", "scopes": []string{"orders:read"}, "days": 30})
	for range 2 {
		var made newKey
		r := s.post(ada, "api-keys/rotate", map[string]any{"id": old.ID})
		if err := json.Unmarshal([]byte(r.body), &made); err != nil || r.StatusCode != 200 {
			t.Fatalf("rotate: %d %s", r.StatusCode, r.body)
		}
		if !made.Expires.Equal(old.Expires) {
			t.Errorf("the new key expires at %v, want %v", made.Expires, old.Expires)
		}
	}
}

// TestRotationExtendsNoKey replaces a key shortly before it expires, and requires a recent sign-in for that.
func TestRotationExtendsNoKey(t *testing.T) {
	s := newSite(t)
	ada := s.as("ada")
	old := s.create(ada, map[string]any{"name": "x", "scopes": []string{"orders:read"}, "days": 1})
	s.wait(23 * time.Hour)
	if r := s.post(ada, "api-keys/rotate", map[string]any{"id": old.ID}); r.StatusCode != 401 ||
		!strings.Contains(r.body, "reauth_required") {
		t.Errorf("an old sign-in: %d %s", r.StatusCode, r.body)
	}
	if r := s.post(s.as("ada"), "api-keys/rotate", map[string]any{"id": old.ID}); r.StatusCode != 200 {
		t.Fatalf("rotate: %d %s", r.StatusCode, r.body)
	}
	s.wait(time.Hour)
	if r := s.call(old.Key); r.StatusCode != 401 {
		t.Errorf("the old key after its expiry: %d", r.StatusCode)
	}
}

// TestRefusedKeys requests keys that cannot be created.
func TestRefusedKeys(t *testing.T) {
	s := newSite(t, func(_ *core.Config, o *apikey.Options) { o.MaxKeys = 2 })
	ada := s.as("ada")
	good := func(name string, value any) map[string]any {
		body := map[string]any{"name": "x", "scopes": []string{"orders:read"}}
		body[name] = value
		return body
	}
	for _, row := range []struct {
		name   string
		body   map[string]any
		status int
		code   string
	}{
		{"no name", good("name", " "), 422, "name_invalid"},
		{"a long name", good("name", strings.Repeat("ä", 65)), 422, "name_invalid"},
		{"a line break in the name", good("name", "a\nb"), 422, "name_invalid"},
		{"no scope", good("scopes", []string{}), 422, "scope_invalid"},
		{"an unknown scope", good("scopes", []string{"admin"}), 422, "scope_invalid"},
		{"all scopes", good("scopes", []string{"*"}), 422, "scope_invalid"},
		{"no lifetime", good("days", 0), 422, "lifetime_invalid"},
		{"a negative lifetime", good("days", -1), 422, "lifetime_invalid"},
		{"a long lifetime", good("days", 366), 422, "lifetime_invalid"},
		{"a lifetime that overflows", good("days", 1<<40), 422, "lifetime_invalid"},
		{"a lifetime that is no number", good("days", "soon"), 422, "lifetime_invalid"},
		{"a network that is none", good("networks", []string{"example.com"}), 422, "network_invalid"},
		{"a small IPv6 network", good("networks", []string{"2001:db8::1/128"}), 422, "network_invalid"},
		{"an owner", good("userId", "eve"), 200, ""}, // ignored: the owner is the user of the session
		{"one", good("name", "y"), 200, ""},
		{"too many", good("name", "z"), 409, "too_many_keys"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := s.post(ada, "api-keys", row.body)
			if r.StatusCode != row.status || !strings.Contains(r.body, row.code) {
				t.Errorf("%d %s", r.StatusCode, r.body)
			}
		})
	}
	if keys, err := s.keys.Of(t.Context(), "eve"); len(keys) > 0 || err != nil {
		t.Errorf("another user has keys: %v, %v", keys, err)
	}
	s.wait(time.Hour)
	if r := s.post(ada, "api-keys", good("name", "later")); r.StatusCode != 401 ||
		!strings.Contains(r.body, "reauth_required") {
		t.Errorf("an old sign-in: %d %s", r.StatusCode, r.body)
	}
	if r := s.send(ada, "POST", "/auth/api-keys", strings.NewReader(`{"name":"x"}`), "Content-Type", "application/json",
		"Accept", "application/json"); r.StatusCode != 403 {
		t.Errorf("without a CSRF token: %d %s", r.StatusCode, r.body)
	}
}

// TestNetworks uses a key from networks that it allows and from others.
func TestNetworks(t *testing.T) {
	s := newSite(t, func(c *core.Config, _ *apikey.Options) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		c.TrustHost = core.True
	})
	made := s.create(s.as("ada"), map[string]any{
		"name": "x", "scopes": []string{"orders:read"}, "networks": []string{"192.0.2.0/24", "2001:db8::1", "198.51.100.7"},
	})
	for from, want := range map[string]int{
		"192.0.2.7": 200, "198.51.100.7": 200, "2001:db8::99": 200,
		"192.0.3.7": 403, "198.51.100.8": 403, "2001:db8:0:1::1": 403,
	} {
		r := s.send(http.DefaultClient, "GET", "/api", nil, "Authorization", "Bearer "+made.Key, "X-Forwarded-For", from)
		if r.StatusCode != want || want == 403 && !strings.Contains(r.body, "network_refused") {
			t.Errorf("%s: %d %s", from, r.StatusCode, r.body)
		}
	}
}

// TestUsage counts requests. The time of use is stored at most once in ten minutes, and at shutdown.
func TestUsage(t *testing.T) {
	s := newSite(t)
	made := s.create(s.as("ada"), map[string]any{"name": "x", "scopes": []string{"orders:read"}})
	state := func() apikey.Key {
		keys, err := s.keys.Of(t.Context(), "ada")
		if err != nil || len(keys) != 1 {
			t.Fatal(keys, err)
		}
		return keys[0]
	}
	start := s.clock()
	for range 3 {
		s.call(made.Key)
	}
	if err := s.keys.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if k := state(); k.Uses != 3 || !k.Used.Equal(start) {
		t.Errorf("after three requests: %+v", k)
	}
	s.wait(9 * time.Minute)
	s.call(made.Key)
	if k := state(); k.Uses != 3 {
		t.Errorf("nine minutes later: %+v", k)
	}
	if err := s.keys.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if k := state(); k.Uses != 4 || !k.Used.Equal(start.Add(9*time.Minute)) {
		t.Errorf("after the flush: %+v", k)
	}
	if err := s.keys.Revoke(t.Context(), "ada", made.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.keys.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if keys, _ := s.keys.Of(t.Context(), "ada"); len(keys) > 0 {
		t.Error("the count has created a revoked key again")
	}
}

// TestService creates the key of a service.
func TestService(t *testing.T) {
	s := newSite(t, func(_ *core.Config, o *apikey.Options) { o.MaxKeys = 1 })
	n := apikey.NewKey{Service: "billing", Name: "Invoices", Scopes: []string{"orders:*"}}
	made, text, err := s.keys.Create(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if r := s.call(string(text)); r.StatusCode != 200 || r.body != " Invoices false" {
		t.Errorf("with the key: %d %s", r.StatusCode, r.body)
	}
	principal, err := s.auth.Visit(t.Context(), &core.Request{
		Method: "GET", Target: "/", Hosts: []string{"localhost"}, Scheme: "http", RemoteAddr: "127.0.0.1:4711",
		Header: http.Header{"Authorization": {"Bearer " + string(text)}},
	}).Principal()
	if err != nil || principal == nil || principal.Service != "billing" || principal.UserID != "" {
		t.Errorf("the principal is %+v, %v", principal, err)
	}
	keys, err := s.keys.OfService(t.Context(), "billing")
	if err != nil || len(keys) != 1 || keys[0].ID != made.ID {
		t.Errorf("the keys are %+v, %v", keys, err)
	}
	if others, err := s.keys.OfService(t.Context(), "shipping"); err != nil || len(others) > 0 {
		t.Errorf("another service has %v, %v", others, err)
	}
	if _, _, err := s.keys.Create(t.Context(), n); !errors.Is(err, apikey.ErrTooMany) {
		t.Errorf("a second key: %v", err)
	}
	if err := s.keys.RevokeService(t.Context(), "shipping", made.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("another service revokes it: %v", err)
	}
	if err := s.keys.RevokeService(t.Context(), "billing", made.ID); err != nil {
		t.Fatal(err)
	}
	if r := s.call(string(text)); r.StatusCode != 401 {
		t.Errorf("after the revocation: %d", r.StatusCode)
	}
}

// TestPage creates, replaces and revokes a key in a browser. The key is shown once.
func TestPage(t *testing.T) {
	s := newSite(t, func(c *core.Config, _ *apikey.Options) {
		c.Plugins = append(c.Plugins, account.New(account.Options{}))
	})
	ada := s.as("ada")
	page := func(path string) string {
		r := s.send(ada, "GET", "/auth/"+path, nil, "Accept", "text/html")
		if r.StatusCode != 200 || r.Header.Get("Cache-Control") != "private, no-cache, no-store" {
			t.Fatalf("%s: %d %v", path, r.StatusCode, r.Header)
		}
		return r.body
	}
	token := regexp.MustCompile(`name="csrfToken" value="([^"]+)"`)
	submit := func(action string, fields url.Values) {
		t.Helper()
		fields.Set("csrfToken", token.FindStringSubmatch(page("api-keys"))[1])
		r := s.send(ada, "POST", "/auth/"+action, strings.NewReader(fields.Encode()), "Accept", "text/html",
			"Content-Type", "application/x-www-form-urlencoded", "Origin", s.url)
		if r.StatusCode != 303 || r.Header.Get("Location") != s.url+"/auth/api-keys" {
			t.Fatalf("%s: %d %v %s", action, r.StatusCode, r.Header, r.body)
		}
	}
	if first := page("api-keys"); !strings.Contains(first, "Read orders") || !strings.Contains(first, "90 days") {
		t.Errorf("the page is %s", first)
	}
	submit("api-keys", url.Values{"name": {"<b>Backup"}, "days": {"90"}})
	if got := page("api-keys"); !strings.Contains(got, "Choose what the key can do.") {
		t.Errorf("without a scope: %s", got)
	}
	key := regexp.MustCompile(`value="(acme_test_[0-9A-Za-z_]+)"`)
	submit("api-keys", url.Values{"name": {"<b>Backup"}, "days": {"90"}, "scope orders:read": {"on"}})
	shown := page("api-keys")
	if !strings.Contains(shown, "&lt;b&gt;Backup") || key.FindStringSubmatch(shown) == nil {
		t.Fatalf("the page with the key is %s", shown)
	}
	if r := s.call(key.FindStringSubmatch(shown)[1]); r.StatusCode != 200 {
		t.Errorf("with the key: %d", r.StatusCode)
	}
	again := page("api-keys")
	if key.MatchString(again) {
		t.Error("the key is shown twice")
	}
	if got := page("account"); !strings.Contains(got, `id="api-keys"`) || !strings.Contains(got, "Manage API keys") {
		t.Errorf("the account page is %s", got)
	}
	id := regexp.MustCompile(`name="id" value="(\w+)"`).FindStringSubmatch(again)[1]
	submit("api-keys/rotate", url.Values{"id": {id}})
	if got := page("api-keys"); key.FindStringSubmatch(got) == nil {
		t.Errorf("the page after a rotation is %s", got)
	}
	submit("api-keys/revoke", url.Values{"id": {id}})
	if got := page("api-keys"); !strings.Contains(got, "API key revoked.") {
		t.Errorf("the page after a revocation is %s", got)
	}
	submit("api-keys/revoke", url.Values{"id": {id}})
	if got := page("api-keys"); !strings.Contains(got, "This API key no longer exists.") {
		t.Errorf("the page after a second revocation is %s", got)
	}
}

// TestNewKeyIsShownToItsUserOnly signs another user in, in the same browser, before the page shows the new key.
func TestNewKeyIsShownToItsUserOnly(t *testing.T) {
	s := newSite(t)
	ada := s.as("ada")
	token := regexp.MustCompile(`name="csrfToken" value="([^"]+)"`)
	body := s.send(ada, "GET", "/auth/api-keys", nil, "Accept", "text/html").body
	form := url.Values{
		"csrfToken": {token.FindStringSubmatch(body)[1]}, "name": {"x"}, "scope orders:read": {"on"},
	}
	s.send(ada, "POST", "/auth/api-keys", strings.NewReader(form.Encode()), "Accept", "text/html",
		"Content-Type", "application/x-www-form-urlencoded", "Origin", s.url)
	at, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	ada.Jar.SetCookies(at, authtest.Cookies(t, s.auth, s.url, &core.User{ID: "eve"}))
	if got := s.send(ada, "GET", "/auth/api-keys", nil, "Accept", "text/html").body; strings.Contains(got, "acme_test_") {
		t.Errorf("another user sees %s", got)
	}
}

// TestFaults configures keys that cannot work.
func TestFaults(t *testing.T) {
	for _, row := range []struct {
		name    string
		options apikey.Options
		store   core.Store
		want    string
	}{
		{"a prefix with a space", apikey.Options{Prefix: "a b", Scopes: scopes}, memory.New(), "Options.Prefix"},
		{"an underscore at the end", apikey.Options{Prefix: "a_", Scopes: scopes}, memory.New(), "Options.Prefix"},
		{"no scopes", apikey.Options{}, memory.New(), "Options.Scopes is empty"},
		{"a scope in capitals", apikey.Options{Scopes: []apikey.Scope{{Name: "Orders"}}}, memory.New(), "Options.Scopes[0]"},
		{"a scope with a star", apikey.Options{Scopes: []apikey.Scope{{Name: "a:*"}}}, memory.New(), "Options.Scopes[0]"},
		{"a scope twice", apikey.Options{Scopes: append(scopes, scopes[0])}, memory.New(), "Options.Scopes[2]"},
		{"a negative lifetime", apikey.Options{Scopes: scopes, TTL: -1}, memory.New(), "Options.TTL"},
		{"a default above the maximum", apikey.Options{Scopes: scopes, TTL: 48 * time.Hour, MaxTTL: 24 * time.Hour},
			memory.New(), "TTL must not be longer"},
		{"no store", apikey.Options{Scopes: scopes}, nil, "needs a Store"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := core.New(core.Config{
				Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: row.store,
				Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
				Plugins: []core.Plugin{apikey.New(row.options)},
			})
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("New returned %v", err)
			}
		})
	}
	if _, _, err := apikey.New(apikey.Options{}).Create(t.Context(), apikey.NewKey{}); err == nil {
		t.Error("a plugin without an Auth creates keys")
	}
}
