package password_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// The passwords of the tests.
const (
	good   = "violet otter ladder"
	better = "seven quiet lanterns"
	evil   = "mallory knows this one"
)

// usualCost has all defaults, for tests of hashes.
var usualCost = password.Params{Threads: 1}

// postbox is a Mailer that stores emails.
type postbox struct {
	mu     sync.Mutex
	emails []core.Email
	fails  error
	failed int           // failed emails
	panics bool          // panics with the link
	holds  chan struct{} // if set, emails are delivered after it is closed
	held   chan struct{} // receives a value for each waiting email
}

func (p *postbox) Send(ctx context.Context, l core.Email) error {
	p.mu.Lock()
	holds, held, fails, panics := p.holds, p.held, p.fails, p.panics
	p.mu.Unlock()
	if panics {
		panic(string(l.URL))
	}
	if holds != nil {
		held <- struct{}{}
		select {
		case <-holds:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if fails != nil {
		p.failed++
		return fails
	}
	p.emails = append(p.emails, l)
	return nil
}

// hold delays emails until release.
func (p *postbox) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holds, p.held = make(chan struct{}), make(chan struct{}, 1000)
}

func (p *postbox) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.holds)
	p.holds = nil
}

// world is a site with passwords, its store, mailbox, clock and log.
type world struct {
	t        testing.TB
	auth     *core.Auth
	provider *password.Provider
	store    *troubled
	post     *postbox
	mu       sync.Mutex
	now      time.Time
	log      *safeBuffer
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (w *world) Now() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now }

func (w *world) advance(d time.Duration) { w.mu.Lock(); defer w.mu.Unlock(); w.now = w.now.Add(d) }

// site returns a site with cheap hashes, except in benchmarks and if Options.Hash is set. change may change the options
// and the configuration.
func site(t testing.TB, change ...func(o *password.Options, c *core.Config)) *world {
	t.Helper()
	w := &world{t: t, store: &troubled{Store: memory.New()}, post: &postbox{}, log: &safeBuffer{},
		now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	o := password.Options{Mail: w.post}
	c := core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test", Store: w.store,
		Session: core.SessionConfig{Strategy: core.StrategyDatabase}, Now: w.Now, InsecureNoLimits: true,
		Mail:   core.MailConfig{Retries: []time.Duration{0, 0}}, // three attempts without waiting
		Getenv: func(string) string { return "" }, CleanUp: core.False,
		Logger: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, alter := range change {
		alter(&o, &c)
	}
	if _, measures := t.(*testing.B); o.Hash == (password.Params{}) && !measures {
		o.Hash = password.Params{Memory: 64}
	}
	w.provider = password.New(o)
	c.Providers = append(c.Providers, w.provider)
	auth, err := core.New(c)
	if err != nil {
		t.Fatal(err)
	}
	w.auth = auth
	t.Cleanup(func() { w.flush() })
	return w
}

func (w *world) flush() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := w.provider.Flush(ctx); err != nil {
		w.t.Errorf("emails are not sent: %v", err)
	}
}

// emailsTo returns the emails to an address, oldest first.
func (w *world) emailsTo(to string) []core.Email {
	w.t.Helper()
	w.flush()
	w.post.mu.Lock()
	defer w.post.mu.Unlock()
	var out []core.Email
	for _, l := range w.post.emails {
		if l.To == to {
			out = append(out, l)
		}
	}
	return out
}

// newestEmail returns the newest email of a kind to an address. Security notices may be sent before or after other
// emails.
func (w *world) newestEmail(to string, kind mailkind.Kind) core.Email {
	w.t.Helper()
	all := w.emailsTo(to)
	for _, l := range slices.Backward(all) {
		if l.Kind == kind {
			return l
		}
	}
	w.t.Fatalf("emails to %s: %v, want one of kind %s", to, all, kind)
	return core.Email{}
}

// token returns the token in the link of an email.
func token(t testing.TB, l core.Email) string {
	t.Helper()
	u, err := url.Parse(string(l.URL))
	if err != nil || u.Query().Get("token") == "" {
		t.Fatal("an email without a token")
	}
	return u.Query().Get("token")
}

// user returns the user with an address, or nil.
func (w *world) user(email string) *core.User {
	w.t.Helper()
	user, err := w.store.Store.UserByEmail(w.t.Context(), email)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		w.t.Fatal(err)
	}
	return user
}

// browser is a client with cookies.
type browser struct {
	t       testing.TB
	auth    *core.Auth
	mu      sync.Mutex
	cookies map[string]string
	accept  string
	from    string // the client's address; the default is 192.0.2.1
}

// visit returns a browser that requests JSON, page one that requests pages.
func (w *world) visit() *browser {
	return &browser{t: w.t, auth: w.auth, cookies: map[string]string{}, accept: "application/json"}
}

