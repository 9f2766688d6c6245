package reference

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

const (
	secret  = core.Secret("a-secret-of-more-than-thirty-two-bytes")
	session = "__Secure-authjs.session-token"
)

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// site is an application and one browser with cookies.
type site struct {
	t       *testing.T
	auth    *core.Auth
	log     bytes.Buffer
	now     time.Time
	cookies map[string]core.Cookie
	came    map[string]core.Cookie // every cookie that was set, including deleted ones
	header  http.Header
}

// complete adds the required fields to a configuration.
func complete(c core.Config) core.Config {
	if c.Secrets == nil {
		c.Secrets = []core.Secret{secret}
	}
	if c.Getenv == nil {
		c.Getenv = func(string) string { return "" }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func open(t *testing.T, c core.Config) *site {
	t.Helper()
	s := &site{
		t: t, now: start, cookies: map[string]core.Cookie{}, came: map[string]core.Cookie{}, header: http.Header{},
	}
	if c.URL == "" && c.TrustHost == core.Default && c.Getenv == nil {
		c.URL = "https://app.test"
	}
	c.Logger = slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c.Now = func() time.Time { return s.now }
	auth, err := core.New(complete(c))
	if err != nil {
		t.Fatal(err)
	}
	s.auth = auth
	return s
}

// ask sends a request with the browser's cookies, and stores the cookies of the response.
func (s *site) ask(method, target string, form url.Values) *core.Response {
	s.t.Helper()
	r := s.request(method, target, form)
	answer := s.auth.Handle(s.t.Context(), r)
	for _, c := range answer.Cookies {
		if c.Value == "" {
			delete(s.cookies, c.Name)
			continue
		}
		s.cookies[c.Name], s.came[c.Name] = c, c
	}
	return answer
}

func (s *site) request(method, target string, form url.Values) *core.Request {
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{"app.test"}, Scheme: "https", RemoteAddr: "192.0.2.1:1",
		Header: s.header.Clone(),
	}
	var pairs []string
	for name, c := range s.cookies {
		pairs = append(pairs, name+"="+url.PathEscape(c.Value))
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

// submit posts a form with the CSRF token.
func (s *site) submit(target string, fields url.Values) *core.Response {
	s.t.Helper()
	form := url.Values{"csrfToken": {s.token()}}
	for name, value := range fields {
		form[name] = value
	}
	return s.ask("POST", target, form)
}

func (s *site) token() string {
	s.t.Helper()
	body := string(s.ask("GET", s.auth.BasePath()+"/csrf", nil).Body)
	_, rest, ok := strings.Cut(body, `"csrfToken":"`)
	if !ok {
		s.t.Fatalf("no token in %s", body)
	}
	return strings.TrimSuffix(rest, `"}`)
}

// signIn signs Ada in with a password.
func (s *site) signIn() *core.Response {
	s.t.Helper()
	return s.submit("/auth/callback/credentials", url.Values{"password": {"right"}})
}

func passwords() *core.CredentialsProvider {
	return &core.CredentialsProvider{
		Authorize: func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
			if form["password"] != "right" {
				return nil, nil
			}
			return &core.User{ID: "1", Name: "Ada", Email: "ada@example.com", Image: "/ada.png"}, nil
		},
	}
}

func service() *core.OAuthProvider {
	return &core.OAuthProvider{
		ID: "plain", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
		Authorization: core.Endpoint{URL: "https://op.example/authorize"},
		Token:         core.Endpoint{URL: "https://op.example/token"},
		Userinfo:      core.Endpoint{URL: "https://op.example/userinfo"},
	}
}

// rows is a store with the sessions of one user, with verification tokens and without passkeys.
type rows struct {
	core.Store
	store.AuthenticatorStore
	store.AccountStore
	sessions map[string]store.Session
	tokens   []store.VerificationToken
}

func newRows() *rows { return &rows{sessions: map[string]store.Session{}} }

var ada = &core.User{ID: "1", Name: "Ada", Email: "ada@example.com"}

func (s *rows) User(context.Context, string) (*core.User, error)        { return ada.AsStored(), nil }
func (s *rows) UserByEmail(context.Context, string) (*core.User, error) { return nil, core.ErrNotFound }
func (s *rows) UserByAccount(context.Context, string, string) (*core.User, error) {
	return nil, core.ErrNotFound
}

func (s *rows) CreateSession(_ context.Context, session *store.Session) error {
	s.sessions[string(session.Token)] = *session
	return nil
}

func (s *rows) SessionAndUser(_ context.Context, token string) (*store.Session, *core.User, error) {
	row, ok := s.sessions[token]
	if !ok {
		return nil, nil, core.ErrNotFound
	}
	return &row, ada.AsStored(), nil
}

func (s *rows) UpdateSession(_ context.Context, token string, expires time.Time) error {
	row := s.sessions[token]
	row.Expires = expires
	s.sessions[token] = row
	return nil
}

func (s *rows) DeleteSession(_ context.Context, token string) (*store.Session, error) {
	row := s.sessions[token]
	delete(s.sessions, token)
	return &row, nil
}

func (s *rows) CreateVerificationToken(_ context.Context, token *store.VerificationToken) error {
	s.tokens = append(s.tokens, *token)
	return nil
}

func (s *rows) UseVerificationToken(context.Context, string, string) (*store.VerificationToken, error) {
	return nil, core.ErrNotFound
}

// refuses reports whether New rejects a configuration with this error type. If class is empty, any type matches.
func refuses(c core.Config, class core.ErrorType) bool {
	c.URL = "https://app.test"
	_, err := core.New(complete(c))
	return errors.Is(err, class) || class == "" && err != nil
}
