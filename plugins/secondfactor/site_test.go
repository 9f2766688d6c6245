package secondfactor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const (
	origin = "https://app.example"
	secret = "a-secret-of-more-than-thirty-two-bytes"
	ada    = "ada@example.com"
	eve    = "eve@example.com"
)

// site is an application with second factors, a store in memory and a clock that tests set.
type site struct {
	*testing.T
	auth    *core.Auth
	factors *secondfactor.Factors
	store   *memory.Store
	mails   *mailbox.Mailbox
	config  core.Config
	log     *logbook

	mu    sync.Mutex
	now   time.Time
	audit []audit.Event
}

// setup is the configuration of a site.
type setup struct {
	options   secondfactor.Options
	strategy  core.Strategy // the default is StrategyDatabase
	configure func(*core.Config)
}

func newSite(t *testing.T, how setup) *site {
	t.Helper()
	s := &site{
		T: t, store: memory.New(), mails: mailbox.New(), now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), log: &logbook{},
	}
	if how.strategy == "" {
		how.strategy = core.StrategyDatabase
	}
	s.factors = secondfactor.New(how.options)
	s.config = core.Config{
		URL: origin, Secrets: []core.Secret{secret}, Store: s.store, Getenv: func(string) string { return "" },
		Logger: slog.New(slog.NewTextHandler(s.log, nil)), Now: s.clock, HTTPClient: &http.Client{Transport: hub{}},
		Session: core.SessionConfig{Strategy: how.strategy}, Plugins: []core.Plugin{s.factors},
		Audit: func(_ context.Context, e audit.Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.audit = append(s.audit, e)
		},
		// One network sends all requests of a test, and its limit is tested elsewhere.
		Limits: core.Limits{Rates: map[limit.Attempt]limit.Rates{
			limit.AttemptCode: {
				Network: limit.Rate{Burst: 1000, Every: time.Second}, Identifier: limit.Rate{Burst: 1000, Every: time.Second},
				Visitor: limit.Rate{Burst: 999, Every: time.Second},
			},
		}},
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
		how.configure(&s.config)
	}
	s.auth = s.build(s.config)
	for _, email := range []string{ada, eve} {
		name, _, _ := strings.Cut(email, "@")
		s.must(s.store.CreateUser(t.Context(), &core.User{
			ID: name, Name: strings.ToUpper(name[:1]) + name[1:], Email: email, EmailVerified: s.now.Add(-time.Hour),
		}))
		s.must(s.store.LinkAccount(t.Context(), &core.Account{
			UserID: name, Type: core.TypeOAuth, Provider: "hub", ProviderAccountID: email,
		}))
	}
	return s
}

func (s *site) build(config core.Config) *core.Auth {
	s.Helper()
	auth, err := core.New(config)
	s.must(err)
	return auth
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

// told returns the audit events since the last call, such as "factor.checked refused ada".
func (s *site) told() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.audit {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Name, e.Outcome, e.UserID)))
	}
	s.audit = nil
	return all
}

// records returns the user's records of a kind.
func (s *site) records(userID, kind string) []*store.Record {
	s.Helper()
	all, err := s.store.UserRecords(s.Context(), userID, kind)
	s.must(err)
	return all
}

// hub is the transport to an OAuth provider. The authorization code is the access token, and both are the user's
// address.
type hub struct{}

// RoundTrip implements [http.RoundTripper].
func (hub) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := map[string]string{"token_type": "bearer"}
	if r.URL.Path == "/token" {
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		answer["access_token"] = r.PostForm.Get("code")
	} else {
		address := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		answer = map[string]string{"sub": address, "email": address}
	}
	body, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)),
	}, err
}

// browser stores cookies and follows no redirects.
type browser struct {
	*site
	auth    *core.Auth
	cookies map[string]string
	network string
}

// browse returns a browser without a session.
func (s *site) browse() *browser { return &browser{s, s.auth, map[string]string{}, "192.0.2.7"} }

// as returns a browser with a session of a user without a second factor.
func (s *site) as(email string) *browser {
	s.Helper()
	b := s.browse()
	if r := b.signIn(email); r.Redirect != origin {
		s.Fatalf("sign-in: %d %s %v", r.Status, r.Redirect, r.Err)
	}
	return b
}

// signIn signs in with a password.
func (b *browser) signIn(email string) *core.Response {
	b.Helper()
	return b.post("callback/credentials", url.Values{"email": {email}, "password": {"right"}})
}

func (b *browser) cookieHeader() string {
	var cookies []string
	for name, value := range b.cookies {
		cookies = append(cookies, name+"="+value)
	}
	return strings.Join(cookies, "; ")
}

func (b *browser) request(method, path, accept string, form url.Values) *core.Response {
	b.Helper()
	target := "/auth/" + path
	if rest, ok := strings.CutPrefix(path, origin); ok {
		target = rest
	}
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{"app.example"}, Scheme: "https",
		RemoteAddr: b.network + ":4711", Header: http.Header{"Accept": {accept}, "User-Agent": {"Firefox/140.0"}},
	}
	r.Header.Set("Cookie", b.cookieHeader())
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
func (b *browser) call(path string, fields ...string) *core.Response {
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return b.send(path, data, form)
}

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

// signedIn reports whether the browser has a session.
func (b *browser) signedIn() bool { return string(b.ask("session").Body) != "null" }

// held checks that a sign-in is pending and has no session.
func (b *browser) held(r *core.Response) {
	b.Helper()
	if r.Redirect != origin+"/auth/second-factor" || b.signedIn() {
		b.Fatalf("answered %d %s, signed in: %v (%v)", r.Status, r.Redirect, b.signedIn(), r.Err)
	}
}

// refused checks that a response is a problem document with this status and code.
func (b *browser) refused(r *core.Response, status int, code string) {
	b.Helper()
	var d struct{ Code string }
	if r.Status != status || json.Unmarshal(r.Body, &d) != nil || d.Code != code {
		b.Errorf("answered %d %s, want %d %s (%v)", r.Status, r.Body, status, code, r.Err)
	}
}

// fine checks the status of a response, and decodes its JSON body into v if v is not nil.
func (b *browser) fine(r *core.Response, status int, v any) {
	b.Helper()
	if r.Status != status || r.Err != nil {
		b.Fatalf("answered %d %s %s: %v", r.Status, r.Redirect, r.Body, r.Err)
	}
	if v != nil {
		b.must(json.Unmarshal(r.Body, v))
	}
}

// phone is an authenticator app.
type phone struct {
	*site
	secret string
	codes  []string // recovery codes
}

// code returns the code of the app, some time steps from now.
func (p *phone) code(steps int) string {
	p.Helper()
	return codeAt(p.T, p.secret, p.clock().Add(time.Duration(steps)*30*time.Second))
}

// enroll enrolls an authenticator app in a browser with a session.
func (b *browser) enroll(fields ...string) *phone {
	b.Helper()
	p := &phone{site: b.site}
	p.secret = b.newSecret()
	var made struct{ RecoveryCodes []string }
	b.fine(b.call("second-factor/enroll", append(fields, "code", p.code(0))...), http.StatusOK, &made)
	p.codes = made.RecoveryCodes
	return p
}

func (b *browser) newSecret() string {
	b.Helper()
	var started struct{ Secret, URI string }
	b.fine(b.ask("second-factor/enroll"), http.StatusOK, &started)
	return started.Secret
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

var hidden = regexp.MustCompile(`<code dir="ltr">([A-Z2-7 ]+)</code>`)
