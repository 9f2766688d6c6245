package webauthn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authenticator"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const (
	ada     = "ada@example.com"
	mallory = "mallory@example.com"
)

// both runs a test under each session strategy.
func both(t *testing.T, test func(t *testing.T, strategy core.Strategy)) {
	t.Helper()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) { t.Parallel(); test(t, strategy) })
	}
}

// brokenStore is a store whose calls with a name fail or run a function first, also within transactions.
type brokenStore struct {
	*memory.Store
	mu     sync.Mutex
	fails  string
	calls  int // failed calls
	before map[string]func()
}

var errBroken = errors.New("connection refused")

func (s *brokenStore) step(name string) error {
	s.mu.Lock()
	run := s.before[name]
	delete(s.before, name)
	failed := s.fails == name
	if failed {
		s.calls++
	}
	s.mu.Unlock()
	if run != nil {
		run()
	}
	if failed {
		return errBroken
	}
	return nil
}

func (s *brokenStore) failing(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails, s.calls = name, 0
}

func (s *brokenStore) failed() int { s.mu.Lock(); defer s.mu.Unlock(); return s.calls }

// on runs f once, before the next call with this name.
func (s *brokenStore) on(name string, f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = map[string]func(){name: f}
}

func (s *brokenStore) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	if err := s.step("Record " + kind); err != nil {
		return nil, err
	}
	return s.Store.Record(ctx, kind, key)
}

func (s *brokenStore) CreateRecord(ctx context.Context, r *store.Record) error {
	if err := s.step("CreateRecord " + r.Kind); err != nil {
		return err
	}
	return s.Store.CreateRecord(ctx, r)
}

func (s *brokenStore) UserByEmail(ctx context.Context, email string) (*core.User, error) {
	if err := s.step("UserByEmail"); err != nil {
		return nil, err
	}
	return s.Store.UserByEmail(ctx, email)
}

// DeleteRecord and the next methods fail outside of transactions too.
func (s *brokenStore) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	if err := s.step("DeleteRecord " + kind); err != nil {
		return nil, err
	}
	return s.Store.DeleteRecord(ctx, kind, key)
}

func (s *brokenStore) CreateUser(ctx context.Context, u *core.User) (*core.User, error) {
	if err := s.step("CreateUser"); err != nil {
		return nil, err
	}
	return s.Store.CreateUser(ctx, u)
}

func (s *brokenStore) LinkAccount(ctx context.Context, a *core.Account) error {
	if err := s.step("LinkAccount"); err != nil {
		return err
	}
	return s.Store.LinkAccount(ctx, a)
}

func (s *brokenStore) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	if err := s.step("CreateAuthenticator"); err != nil {
		return err
	}
	return s.Store.CreateAuthenticator(ctx, a)
}

func (s *brokenStore) InTransaction(ctx context.Context, work func(context.Context, core.Store) error) error {
	if err := s.step("InTransaction"); err != nil {
		return err
	}
	err := s.Store.InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
		if err := work(ctx, &brokenTx{tx.(transaction), s}); err != nil {
			return err
		}
		return s.step("commit")
	})
	if err == nil {
		err = s.step("after the commit")
	}
	return err
}

// withoutTransactions hides the transactions of a store.
func withoutTransactions(_ *webauthn.SignUpOptions, c *core.Config) {
	s, _ := c.Store.(*brokenStore)
	c.Store = struct{ transaction }{s}
}

// transaction is the store of a transaction.
type transaction interface {
	core.Store
	store.RecordStore
	store.AuthenticatorStore
	store.SessionStore
	store.AccountStore
	store.SessionLister
	store.UserDeleter
}

type brokenTx struct {
	transaction
	s *brokenStore
}

func (x *brokenTx) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	if err := x.s.step("DeleteRecord " + kind); err != nil {
		return nil, err
	}
	return x.transaction.DeleteRecord(ctx, kind, key)
}

func (x *brokenTx) CreateUser(ctx context.Context, u *core.User) (*core.User, error) {
	if err := x.s.step("CreateUser"); err != nil {
		return nil, err
	}
	return x.transaction.CreateUser(ctx, u)
}

func (x *brokenTx) LinkAccount(ctx context.Context, a *core.Account) error {
	if err := x.s.step("LinkAccount"); err != nil {
		return err
	}
	return x.transaction.LinkAccount(ctx, a)
}

