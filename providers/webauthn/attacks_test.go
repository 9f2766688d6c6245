package webauthn_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authenticator"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// payload is a malicious response. Unknown members fail the test.
type payload struct {
	ID, Ceremony, Want, Why string
	Patch                   map[string]any
	Sign                    string
	Counter                 []uint32
	Config                  map[string]string
	Steps                   []string
	SignedIn                string `json:"signed_in"`
	Cookie                  string
	WaitMin                 int `json:"wait_min"`
	Replay                  string
	Expect                  string
	Bodies, Actions         []string
	Setup                   string
}

const (
	origin  = "https://app.example"
	session = "__Secure-authjs.session-token"
	pending = "__Secure-authjs.challenge"
)

// house is a site with two users, u1 and u2, who have a passkey each.
type house struct {
	t     *testing.T
	auth  *core.Auth
	store *faultyStore
	now   time.Time
	keys  map[string]*authenticator.Credential
	log   bytes.Buffer
}

// faultyStore fails when a test requests it.
type faultyStore struct {
	*memory.Store
	failCounter bool
}

func (s *faultyStore) UpdateAuthenticatorCounter(ctx context.Context, id string, counter uint32) error {
	if s.failCounter {
		return errors.New("connection refused")
	}
	return s.Store.UpdateAuthenticatorCounter(ctx, id, counter)
}

