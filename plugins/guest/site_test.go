package guest_test

import (
	"bytes"
	"context"
	"crypto/rand"
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
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/guest"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/storage/memory"
)

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
		answer = map[string]string{
			"sub": person, "name": strings.ToUpper(person), "email": person + "@example.com",
			"picture": "https://p.example/" + person,
		}
	}
	body, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)),
	}, err
}

// rows is a store whose operations fail on request, and which can run a function before one.
type rows struct {
	*memory.Store
	mu     sync.Mutex
	fails  string // such as "delete user"
	before map[string]func()
}

func (r *rows) step(name string) error {
	r.mu.Lock()
	run := r.before[name]
	delete(r.before, name)
	failed := r.fails == name
	r.mu.Unlock()
	if run != nil {
		run()
	}
	if failed {
		return errors.New("the store failed: " + name)
	}
	return nil
}

// failing makes all calls of an operation fail, or none if name is empty.
func (r *rows) failing(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = name
}

// on runs f once, before the next call of an operation.
func (r *rows) on(name string, f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before[name] = f
}

func (r *rows) DeleteUser(ctx context.Context, id string) error {
	if err := r.step("delete user"); err != nil {
		return err
	}
	return r.Store.DeleteUser(ctx, id)
}

func (r *rows) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	if err := r.step("delete " + kind); err != nil {
		return nil, err
	}
	return r.Store.DeleteRecord(ctx, kind, key)
}

func (r *rows) CreateRecord(ctx context.Context, record *store.Record) error {
	if err := r.step("create " + record.Kind); err != nil {
		return err
	}
	return r.Store.CreateRecord(ctx, record)
}

func (r *rows) UpdateRecord(ctx context.Context, record *store.Record) error {
	if err := r.step("update " + record.Kind); err != nil {
		return err
	}
	return r.Store.UpdateRecord(ctx, record)
}

// plainRows is rows without transactions.
type plainRows struct {
	core.Store
	store.SessionStore
	store.SessionLister
	store.VerificationTokenStore
	store.AccountStore
	store.UserDeleter
	store.RecordStore
	store.RecordLister
}

func withoutTransactions(c *core.Config, _ *guest.Options) {
	if r, ok := c.Store.(*rows); ok {
		c.Store = plainRows{r, r, r, r, r, r, r, r}
	}
}

func (r *rows) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	if err := r.step("transaction"); err != nil {
		return err
	}
	return r.Store.InTransaction(ctx, do)
}

// merged is a call of Callbacks.Merge.
type merged struct{ guest, existing string }

// site is an application with guests. Several processes share everything except auth and guests.
type site struct {
	*testing.T
	rows     *rows
	strategy core.Strategy
	changes  []change
	auth     *core.Auth
	guests   *guest.Guests
	// beforeConfirm is called before the link of a sign-up is opened. It may be nil.
	beforeConfirm func()
	mails         *mailbox.Mailbox

	mu     *sync.Mutex
	log    *[]string // audit events
	merges *[]merged
	// merge is called by Callbacks.Merge. It may be nil.
	merge *func(guest, existing *core.User) error
}

type change = func(*core.Config, *guest.Options)

// both runs a test under both session strategies, with a virtual clock.
func both(t *testing.T, test func(s *site), changes ...change) {
	t.Helper()
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(newSite(t, strategy, changes...)) })
		})
	}
}