func (x *brokenTx) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	if err := x.s.step("CreateAuthenticator"); err != nil {
		return err
	}
	return x.transaction.CreateAuthenticator(ctx, a)
}

// postbox is a Mailer that keeps emails. It may fail.
type postbox struct {
	mu    sync.Mutex
	all   []core.Email
	fails error
}

func (p *postbox) Send(_ context.Context, e core.Email) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails == nil {
		p.all = append(p.all, e)
	}
	return p.fails
}

func (p *postbox) to(address string) (all []core.Email) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.all {
		if e.To == address {
			all = append(all, e)
		}
	}
	return all
}

// signUpSite is a site on which users sign up with a passkey, in one or several processes.
type signUpSite struct {
	t      testing.TB
	auths  []*core.Auth
	store  *brokenStore
	mails  *postbox
	mu     sync.Mutex
	now    time.Time
	log    bytes.Buffer
	events []string // of core.Events and audit events, in order
	keys   int
}

func (s *signUpSite) Now() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now }

func (s *signUpSite) wait(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.now = s.now.Add(d) }

func (s *signUpSite) note(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, text)
	return nil
}

// Write implements io.Writer for the log.
func (s *signUpSite) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(line)
}

// took returns the events since the last call.
func (s *signUpSite) took() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := strings.Join(s.events, ", ")
	s.events = nil
	return all
}

// newSignUpSite returns a site with two processes.
func newSignUpSite(t testing.TB, change ...func(*webauthn.SignUpOptions, *core.Config)) *signUpSite {
	t.Helper()
	s := &signUpSite{
		t: t, store: &brokenStore{Store: memory.New()}, mails: &postbox{}, now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	for range 2 {
		o := webauthn.SignUpOptions{Mail: s.mails}
		c := core.Config{
			URL: origin, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: s.store,
			EnableWebAuthn: true, Getenv: func(string) string { return "" }, Now: s.Now, CleanUp: core.False,
			InsecureNoLimits: true, Mail: core.MailConfig{Retries: []time.Duration{0}},
			Logger: slog.New(slog.NewTextHandler(s, nil)),
			Events: core.Events{
				CreateUser: func(_ context.Context, e core.UserEvent) error { return s.note("created " + e.User.Email) },
				UpdateUser: func(_ context.Context, e core.UserEvent) error { return s.note("updated " + e.User.Email) },
				LinkAccount: func(_ context.Context, e core.LinkAccountEvent) error {
					return s.note("linked " + e.Account.Provider + " " + string(e.Account.Type))
				},
				SignIn: func(_ context.Context, e core.SignInEvent) error {
					return s.note("signed in " + e.Account.Provider + map[bool]string{true: " new"}[e.NewUser])
				},
			},
			Audit: func(_ context.Context, e audit.Event) {
				text := string(e.Name) + " " + string(e.Outcome)
				if e.Reason != "" {
					text += " " + string(e.Reason)
				}
				_ = s.note(text)
			},
		}
		for _, f := range change {
			f(&o, &c)
		}
		c.Providers = append([]core.Provider{webauthn.WithSignUp(nil, o)}, c.Providers...)
		auth, err := core.New(c)
		if err != nil {
			t.Fatal(err)
		}
		s.auths = append(s.auths, auth)
		t.Cleanup(func() { s.flush() })
	}
	return s
}

func (s *signUpSite) flush() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, auth := range s.auths {
		if err := auth.FlushMail(ctx); err != nil {
			s.t.Error(err)
		}
	}
}

// newest returns the newest email to an address, and checks its kind.
func (s *signUpSite) newest(to string, kind mailkind.Kind) core.Email {
	s.t.Helper()
	s.flush()
	all := s.mails.to(to)
	if len(all) == 0 || all[len(all)-1].Kind != kind {
		s.t.Fatalf("emails to %s: %v, want one of kind %s", to, all, kind)
	}
	return all[len(all)-1]
}

// user returns the user with an address, or nil.
func (s *signUpSite) user(email string) *core.User {
	s.t.Helper()
	user, err := s.store.Store.UserByEmail(context.Background(), email)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		s.t.Fatal(err)
	}
	return user
}

// person is a browser of a site.
type person struct {
	*signUpSite
	auth    *core.Auth
	cookies map[string]string
	accept  string
}