func newHouse(t *testing.T, stored uint32) *house {
	t.Helper()
	h := &house{
		t: t, store: &faultyStore{Store: memory.New()}, now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC),
		keys: map[string]*authenticator.Credential{},
	}
	provider := webauthn.Passkey()
	provider.InsecureTypedEmail = true // the tests identify users by their addresses
	auth, err := core.New(core.Config{
		URL: origin, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Providers: []core.Provider{provider}, Store: h.store,
		EnableWebAuthn: true, Getenv: func(string) string { return "" }, Now: func() time.Time { return h.now },
		Logger: slog.New(slog.NewTextHandler(&h.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.auth = auth
	for _, n := range []string{"1", "2"} {
		key := authenticator.New("c" + n)
		h.keys["c"+n] = key
		id := base64.StdEncoding.EncodeToString(key.ID)
		user, err := h.store.CreateUser(t.Context(), &core.User{ID: "u" + n, Email: "u" + n + "@app.example"})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{
			h.store.LinkAccount(t.Context(), &core.Account{
				UserID: user.ID, Type: core.TypeWebAuthn, Provider: "passkey", ProviderAccountID: id,
			}),
			h.store.CreateAuthenticator(t.Context(), &store.Authenticator{
				CredentialID: id, UserID: user.ID, ProviderAccountID: id, Counter: stored,
				CredentialPublicKey: base64.StdEncoding.EncodeToString(key.PublicKey()),
			}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return h
}

// browser is a client with cookies.
type browser struct {
	*house
	cookies map[string]string
}

func (h *house) browser() *browser { return &browser{h, map[string]string{}} }

// signedIn returns a browser with a session of the user.
func (h *house) signedIn(user string) *browser {
	b := h.browser()
	stored, err := h.store.UserByEmail(h.t.Context(), user+"@app.example")
	if err != nil {
		h.t.Fatal(err)
	}
	cookies, err := h.auth.NewSession(h.t.Context(), b.request("GET", "/", nil), stored)
	if err != nil {
		h.t.Fatal(err)
	}
	b.keep(cookies)
	return b
}

func (b *browser) request(method, target string, form url.Values) *core.Request {
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{"app.example"}, Scheme: "https",
		Header: http.Header{"Origin": {origin}},
	}
	var pairs []string
	for name, value := range b.cookies {
		pairs = append(pairs, name+"="+url.QueryEscape(value))
	}
	if len(pairs) > 0 {
		r.Header.Set("Cookie", strings.Join(pairs, "; "))
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body = strings.NewReader(form.Encode())
	}
	return r
}

func (b *browser) keep(cookies []core.Cookie) {
	for _, c := range cookies {
		if c.HasMaxAge && c.MaxAge == 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c.Value
		}
	}
}

func (b *browser) send(r *core.Request) *core.Response {
	response := b.auth.Handle(b.t.Context(), r)
	b.keep(response.Cookies)
	return response
}

// options requests a challenge.
func (b *browser) options(query string) (challenge string, status int) {
	response := b.send(b.request("GET", "/auth/webauthn-options/passkey?"+query, nil))
	var body struct{ Options struct{ Challenge string } }
	_ = json.Unmarshal(response.Body, &body)
	return body.Options.Challenge, response.Status
}

func (b *browser) answer(action, data string) *core.Response {
	return b.send(b.request("POST", "/auth/callback/passkey", url.Values{"action": {action}, "data": {data}}))
}

// who returns the signed-in user.
func (b *browser) who() string {
	_, user, err := b.store.SessionAndUser(b.t.Context(), b.cookies[session])
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(user.Email, "@")
	return name
}

func (h *house) counter(key string) uint32 {
	a, err := h.store.Authenticator(h.t.Context(), base64.StdEncoding.EncodeToString(h.keys[key].ID))
	if err != nil {
		return 0
	}
	return a.Counter
}

// patched applies a patch to a valid ceremony.
func (h *house) patched(x authenticator.Ceremony, patch map[string]any) authenticator.Ceremony {
	for where, v := range patch {
		text, _ := v.(string)
		switch where {
		case "clientData.type":
			x.Type = text
		case "clientData.challenge":
			x.Challenge = text
		case "clientData.origin":
			x.Origin = text
		case "clientData.crossOrigin":
			x.CrossOrigin = v == true
		case "clientData":
			x.ClientData = func(b []byte) []byte { return append(b[:len(b)-1], []byte(`,"extra":1}`)...) }
		case "authData.rpIdHash":
			x.RPID = strings.TrimSuffix(strings.TrimPrefix(text, "sha256("), ")")
		case "authData.flags.UP":
			x.Flags = authenticator.UserVerified
		case "authData.flags.UV":
			x.Flags = authenticator.UserPresent
		case "authData.flags.BE/BS":
			x.Flags = authenticator.UserPresent | authenticator.UserVerified | authenticator.BackupState
		case "signature":
			switch text {
			case "flip a bit":
				x.Signature = func(s []byte) []byte { s[len(s)-1] ^= 1; return s }
			case "":
				x.Signature = func([]byte) []byte { return nil }
			case "signed by c2's key":
				x.SignedBy = h.keys["c2"]
			default:
				h.t.Fatalf("unknown signature patch %q", text)
			}
		case "id":
			if x.ID = []byte(text); text == "random" {
				x.ID = []byte("nobody's credential")
			}
		case "userHandle":
			x.UserHandle = []byte(text)
		case "body.email":
		default:
			h.t.Fatalf("unknown patch %q", where)
		}
	}
	return x
}

// TestHostileResponses sends the payloads of testdata/webauthn.json.
func TestHostileResponses(t *testing.T) {
	raw, err := os.ReadFile("testdata/webauthn.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Area, How string
		Rows      []string
		Payloads  []payload
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil || len(file.Payloads) == 0 {
		t.Fatalf("%d payloads, %v", len(file.Payloads), err)
	}
	for _, p := range file.Payloads {
		t.Run(p.ID, func(t *testing.T) { play(t, p) })
	}
}

func play(t *testing.T, p payload) {
	stored, counter := uint32(0), uint32(0)
	if p.Ceremony == "authenticate" {
		counter = 1
	}
	if p.Counter != nil {
		stored, counter = p.Counter[0], p.Counter[1]
	}
	h := newHouse(t, stored)
	b, query, key := h.browser(), "action=authenticate", h.keys["c1"]
	if p.Ceremony == "register" {
		query, key = "action=register&email=new%40app.example", authenticator.New("c3")
	}
	wantUser := map[string]string{"accept": "u1", "signed in as u1": "u1"}[p.Want]
	if p.Ceremony == "register" && wantUser != "" {
		wantUser = "new"
	}
	if p.SignedIn != "" {
		b, wantUser = h.signedIn(p.SignedIn), p.SignedIn // this session must continue
	}
	switch strings.Join(p.Steps, ", ") {
	case "":
	case "options email=u1, answer with c2":
		query, key = "action=authenticate&email=u1%40app.example", h.keys["c2"]
	case "u1 options, u2 answer":
		b, query, wantUser = h.signedIn("u1"), "action=register", "u2"
	case "options action=register email=u1":
		if _, status := b.options("action=register&email=u1%40app.example"); status != http.StatusBadRequest {
			t.Errorf("options answered %d, want 400", status)
		}
		return
	default:
		t.Fatalf("unknown steps %v", p.Steps)
	}
	if p.Setup == "delete u1, keep c1" {
		h.deleteUserKeepPasskey("u1")
	}
	challenge, status := b.options(query)
	if status != http.StatusOK || challenge == "" {
		t.Fatalf("options answered %d", status)
	}
	if p.Steps != nil && p.Steps[len(p.Steps)-1] == "u2 answer" {
		other := h.signedIn("u2")
		other.cookies[pending] = b.cookies[pending]
		b = other
	}
	h.store.failCounter = p.Setup == "updateAuthenticatorCounter fails"
	switch p.Cookie {
	case "":
	case "none":
		delete(b.cookies, pending)
	case "other":
		other := h.browser()
		other.options(query)
		b.cookies[pending] = other.cookies[pending]
	case "register":
		other := h.browser()
		challenge, _ = other.options("action=register&email=new%40app.example")
		b.cookies[pending] = other.cookies[pending]
	default:
		t.Fatalf("unknown cookie %q", p.Cookie)
	}
	h.now = h.now.Add(time.Duration(p.WaitMin) * time.Minute)

	genuine := authenticator.Ceremony{Challenge: challenge, Origin: origin, RPID: "app.example", Counter: counter}
	x := h.patched(genuine, p.Patch)
	data := key.Authenticate(x)
	if p.Ceremony == "register" {
		data = key.Register(x)
	}
	if p.Bodies != nil || p.Actions != nil {
		for _, body := range p.Bodies {
			h.refused(b, p, b.answer(p.Ceremony, body), "", stored)
		}
		for _, action := range p.Actions {
			h.refused(b, p, b.answer(action, data), "", stored)
		}
		return
	}
	before := *b
	before.cookies = map[string]string{pending: b.cookies[pending]}
	response := b.answer(p.Ceremony, data)
	if p.Replay != "" {
		if response.Err != nil {
			t.Fatalf("the first response failed: %v", response.Err)
		}
		if p.Replay == "no cookie" {
			before.cookies = map[string]string{}
		}
		again := h.browser()
		again.cookies = before.cookies
		h.refused(again, p, again.answer(p.Ceremony, data), "", counter)
		return
	}
	switch {
	case p.Expect == "the options' e-mail counts":
		if b.who() != "new" {
			t.Errorf("%s is signed in", b.who())
		}
	case p.Want == "accept" || p.Want == "signed in as u1":
		if response.Err != nil || b.who() != wantUser {
			t.Errorf("answered %q: %v; %q is signed in", response.Redirect, response.Err, b.who())
		}
	default:
		h.refused(b, p, response, wantUser, stored)
	}
}

// refused checks that a response changed nothing. user is the user who was signed in before.
func (h *house) refused(b *browser, p payload, response *core.Response, user string, counter uint32) {
	h.t.Helper()
	location, err := url.Parse(response.Redirect)
	if err != nil {
		h.t.Fatal(err)
	}
	allowed := []string{"WebAuthnVerificationError", "AccountNotLinked", "Configuration"}
	if response.Err == nil || !slices.Contains(allowed, location.Query().Get("error")) {
		h.t.Errorf("%s (%s): answered %d to %q, %v", p.ID, p.Why, response.Status, response.Redirect, response.Err)
	}
	if got := b.who(); got != user {
		h.t.Errorf("%s (%s): %q is signed in, want %q", p.ID, p.Why, got, user)
	}
	if p.Setup == "delete u1, keep c1" || p.SignedIn != "" {
		counter = h.counter("c1") // as in Auth.js, the counter of a valid response is stored before the user is looked up
	}
	if p.SignedIn != "" && !errors.Is(response.Err, core.ErrAccountNotLinked) {
		h.t.Errorf("%s (%s): %v", p.ID, p.Why, response.Err)
	}
	if got := h.counter("c1"); got != counter && p.Ceremony == "authenticate" {
		h.t.Errorf("%s (%s): the counter is %d, want %d", p.ID, p.Why, got, counter)
	}
	if p.Ceremony == "register" && p.Replay == "" {
		id := base64.StdEncoding.EncodeToString([]byte("c3"))
		if _, err := h.store.Authenticator(h.t.Context(), id); !errors.Is(err, core.ErrNotFound) {
			h.t.Errorf("%s (%s): a passkey was stored", p.ID, p.Why)
		}
	}
	if !strings.Contains(h.log.String(), "error.type=") {
		h.t.Errorf("%s (%s): nothing in the log", p.ID, p.Why)
	}
}

// deleteUserKeepPasskey leaves a passkey without its user, as a store without foreign keys would.
func (h *house) deleteUserKeepPasskey(user string) {
	u, err := h.store.UserByEmail(h.t.Context(), user+"@app.example")
	if err != nil {
		h.t.Fatal(err)
	}
	id := base64.StdEncoding.EncodeToString(h.keys["c1"].ID)
	kept, err := h.store.Authenticator(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	err = errors.Join(h.store.DeleteUser(h.t.Context(), u.ID), h.store.CreateAuthenticator(h.t.Context(), kept))
	if err != nil {
		h.t.Log(err) // also fine: the store deletes the passkey together with its user
	}
}

// TestConcurrentAssertions sends one response many times concurrently: one of the requests signs in.
func TestConcurrentAssertions(t *testing.T) {
	h := newHouse(t, 0)
	b := h.browser()
	challenge, _ := b.options("action=authenticate")
	data := h.keys["c1"].Authenticate(authenticator.Ceremony{
		Challenge: challenge, Origin: origin, RPID: "app.example", Counter: 0,
	})
	const n = 20
	results := make(chan error, n)
	for range n {
		r := b.request("POST", "/auth/callback/passkey", url.Values{"action": {"authenticate"}, "data": {data}})
		go func() { results <- h.auth.Handle(context.Background(), r).Err }()
	}
	good := 0
	for range n {
		if <-results == nil {
			good++
		}
	}
	if good != 1 {
		t.Errorf("%d of %d were signed in", good, n)
	}
}

// TestHideUsers: unauthenticated clients get the same responses for addresses with and without an account.
func TestHideUsers(t *testing.T) {
	h := newHouse(t, 0)
	provider := webauthn.Passkey()
	provider.HideUsers = true
	auth, err := core.New(core.Config{
		URL: origin, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Providers: []core.Provider{provider}, Store: h.store,
		EnableWebAuthn: true, Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.auth = auth
	shape := func(query string) string {
		response := h.auth.Handle(t.Context(), h.browser().request("GET", "/auth/webauthn-options/passkey?"+query, nil))
		var body struct {
			Action  string
			Options map[string]json.RawMessage
		}
		if err := json.Unmarshal(response.Body, &body); err != nil {
			t.Fatalf("%s: %s", query, response.Body)
		}
		for _, name := range []string{"challenge", "user"} {
			delete(body.Options, name)
		}
		return fmt.Sprintf("%d %s %s", response.Status, body.Action, body.Options)
	}
	for _, query := range []string{"email=", "action=authenticate&email=", "action=register&email="} {
		if known, unknown := shape(query+"u1%40app.example"), shape(query+"x@app.example"); known != unknown {
			t.Errorf("%s: known\n%s\nunknown\n%s", query, known, unknown)
		}
	}
	b := h.browser()
	challenge, _ := b.options("action=register&email=u1%40app.example")
	ceremony := authenticator.Ceremony{Challenge: challenge, Origin: origin, RPID: "app.example"}
	response := b.answer("register", authenticator.New("c9").Register(ceremony))
	if !errors.Is(response.Err, core.ErrAccountNotLinked) || b.who() != "" {
		t.Errorf("an attacker registered a passkey for u1: %v", response.Err)
	}
}

// TestRelyingPartyOfTheOrigin requests options with another Host header: passkeys are created for the configured site.
func TestRelyingPartyOfTheOrigin(t *testing.T) {
	h := newHouse(t, 0)
	for _, query := range []string{"action=authenticate", "action=register&email=new%40app.example"} {
		r := h.browser().request("GET", "/auth/webauthn-options/passkey?"+query, nil)
		r.Hosts = []string{"evil.example"}
		r.Header.Set("X-Forwarded-Host", "evil.example")
		response := h.auth.Handle(t.Context(), r)
		if text := string(response.Body); response.Status != http.StatusOK ||
			!strings.Contains(text, `"app.example"`) || strings.Contains(text, "evil") {
			t.Errorf("%s: answered %d: %s", query, response.Status, text)
		}
	}
}
