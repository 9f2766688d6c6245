package account_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const origin = "https://app.example"

// site is an application with an account page, a store in memory and a clock that tests set.
type site struct {
	*testing.T
	auth  *core.Auth
	mine  *account.Account
	store *memory.Store
	mails *mailbox.Mailbox
	log   logbook
	audit []audit.Event

	mu  sync.Mutex
	now time.Time
}

// setup is the configuration of a site.
type setup struct {
	options   account.Options
	configure func(*core.Config)
	mails     core.Mailer // if nil, the mailbox
}

// ada has a password of the application, a verified address, and accounts at two providers.
const ada, eve = "ada@example.com", "eve@example.com"

func newSite(t *testing.T, how setup) *site {
	t.Helper()
	s := &site{T: t, store: memory.New(), mails: mailbox.New(), now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	if how.options.Mail == nil {
		how.options.Mail = s.mails
	}
	if how.mails != nil {
		how.options.Mail = how.mails
	}
	s.mine = account.New(how.options)
	config := core.Config{
		URL: origin, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: s.store,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.NewTextHandler(&s.log, nil)),
		Now:     s.clock,
		Session: core.SessionConfig{Strategy: core.StrategyDatabase}, Plugins: []core.Plugin{s.mine},
		Audit: func(_ context.Context, e audit.Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.audit = append(s.audit, e)
		},
		Providers: []core.Provider{
			&core.CredentialsProvider{Authorize: s.authorize},
			&core.EmailProvider{From: "no-reply@app.example", Send: s.mails.Send},
			&core.OAuthProvider{
				ID: "hub", Name: "Hub", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
				Authorization: core.Endpoint{URL: "https://hub.example/authorize"},
				Token:         core.Endpoint{URL: "https://hub.example/token"},
				Userinfo:      core.Endpoint{URL: "https://hub.example/user"},
			},
		},
	}
	if how.configure != nil {
		how.configure(&config)
	}
	var err error
	if s.auth, err = core.New(config); err != nil {
		t.Fatal(err)
	}
	for _, email := range []string{ada, eve} {
		name, _, _ := strings.Cut(email, "@")
		s.must(s.store.CreateUser(t.Context(), &core.User{
			ID: name, Name: strings.ToUpper(name[:1]) + name[1:], Email: email, EmailVerified: s.now.Add(-time.Hour),
		}))
		s.link(name, "hub", name+"-1")
	}
	return s
}

// must fails the test if one of the results is an error.
func (s *site) must(results ...any) {
	s.Helper()
	if err, _ := results[len(results)-1].(error); err != nil {
		s.Fatal(err)
	}
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

func (s *site) authorize(ctx context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
	if form["password"] != "right" {
		return nil, nil
	}
	return s.store.UserByEmail(ctx, form["email"])
}

func (s *site) link(userID, provider, id string) {
	s.Helper()
	s.must(s.store.LinkAccount(s.Context(), &core.Account{
		UserID: userID, Type: core.TypeOAuth, Provider: provider, ProviderAccountID: id, AccessToken: "top-secret-token",
	}))
}

func (s *site) user(id string) *core.User {
	s.Helper()
	u, err := s.store.User(s.Context(), id)
	s.must(err)
	return u
}

// sent returns all emails, including those that are sent in the background.
func (s *site) sent() []mailbox.Mail {
	s.Helper()
	s.must(s.auth.FlushMail(s.Context()))
	return s.mails.Mails()
}

// mail returns the newest email to an address.
func (s *site) mail(to string) mailbox.Mail {
	s.Helper()
	for _, m := range s.sent() {
		if m.To == to {
			return m
		}
	}
	s.Fatalf("no email to %s", to)
	return mailbox.Mail{}
}

// tokenIn returns the token in the link of an email.
func (s *site) tokenIn(m mailbox.Mail) string {
	s.Helper()
	u, err := url.Parse(m.URL)
	s.must(err)
	return u.Query().Get("token")
}

// told returns the audit events since the last call, such as "email.changed ok ada".
func (s *site) told() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.audit {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Name, e.Outcome, e.UserID)))
	}
	s.audit = nil
	return all
}

