package core_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

const testSecret = "a-secret-of-more-than-thirty-two-bytes"

// start is the initial time of the test clock.
var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// clock is a clock that tests control.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: start} }

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) Advance(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

// counter is a deterministic source of randomness: hashes of a counter.
type counter struct {
	mu sync.Mutex
	n  uint64
}

func (c *counter) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := 0; i < len(p); {
		c.n++
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, c.n))
		i += copy(p[i:], sum[:])
	}
	return len(p), nil
}

// handler is an Auth, or an app around one.
type handler interface {
	Handle(ctx context.Context, r *core.Request) *core.Response
	Visit(ctx context.Context, r *core.Request) *core.Visit
}

// browser is a client with cookies that calls an Auth without a network.
type browser struct {
	t       *testing.T
	auth    handler
	origin  string
	cookies map[string]string
	none    map[string]bool // the SameSite=None cookies, the only ones in a cross-site POST
	header  http.Header
	peer    string // the address of its connections
	limit   int    // the router's request header limit
	// fields are in every form of its page, and set has the cookies as the last responses set them.
	fields  url.Values
	set     map[string]core.Cookie
	hasPage bool // it has a page and requests no other one while its CSRF cookie is valid
}

// plainOAuth returns an OAuth provider that receives no requests.
func plainOAuth() *core.OAuthProvider {
	return &core.OAuthProvider{
		ID: "plain", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
		Authorization: core.Endpoint{URL: "https://op.example/authorize"},
		Token:         core.Endpoint{URL: "https://op.example/token"},
		Userinfo:      core.Endpoint{URL: "https://op.example/userinfo"},
	}
}

// app is an Auth under test with its clock and its log.
type app struct {
	*core.Auth
	clock *clock
	log   *bytes.Buffer
}

func newApp(t *testing.T, config core.Config) *app {
	t.Helper()
	a := &app{clock: newClock(), log: &bytes.Buffer{}}
	if config.Secrets == nil {
		config.Secrets = []core.Secret{testSecret}
	}
	if config.URL == "" && config.TrustHost == core.Default && config.TrustedHosts == nil {
		config.URL = "https://app.test"
	}
	if config.Now == nil {
		config.Now = a.clock.Now
	}
	if config.Rand == nil {
		config.Rand = &counter{}
	}
	config.Getenv = func(string) string { return "" }
	config.Logger = slog.New(slog.NewTextHandler(&lockedWriter{w: a.log}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	auth, err := core.New(config)
	if err != nil {
		t.Fatal(err)
	}
	a.Auth = auth
	return a
}

type lockedWriter struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func visit(t *testing.T, a handler) *browser {
	return &browser{
		t: t, auth: a, origin: "https://app.test", cookies: map[string]string{}, none: map[string]bool{},
		header: http.Header{}, set: map[string]core.Cookie{},
		peer: "192.0.2.1:1234",
	}
}

func (b *browser) get(target string) *core.Response { return b.send("GET", target, "", "") }

func (b *browser) post(target string, fields url.Values) *core.Response {
	return b.send("POST", target, "application/x-www-form-urlencoded", fields.Encode())
}

// submit posts a form with the CSRF token of its page.
func (b *browser) submit(target string, fields url.Values) *core.Response {
	b.t.Helper()
	form := url.Values{"csrfToken": {b.csrf()}}
	maps.Copy(form, b.fields)
	for k, v := range fields {
		form[k] = v
	}
	return b.post(target, form)
}

// csrf returns the token of a page.
func (b *browser) csrf() string {
	b.t.Helper()
	if token, _, ok := strings.Cut(b.cookies["__Host-authjs.csrf-token"], "|"); ok && b.hasPage {
		return token
	}
	body := string(b.get("/auth/csrf").Body)
	_, rest, _ := strings.Cut(body, `"csrfToken":"`)
	token, _, ok := strings.Cut(rest, `"`)
	if !ok {
		b.t.Fatalf("GET csrf responded %s", body)
	}
	return token
}

func (b *browser) request(method, target, contentType, body string) *core.Request {
	scheme, host, _ := strings.Cut(b.origin, "://")
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{host}, Scheme: scheme, RemoteAddr: b.peer, Header: b.header.Clone(),
		HeaderLimit: b.limit,
	}
	var pairs []string
	for name, value := range b.cookies {
		pairs = append(pairs, name+"="+url.QueryEscape(value))
	}
	if len(pairs) > 0 {
		r.Header.Set("Cookie", strings.Join(pairs, "; "))
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
		r.Body = strings.NewReader(body)
	}
	return r
}

func (b *browser) send(method, target, contentType, body string) *core.Response {
	b.t.Helper()
	response := b.auth.Handle(context.Background(), b.request(method, target, contentType, body))
	for _, c := range response.Cookies {
		b.keep(c)
	}
	return response
}

// answerOf returns the header fields that a visit adds to its response.
func answerOf(v *core.Visit) http.Header {
	h := http.Header{}
	v.Commit(h)
	return h
}

// take stores the cookies in the header of a page.
func (b *browser) take(h http.Header) {
	for _, line := range h["Set-Cookie"] {
		c, err := http.ParseSetCookie(line)
		if err != nil {
			b.t.Fatal(err)
		}
		value, err := url.PathUnescape(c.Value)
		if err != nil {
			b.t.Fatal(err)
		}
		b.keep(core.Cookie{
			Name: c.Name, Value: value, HasMaxAge: c.MaxAge != 0, MaxAge: max(c.MaxAge, 0), Expires: c.Expires,
		})
	}
}

func (b *browser) keep(c core.Cookie) {
	if c.HasMaxAge && c.MaxAge <= 0 {
		delete(b.cookies, c.Name)
		return
	}
	b.cookies[c.Name] = c.Value
	if b.set != nil {
		b.set[c.Name] = c
	}
	if b.none != nil {
		b.none[c.Name] = c.SameSite == "None"
	}
}

func payloads[T any](t *testing.T, name string) []T {
	t.Helper()
	raw, err := os.ReadFile("testdata/attacks/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Payloads []T }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Payloads) == 0 {
		t.Fatalf("no payloads in %s", name)
	}
	return file.Payloads
}

const sessionCookie = "__Secure-authjs.session-token"

// actions are all requests to the actions of core.
var actions = []struct{ method, path string }{
	{"GET", "session"}, {"GET", "csrf"}, {"GET", "providers"}, {"GET", "signin"}, {"GET", "signout"}, {"GET", "error"},
	{"GET", "verify-request"}, {"GET", "callback/op"}, {"GET", "callback/credentials"},
	{"POST", "callback/op"}, {"POST", "callback/credentials"}, {"POST", "signin"},
	{"POST", "signin/op"}, {"POST", "signout"}, {"POST", "session"},
}
