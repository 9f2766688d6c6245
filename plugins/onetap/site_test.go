package onetap_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/plugins/guest"
	"github.com/latchkey-go/latchkey/plugins/onetap"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const (
	issuer   = "https://accounts.idp.example"
	clientID = "web.apps.example"
)

var issuerKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// service simulates the documents of an OpenID Connect provider.
type service struct{ down bool }

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	var answer any
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		answer = map[string]any{
			"issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token",
			"jwks_uri": issuer + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
		}
	case "/keys":
		public := issuerKey().PublicKey
		answer = map[string]any{"keys": []any{map[string]string{
			"kty": "RSA", "kid": "1", "use": "sig", "alg": "RS256", "n": base64.RawURLEncoding.EncodeToString(public.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(public.E)).Bytes()),
		}}}
	}
	body, err := json.Marshal(answer)
	status := http.StatusOK
	if s.down {
		status = http.StatusServiceUnavailable
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)),
	}, err
}

// claims are the claims of a Google account's ID token.
func claims(nonce, person string) map[string]any {
	now := time.Now().Unix()
	return map[string]any{
		"iss": issuer, "aud": clientID, "azp": clientID, "sub": person, "iat": now, "nbf": now - 300, "exp": now + 3600,
		"jti": "1", "nonce": nonce, "email": person + "@example.com", "email_verified": true, "name": strings.ToUpper(person),
	}
}

// sign returns a signed token with these claims.
func sign(t *testing.T, c map[string]any) string {
	t.Helper()
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(map[string]string{"alg": "RS256", "kid": "1"}) + "." + part(c)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, issuerKey(), crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// site is an application with the plugin. Several processes share the store.
type site struct {
	*testing.T
	store    *memory.Store // nil without a store
	strategy core.Strategy
	changes  []change
	auth     *core.Auth
	service  *service

	mu  *sync.Mutex
	log *[]string // audit events
}

type change = func(*core.Config, *onetap.Options)

// both runs a test under both session strategies, with a virtual clock.
func both(t *testing.T, test func(s *site), changes ...change) {
	t.Helper()
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &site{
					T: t, store: memory.New(), strategy: strategy, changes: changes, service: &service{},
					mu: new(sync.Mutex), log: new([]string),
				}
				test(s.process())
			})
		})
	}
}

// process starts another process with the same store.
func (s *site) process() *site {
	s.Helper()
	p := *s
	options := onetap.Options{}
	config := core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test",
		Session: core.SessionConfig{Strategy: s.strategy},
		Getenv:  func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		HTTPClient: &http.Client{Transport: s.service},
		Providers: []core.Provider{&core.OAuthProvider{
			ID: "google", Type: core.TypeOIDC, Issuer: issuer, ClientID: clientID, ClientSecret: "a-secret",
		}},
		Audit: func(_ context.Context, e audit.Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			*s.log = append(*s.log, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Name, e.Outcome, e.Reason)))
		},
		Callbacks: core.Callbacks{},
	}
	if s.store != nil {
		config.Store = s.store
	}
	for _, f := range s.changes {
		f(&config, &options)
	}
	config.Plugins = append(config.Plugins, onetap.New(options))
	var err error
	if p.auth, err = core.New(config); err != nil {
		s.Fatal(err)
	}
	return &p
}

// withGuests adds the plugin for guests.
func withGuests(c *core.Config, _ *onetap.Options) {
	c.Plugins = append(c.Plugins, guest.New(guest.Options{}))
	c.Callbacks.Merge = func(context.Context, *core.User, *core.User) error { return nil }
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

// browser is a browser with cookies.
type browser struct {
	s       *site
	cookies map[string]string
}

func (s *site) browser() *browser { return &browser{s, map[string]string{}} }

// copied returns another browser with the same cookies.
func (b *browser) copied() *browser { return &browser{b.s, maps.Clone(b.cookies)} }

// at returns the browser at another process.
func (b *browser) at(s *site) *browser { return &browser{s, b.cookies} }

func (b *browser) request(method, target string) *core.Request {
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{"app.test"}, Scheme: "https", RemoteAddr: "192.0.2.1:1234",
		Header: http.Header{},
	}
	var cookies []string
	for name, value := range b.cookies {
		cookies = append(cookies, name+"="+url.QueryEscape(value))
	}
	r.Header.Set("Cookie", strings.Join(cookies, "; "))
	return r
}

func (b *browser) send(r *core.Request, header ...string) *core.Response {
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
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
	return b.send(b.request(http.MethodGet, target), append([]string{"Accept", "text/html"}, header...)...)
}

// post posts a form with the CSRF token.
func (b *browser) post(target string, form url.Values, header ...string) *core.Response {
	var token struct{ CSRFToken string }
	_ = json.Unmarshal(b.get("/auth/csrf").Body, &token)
	form.Set("csrfToken", token.CSRFToken)
	return b.postForm(target, form, header...)
}

func (b *browser) postForm(target string, form url.Values, header ...string) *core.Response {
	r := b.request(http.MethodPost, target)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Body = strings.NewReader(form.Encode())
	return b.send(r, append([]string{"Accept", "text/html"}, header...)...)
}

// nonce requests the nonce of the browser.
func (b *browser) nonce() string {
	b.s.Helper()
	r := b.get("/auth/onetap", "Accept", "application/json")
	var answer map[string]string
	if err := json.Unmarshal(r.Body, &answer); err != nil || r.Status != http.StatusOK || len(answer) != 1 {
		b.s.Fatalf("the nonce: %d %s", r.Status, r.Body)
	}
	return answer["nonce"]
}

// tap signs a person in with the prompt.
func (b *browser) tap(person string) *core.Response {
	b.s.Helper()
	return b.credential(sign(b.s.T, claims(b.nonce(), person)))
}

func (b *browser) credential(token string, header ...string) *core.Response {
	return b.post("/auth/onetap", url.Values{"credential": {token}, "callbackUrl": {"/cart"}}, header...)
}

// session returns the session as a handler of the application sees it.
func (b *browser) session() *core.Session {
	session, err := b.s.auth.Visit(b.s.Context(), b.request(http.MethodGet, "/")).Session()
	if err != nil {
		b.s.Fatal(err)
	}
	return session
}

// name returns the name of the signed-in user, or "".
func (b *browser) name() string {
	session := b.session()
	if session == nil || session.User == nil {
		return ""
	}
	return session.User.Name
}