func (w *world) person() *browser {
	b := w.visit()
	b.accept = "text/html"
	return b
}

func (b *browser) send(method, target, contentType, body string) *core.Response {
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{"app.test"}, Scheme: "https", RemoteAddr: "192.0.2.1:1",
		Header: http.Header{"Accept": {b.accept}},
	}
	if b.from != "" {
		r.RemoteAddr = b.from
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
		r.Body = strings.NewReader(body)
	}
	b.mu.Lock()
	for name, value := range b.cookies {
		r.Header.Add("Cookie", name+"="+value)
	}
	if all := r.Header["Cookie"]; len(all) > 0 {
		r.Header.Set("Cookie", strings.Join(all, "; "))
	}
	b.mu.Unlock()
	answer := b.auth.Handle(context.Background(), r)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range answer.Cookies {
		if c.HasMaxAge && c.MaxAge <= 0 || c.Value == "" {
			delete(b.cookies, c.Name)
			continue
		}
		b.cookies[c.Name] = c.Value
	}
	return answer
}

func (b *browser) get(target string) *core.Response { return b.send("GET", target, "", "") }

// csrf returns the CSRF token of the browser.
func (b *browser) csrf() string {
	accept := b.accept
	b.accept = "application/json"
	defer func() { b.accept = accept }()
	var answer struct{ CSRFToken string }
	if err := json.Unmarshal(b.get("/auth/csrf").Body, &answer); err != nil {
		b.t.Error(err)
	}
	return answer.CSRFToken
}

// post sends a form. fields are names and values.
func (b *browser) post(action string, fields ...string) *core.Response {
	form := url.Values{"csrfToken": {b.csrf()}}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return b.send("POST", "/auth/"+action, "application/x-www-form-urlencoded", form.Encode())
}

// session returns the email address of the browser's session, or "".
func (b *browser) session() string {
	accept := b.accept
	b.accept = "application/json"
	defer func() { b.accept = accept }()
	var answer struct{ User struct{ Email string } }
	_ = json.Unmarshal(b.get("/auth/session").Body, &answer)
	return answer.User.Email
}

// says checks the status of a response, and its code or next step.
func says(t testing.TB, r *core.Response, status int, word string) {
	t.Helper()
	var answer struct{ Code, Next string }
	_ = json.Unmarshal(r.Body, &answer)
	if r.Status != status || answer.Code+answer.Next != word {
		t.Errorf("answered %d %q (%.300s), want %d %q; %v", r.Status, answer.Code+answer.Next, r.Body, status, word, r.Err)
	}
}

// signUp signs up and confirms in one browser.
func (w *world) signUp(email, secret string) *browser {
	w.t.Helper()
	b := w.visit()
	says(w.t, b.post("password/sign-up", "email", email, "password", secret), 202, "mail")
	r := b.post("password/confirm", "token", token(w.t, w.newestEmail(email, mailkind.Verify)))
	if b.session() != email {
		w.t.Fatalf("no session after the confirmation: %d %s, %v", r.Status, r.Body, r.Err)
	}
	return b
}

// signIn tries to sign in with a new browser, and returns the address of its session.
func (w *world) signIn(email, secret string) string {
	w.t.Helper()
	b := w.visit()
	r := b.post("callback/password", "email", email, "password", secret)
	who := b.session()
	if who == "" && !strings.Contains(string(r.Body), `"code":"credentials","error":"CredentialsSignin"`) {
		w.t.Errorf("refused with %d %s %s, %v", r.Status, r.Redirect, r.Body, r.Err)
	}
	return who
}

// forgot requests a reset and returns the token in the email.
func (w *world) forgot(email string) string {
	w.t.Helper()
	says(w.t, w.visit().post("password/forgot", "email", email), 202, "mail")
	return token(w.t, w.newestEmail(email, mailkind.Reset))
}

// open opens a reset link in a new browser.
func (w *world) open(token string) *browser {
	w.t.Helper()
	b := w.visit()
	r := b.get("/auth/password/reset?token=" + token)
	if r.Status != 200 || strings.Contains(string(r.Body)+r.Redirect, token) ||
		!regexp.MustCompile(`"url":"[^"]+/password/reset"`).Match(r.Body) {
		w.t.Errorf("the link is answered %d %s%s", r.Status, r.Redirect, r.Body)
	}
	return b
}

// clean fails the test if the log contains one of these texts.
func (w *world) clean(secrets ...string) {
	w.t.Helper()
	w.flush()
	for _, secret := range secrets {
		if strings.Contains(w.log.String(), secret) {
			w.t.Errorf("the log holds %q: %s", secret, w.log)
		}
	}
}