// browser stores cookies and follows no redirects.
type browser struct {
	*site
	cookies map[string]string
	agent   string
}

// browse returns a browser without a session.
func (s *site) browse() *browser {
	return &browser{s, map[string]string{}, "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"}
}

// as returns a browser with a session of the user.
func (s *site) as(email string) *browser {
	s.Helper()
	b := s.browse()
	b.signIn(email)
	return b
}

func (b *browser) signIn(email string) {
	b.Helper()
	r := b.post("callback/credentials", url.Values{"email": {email}, "password": {"right"}})
	if r.Status != http.StatusFound || r.Err != nil {
		b.Fatalf("sign-in: %d %v", r.Status, r.Err)
	}
}

func (b *browser) request(method, path, accept string, form url.Values) *core.Response {
	b.Helper()
	r := &core.Request{
		Method: method, Target: "/auth/" + path, Hosts: []string{"app.example"}, Scheme: "https",
		RemoteAddr: "192.0.2.7:4711", Header: http.Header{"Accept": {accept}, "User-Agent": {b.agent}},
	}
	for name, value := range b.cookies {
		r.Header["Cookie"] = append(r.Header["Cookie"], name+"="+value)
	}
	r.Header["Cookie"] = []string{strings.Join(r.Header["Cookie"], "; ")}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		r.Body = strings.NewReader(form.Encode())
	}
	response := b.auth.Handle(b.Context(), r)
	for _, c := range response.Cookies {
		if c.HasMaxAge && c.MaxAge <= 0 || !c.Expires.IsZero() && c.Expires.Before(b.clock()) {
			delete(b.cookies, c.Name)
			continue
		}
		parsed, err := http.ParseSetCookie(c.String())
		b.must(err)
		b.cookies[c.Name] = parsed.Value
	}
	return response
}

const (
	html = "text/html,application/xhtml+xml"
	data = "application/json"
)

// open requests a page, ask its data.
func (b *browser) open(path string) *core.Response { return b.request("GET", path, html, nil) }
func (b *browser) ask(path string) *core.Response  { return b.request("GET", path, data, nil) }

// post sends a form like a page, call like a program.
func (b *browser) post(path string, form url.Values) *core.Response { return b.send(path, html, form) }
func (b *browser) call(path string, form url.Values) *core.Response { return b.send(path, data, form) }

func (b *browser) send(path, accept string, form url.Values) *core.Response {
	b.Helper()
	var token struct{ CSRFToken string }
	b.must(json.Unmarshal(b.ask("csrf").Body, &token))
	own := url.Values{"csrfToken": {token.CSRFToken}}
	for name, values := range form {
		own[name] = values
	}
	return b.request("POST", path, accept, own)
}

// overview returns the user's account as data.
func (b *browser) overview() (o account.Overview) {
	b.Helper()
	r := b.ask("account")
	if r.Status != http.StatusOK {
		b.Fatalf("account: %d %s %v", r.Status, r.Body, r.Err)
	}
	b.must(json.Unmarshal(r.Body, &o))
	return o
}

// signedIn reports whether the browser has a session.
func (b *browser) signedIn() bool { return string(b.ask("session").Body) != "null" }

// refused checks that a response is a problem document with this status and code.
func (b *browser) refused(r *core.Response, status int, code string) {
	b.Helper()
	var d struct {
		Status int
		Code   string
	}
	if r.Status != status || json.Unmarshal(r.Body, &d) != nil || d.Code != code {
		b.Errorf("answered %d %s, want %d %s (%v)", r.Status, r.Body, status, code, r.Err)
	}
}

func (b *browser) fine(r *core.Response, status int) {
	b.Helper()
	if r.Status != status || r.Err != nil {
		b.Fatalf("answered %d %s: %v", r.Status, r.Body, r.Err)
	}
}

// logbook contains the log of the site.
type logbook struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