func newSite(t *testing.T, strategy core.Strategy, changes ...change) *site {
	t.Helper()
	s := &site{
		T: t, rows: &rows{Store: memory.New(), before: map[string]func(){}}, strategy: strategy, changes: changes,
		mails: mailbox.New(), mu: new(sync.Mutex), log: new([]string), merges: new([]merged),
		merge: new(func(guest, existing *core.User) error),
	}
	for _, id := range []string{"grace", "linus"} {
		u := &core.User{ID: id, Name: id, Email: id + "@example.com", EmailVerified: time.Now()}
		if _, err := s.rows.CreateUser(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		err := s.rows.LinkAccount(t.Context(), &core.Account{
			UserID: id, Type: core.TypeOAuth, Provider: "p", ProviderAccountID: id,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s.process()
}

// process starts another process with the same store.
func (s *site) process() *site {
	s.Helper()
	p := *s
	options := guest.Options{}
	config := s.config()
	for _, f := range s.changes {
		f(&config, &options)
	}
	p.guests = guest.New(options)
	config.Plugins = append(config.Plugins, p.guests)
	var err error
	if p.auth, err = core.New(config); err != nil {
		s.Fatal(err)
	}
	return &p
}

func (s *site) config() core.Config {
	return core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: s.rows, URL: "https://app.test",
		Session: core.SessionConfig{Strategy: s.strategy}, InsecureNoLimits: true, Rand: rand.Reader,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Providers: []core.Provider{
			&core.OAuthProvider{
				ID: "p", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
				HTTPClient:    &http.Client{Transport: service{}},
				Authorization: core.Endpoint{URL: "https://p.example/authorize"},
				Token:         core.Endpoint{URL: "https://p.example/token"},
				Userinfo:      core.Endpoint{URL: "https://p.example/userinfo"},
			},
			&core.EmailProvider{ID: "email", From: "no-reply@app.test", Send: s.mails.Send},
			password.New(password.Options{Mail: s.mails, Usernames: password.Usernames{On: true, Alone: true}}),
		},
		Callbacks: core.Callbacks{Merge: func(_ context.Context, guest, existing *core.User) error {
			s.mu.Lock()
			*s.merges = append(*s.merges, merged{guest.ID, existing.ID})
			f := *s.merge
			s.mu.Unlock()
			if f != nil {
				return f(guest, existing)
			}
			return nil
		}},
		Audit: func(_ context.Context, e audit.Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			*s.log = append(*s.log, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Name, e.Outcome, e.Reason)))
		},
	}
}

func (s *site) merging(f func(guest, existing *core.User) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*s.merge = f
}

// calls returns the calls of Callbacks.Merge so far.
func (s *site) calls() []merged {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(*s.merges)
}

// audited returns the number of events with this name, outcome and reason.
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

// user returns a user of the store, or nil.
func (s *site) user(id string) *core.User {
	s.Helper()
	u, err := s.rows.User(s.Context(), id)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		s.Fatal(err)
	}
	return u
}

// works lets the tasks run: a request after the pause starts them.
func (s *site) works(pause time.Duration) {
	s.Helper()
	time.Sleep(pause)     // of the virtual clock
	s.browser().session() // a visit
	synctest.Wait()
}

// work returns the number of records of unfinished work.
func (s *site) work() int {
	s.Helper()
	list, _, err := s.rows.ListRecords(s.Context(), "guest-work", "", "", 100)
	if err != nil {
		s.Fatal(err)
	}
	return len(list)
}

// browser is a browser with cookies.
type browser struct {
	s       *site
	cookies map[string]string
}

func (s *site) browser() *browser { return &browser{s, map[string]string{}} }

// copied returns another browser with the same cookies, such as that of an attacker who knows them.
func (b *browser) copied() *browser { return &browser{b.s, maps.Clone(b.cookies)} }

// at returns the browser at another process.
func (b *browser) at(s *site) *browser { return &browser{s, b.cookies} }

func (b *browser) send(method, target string, form url.Values, header ...string) *core.Response {
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{"app.test"}, Scheme: "https", RemoteAddr: "192.0.2.1:1234",
		Header: http.Header{},
	}
	var cookies []string
	for name, value := range b.cookies {
		cookies = append(cookies, name+"="+url.QueryEscape(value))
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
	answer := b.s.auth.Handle(b.s.Context(), r)
	for _, c := range answer.Cookies {
		if b.cookies[c.Name] = c.Value; c.Value == "" {
			delete(b.cookies, c.Name)
		}
	}
	return answer
}

func (b *browser) get(target string, header ...string) *core.Response {
	return b.send(http.MethodGet, target, nil, append([]string{"Accept", "text/html"}, header...)...)
}