// person returns a browser that requests pages.
func (s *signUpSite) person() *person {
	return &person{s, s.auths[0], map[string]string{}, "text/html"}
}

// program returns a client that requests JSON.
func (s *signUpSite) program() *person {
	p := s.person()
	p.accept = "application/json"
	return p
}

func (p *person) send(method, target string, form url.Values) *core.Response {
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{"app.example"}, Scheme: "https", RemoteAddr: "192.0.2.1:1",
		Header: http.Header{"Accept": {p.accept}},
	}
	var pairs []string
	for name, value := range p.cookies {
		pairs = append(pairs, name+"="+value)
	}
	if slices.Sort(pairs); len(pairs) > 0 {
		r.Header.Set("Cookie", strings.Join(pairs, "; "))
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = strings.NewReader(form.Encode())
	}
	answer := p.auth.Handle(context.Background(), r)
	for _, c := range answer.Cookies {
		if p.cookies[c.Name] = c.Value; c.HasMaxAge && c.MaxAge <= 0 || c.Value == "" {
			delete(p.cookies, c.Name)
		}
	}
	return answer
}

// get requests a path below the base path, or a URL of the site.
func (p *person) get(path string) *core.Response {
	return p.send("GET", "/auth/"+strings.TrimPrefix(path, origin+"/auth/"), nil)
}

// read decodes the JSON of a GET.
func (p *person) read(path string, v any) *core.Response {
	accept := p.accept
	defer func() { p.accept = accept }()
	p.accept = "application/json"
	r := p.get(path)
	_ = json.Unmarshal(r.Body, v)
	return r
}

func (p *person) post(path string, fields ...string) *core.Response {
	var csrf struct{ CSRFToken string }
	p.read("csrf", &csrf)
	form := url.Values{"csrfToken": {csrf.CSRFToken}}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return p.send("POST", "/auth/"+path, form)
}

// session returns the address of the browser's session, or "".
func (p *person) session() string {
	var s struct{ User struct{ Email string } }
	p.read("session", &s)
	return s.User.Email
}

// start requests the email of a sign-up, and returns its link.
func (p *person) start(email string) string {
	p.t.Helper()
	if r := p.post("passkey/sign-up", "email", email); r.Redirect != origin+"/auth/passkey/sent" && r.Status != 202 {
		p.t.Fatalf("sign-up: %d %s %.300s %v", r.Status, r.Redirect, r.Body, r.Err)
	}
	return string(p.newest(email, mailkind.VerifyPasskey).URL)
}

// open opens a link, and reports whether the page that creates the passkey follows.
func (p *person) open(link string) bool {
	p.t.Helper()
	r := p.get(link)
	return r.Redirect == origin+"/auth/passkey/create" || strings.Contains(string(r.Body), "/passkey/create")
}

// signUpState is the response of GET passkey/create.
type signUpState struct {
	Email, Link, Code string
	OtherBrowser      bool
}

func (p *person) state() (s signUpState) {
	p.read("passkey/create", &s)
	return s
}

// registration is the response of GET passkey/options.
type registration struct {
	Action, Code string
	Options      struct {
		Challenge string
		User      struct{ ID, Name, DisplayName string }
		RP        struct{ ID string }
		Selection struct{ ResidentKey, UserVerification string } `json:"authenticatorSelection"`
	}
}

func (p *person) options() (o registration) {
	p.t.Helper()
	p.read("passkey/options?link="+p.state().Link, &o)
	return o
}

// answer returns a response of a new passkey to options.
func (p *person) answer(o registration, change ...func(*authenticator.Ceremony)) string {
	p.mu.Lock()
	p.keys++
	id := "key-" + string(rune('a'+p.keys))
	p.mu.Unlock()
	x := authenticator.Ceremony{Challenge: o.Options.Challenge, Origin: origin, RPID: "app.example"}
	for _, f := range change {
		f(&x)
	}
	return authenticator.New(id).Register(x)
}

// create creates a passkey for the sign-up whose link was opened.
func (p *person) create(change ...func(*authenticator.Ceremony)) *core.Response {
	p.t.Helper()
	link := p.state().Link
	return p.post("passkey/create", "link", link, "action", "register", "data", p.answer(p.options(), change...))
}

// code returns the member code of a problem document.
func code(r *core.Response) string {
	var problem struct{ Code string }
	_ = json.Unmarshal(r.Body, &problem)
	return problem.Code
}