func (b *browser) post(target string, form url.Values, header ...string) *core.Response {
	var token struct{ CSRFToken string }
	_ = json.Unmarshal(b.get("/auth/csrf").Body, &token)
	if form == nil {
		form = url.Values{}
	}
	form.Set("csrfToken", token.CSRFToken)
	return b.send(http.MethodPost, target, form, append([]string{"Accept", "text/html"}, header...)...)
}

// id returns the ID of the signed-in user, or "".
func (b *browser) id() string {
	session := b.session()
	if session == nil {
		return ""
	}
	return session.UserID
}

// session returns the session as a handler of the application sees it.
func (b *browser) session() *core.Session {
	r := &core.Request{
		Method: http.MethodGet, Target: "/", Hosts: []string{"app.test"}, Scheme: "https", Header: http.Header{},
	}
	var cookies []string
	for name, value := range b.cookies {
		cookies = append(cookies, name+"="+url.QueryEscape(value))
	}
	r.Header.Set("Cookie", strings.Join(cookies, "; "))
	visit := b.s.auth.Visit(b.s.Context(), r)
	session, err := visit.Session()
	if err != nil {
		b.s.Fatal(err)
	}
	return session
}

// guest makes the browser continue as a guest, and returns the ID.
func (b *browser) guest() string {
	b.s.Helper()
	r := b.post("/auth/guest", nil)
	id := b.id()
	if id == "" || r.Status != http.StatusSeeOther {
		b.s.Fatalf("no guest: status %d, %v", r.Status, r.Err)
	}
	return id
}

// device returns another browser with another session of the user.
func (s *site) device(id string) *browser {
	s.Helper()
	b := s.browser()
	b.newSession(s.user(id))
	if b.id() != id {
		s.Fatalf("the other device is signed in as %q", b.id())
	}
	return b
}

// newSession makes the application create a session of a user.
func (b *browser) newSession(u *core.User) {
	b.s.Helper()
	cookies, err := b.s.auth.NewSession(b.s.Context(), &core.Request{
		Method: http.MethodPost, Target: "/", Hosts: []string{"app.test"}, Scheme: "https",
		Header: http.Header{"Cookie": {strings.Join(b.pairs(), "; ")}},
	}, u)
	if err != nil {
		b.s.Fatal(err)
	}
	for _, c := range cookies {
		b.cookies[c.Name] = c.Value
	}
}

// started starts a sign-in at the provider, and returns the callback without the code.
func (b *browser) started() string {
	b.s.Helper()
	r := b.post("/auth/signin/p", nil)
	at, err := url.Parse(r.Redirect)
	if err != nil || at.Query().Get("state") == "" {
		b.s.Fatalf("the sign-in was not started: %d %s %v", r.Status, r.Redirect, r.Err)
	}
	return "/auth/callback/p?state=" + url.QueryEscape(at.Query().Get("state")) + "&code="
}

// oauth signs a person in with the provider.
func (b *browser) oauth(person string) *core.Response {
	b.s.Helper()
	return b.get(b.started() + person)
}

// link signs the owner of an address in with an email link.
func (b *browser) link(address string) *core.Response {
	b.s.Helper()
	b.post("/auth/signin/email", url.Values{"email": {address}})
	return b.post(strings.TrimPrefix(b.s.mails.Mails()[0].URL, "https://app.test"), nil)
}

// signUp signs up with a password.
func (b *browser) signUp(address string) *core.Response {
	b.s.Helper()
	b.post("/auth/password/sign-up", url.Values{
		"email": {address}, "password": {"correct horse battery staple"}, "name": {"Ada"},
	})
	synctest.Wait()
	mail := b.s.mails.Mails()[0]
	at, err := url.Parse(mail.URL)
	if err != nil || mail.To != address {
		b.s.Fatalf("no email of the sign-up: %+v, %v", mail, err)
	}
	if b.s.beforeConfirm != nil {
		b.s.beforeConfirm()
	}
	return b.post("/auth/password/confirm", url.Values{"token": {at.Query().Get("token")}})
}
