package accesstoken_test

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
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/plugins/accesstoken/verify"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const (
	own          = "https://api.app.example"
	ordersSecret = "the-secret-of-the-orders-service-32b"
)

// site is an application that serves requests.
type site struct {
	*testing.T
	rows   core.Store
	now    *clock
	auth   *core.Auth
	tokens *accesstoken.Tokens
	keys   *apikey.Keys
	url    string // of this process
	issuer string

	mu    sync.Mutex
	log   bytes.Buffer
	audit []string
}

// Write implements [io.Writer] for the log.
func (s *site) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

// serve starts a process of an application. issuer is the URL of the first one, or empty.
func serve(t *testing.T, rows core.Store, now *clock, issuer string, changes ...change) *site {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewUnstartedServer(mux)
	s := &site{T: t, rows: rows, now: now, url: "http://" + server.Listener.Addr().String()}
	if s.issuer = issuer; issuer == "" {
		s.issuer = s.url
	}
	s.keys = apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "orders:read"}, {Name: "own:read"}}})
	config, options := configOf(rows, now)
	config.URL, config.Logger, config.Plugins = s.issuer, slog.New(slog.NewTextHandler(s, nil)), []core.Plugin{s.keys}
	config.Session.Bearer = true
	config.Audit = func(_ context.Context, e audit.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		text := fmt.Sprint(e.Name, " ", e.Outcome, " ", e.UserID, " ", e.Credential)
		s.audit = append(s.audit, strings.TrimSpace(text))
	}
	options.Audiences[0].Secret, options.OwnAudience = ordersSecret, own
	options.Audiences = append(options.Audiences,
		accesstoken.Audience{ID: own, Scopes: []string{"own:read", "own:write"}}, accesstoken.Audience{ID: "urn:none"})
	for _, f := range changes {
		f(&config, &options)
	}
	s.tokens = accesstoken.New(options)
	config.Plugins = append(config.Plugins, s.tokens)
	var err error
	if s.auth, err = core.New(config); err != nil {
		t.Fatal(err)
	}
	if _, err := rows.User(t.Context(), "ada"); err != nil {
		if _, err := rows.CreateUser(t.Context(), &core.User{ID: "ada", Name: "ada", Email: "ada@example.com"}); err != nil {
			t.Fatal(err)
		}
	}
	a := authhttp.New(s.auth)
	a.Mount(mux)
	a.MountWellKnown(mux)
	mux.Handle("GET /api", a.RequirePrincipal(core.Scopes("own:read"))(http.HandlerFunc(s.api)))
	mux.Handle("GET /people", a.RequireSession(http.HandlerFunc(s.api)))
	server.Start()
	t.Cleanup(server.Close)
	return s
}

func (s *site) api(w http.ResponseWriter, r *http.Request) {
	p, err := core.PrincipalFrom(r.Context())
	if err != nil || p == nil {
		s.Errorf("the principal is %v, %v", p, err)
		return
	}
	_, _ = fmt.Fprintf(w, "user %s, credential %.13s, client %.7s, %v, session %t",
		p.UserID, p.Credential, p.Name, p.Scopes, p.Session != nil)
}

func strategy(s core.Strategy) change {
	return func(c *core.Config, _ *accesstoken.Options) { c.Session.Strategy = s }
}

// browser returns a client that is signed in as ada.
func (s *site) browser() *http.Client {
	s.Helper()
	return authtest.SignIn(s.T, s.auth, s.url, &core.User{ID: "ada", Name: "ada", Email: "ada@example.com"})
}

// reply is a response and its body.
type reply struct {
	*http.Response
	body string
}

func (s *site) send(c *http.Client, method, path string, form url.Values, header ...string) reply {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	if method == "POST" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
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

// csrf returns the CSRF token of a browser.
func (s *site) csrf(c *http.Client) string {
	s.Helper()
	var token struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(s.send(c, "GET", "/auth/csrf", nil).body), &token); err != nil {
		s.Fatal(err)
	}
	return token.CSRFToken
}

// response is the response with a token.
type response struct {
	Token   string `json:"access_token"`
	Type    string `json:"token_type"`
	Expires int    `json:"expires_in"`
	Scope   string `json:"scope"`
}

func (s *site) token(r reply) (got response) {
	s.Helper()
	if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.StatusCode != 200 || got.Type != "Bearer" ||
		r.Header.Get("Cache-Control") == "" || !strings.Contains(r.Header.Get("Cache-Control"), "no-store") {
		s.Fatalf("%d %v %s", r.StatusCode, r.Header, r.body)
	}
	return got
}

// request requests a token in a browser.
func (s *site) request(c *http.Client, audience, scope string) response {
	s.Helper()
	return s.token(s.send(c, "POST", "/auth/access-token", url.Values{
		"audience": {audience}, "scope": {scope}, "csrfToken": {s.csrf(c)},
	}))
}

// service returns the verifier of a service.
func (s *site) service(audience string, change ...func(*verify.Options)) *verify.Verifier {
	s.Helper()
	o := verify.Options{Issuer: s.issuer, Audience: audience, JWKSURL: s.url + "/.well-known/jwks.json", Now: s.now.read}
	for _, f := range change {
		f(&o)
	}
	v, err := verify.New(o)
	if err != nil {
		s.Fatal(err)
	}
	return v
}

// introspection makes a service ask the issuer.
func (s *site) introspection(o *verify.Options) {
	o.Introspection = &verify.Introspection{URL: s.url + "/auth/access-token/introspect", Secret: ordersSecret}
}

// strategies are both session strategies.
var strategies = []core.Strategy{core.StrategyJWT, core.StrategyDatabase}

// TestTokenOfSession requests tokens in a browser, with both strategies. Another service verifies them with the keys of
// another process.
func TestTokenOfSession(t *testing.T) {
	for _, kind := range strategies {
		t.Run(string(kind), func(t *testing.T) {
			rows, now := memory.New(), newClock()
			s := serve(t, rows, now, "", strategy(kind))
			other := serve(t, rows, now, s.url, strategy(kind))
			ada := s.browser()
			got := s.request(ada, orders, "orders:read")
			if got.Expires != 300 || got.Scope != "orders:read" {
				t.Errorf("the response is %+v", got)
			}
			for _, process := range []*site{s, other} {
				token, err := process.service(orders).Verify(t.Context(), got.Token)
				if err != nil {
					t.Fatal(err)
				}
				if token.Subject != "ada" || !slices.Equal(token.Scopes, []string{"orders:read"}) || token.SessionID == "" ||
					token.ClientID != s.issuer || !token.AuthTime.Equal(now.read()) || token.Actor != "" {
					t.Errorf("the token is %+v", token)
				}
				if _, err := process.service(own).Verify(t.Context(), got.Token); !errors.Is(err, verify.ErrAudience) {
					t.Errorf("another service: %v", err)
				}
			}
			if all := s.request(ada, orders, ""); all.Scope != "orders:read orders:write" {
				t.Errorf("all scopes: %q", all.Scope)
			}
			if twice := other.request(ada, orders, "orders:read  orders:read"); twice.Scope != "orders:read" {
				t.Errorf("a scope twice: %q", twice.Scope)
			}
			if none := s.request(ada, "urn:none", ""); none.Scope != "" {
				t.Errorf("no scopes: %q", none.Scope)
			}
			now.add(6 * time.Minute)
			if _, err := s.service(orders).Verify(t.Context(), got.Token); !errors.Is(err, verify.ErrExpired) {
				t.Errorf("after its lifetime: %v", err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if !slices.Contains(s.audit, "token.issued ok ada") {
				t.Errorf("audited %v", s.audit)
			}
			signature := got.Token[strings.LastIndexByte(got.Token, '.'):]
			if strings.Contains(s.log.String(), signature) {
				t.Errorf("the log contains the token: %s", &s.log)
			}
		})
	}
}

// TestTokenOfProgram requests tokens with other credentials than a session cookie.
func TestTokenOfProgram(t *testing.T) {
	s := serve(t, memory.New(), newClock(), "")
	key := func(n apikey.NewKey) string {
		t.Helper()
		n.Name = "x"
		_, text, err := s.keys.Create(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + string(text)
	}
	users := key(apikey.NewKey{UserID: "ada", Scopes: []string{"orders:*"}})
	services := key(apikey.NewKey{Service: "billing", Scopes: []string{"orders:read"}})
	others := key(apikey.NewKey{UserID: "ada", Scopes: []string{"reports:read"}})
	ask := func(authorization, audience, scope string) reply {
		return s.send(http.DefaultClient, "POST", "/auth/access-token", url.Values{
			"audience": {audience}, "scope": {scope},
		}, "Authorization", authorization)
	}
	verified := func(r reply) *verify.Token {
		t.Helper()
		got, err := s.service(orders).Verify(t.Context(), s.token(r).Token)
		if err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if last := s.audit[len(s.audit)-1]; !strings.HasSuffix(last, " "+got.ClientID) { // the ID of the key
			t.Errorf("audited %s, want the key %s", last, got.ClientID)
		}
		return got
	}
	if got := verified(ask(users, orders, "")); got.Subject != "ada" || !strings.HasPrefix(got.ClientID, "apikey:") ||
		!slices.Equal(got.Scopes, []string{"orders:read", "orders:write"}) || got.SessionID != "" {
		t.Errorf("a user's key: %+v", got)
	}
	if got := verified(ask(services, orders, "")); got.Subject != got.ClientID || got.Subject == "" ||
		!slices.Equal(got.Scopes, []string{"orders:read"}) {
		t.Errorf("a service's key: %+v", got)
	}
	for name, row := range map[string]struct {
		authorization, audience, scope string
		status                         int
		code                           string
	}{
		"a scope that the key lacks":         {services, orders, "orders:write", 400, "invalid_scope"},
		"an unknown scope":                   {users, orders, "orders:delete", 400, "invalid_scope"},
		"one of two scopes":                  {services, orders, "orders:read orders:write", 400, "invalid_scope"},
		"a key for something else":           {others, orders, "", 400, "invalid_scope"},
		"a key for a service without scopes": {users, "urn:none", "", 400, "invalid_scope"},
		"no audience":                        {users, "", "", 400, "invalid_target"},
		"an unknown audience":                {users, "https://evil.example", "", 400, "invalid_target"},
		"a wrong key":                        {"Bearer lk_x", orders, "", 401, "invalid_token"},
		"a wrong session token":              {"Bearer x", orders, "", 401, "invalid_token"},
		"no credential":                      {"", orders, "", 401, "session_required"},
		"a password":                         {"Basic YTpi", orders, "", 401, "session_required"},
	} {
		if r := ask(row.authorization, row.audience, row.scope); r.StatusCode != row.status ||
			!strings.Contains(r.body, `"code":"`+row.code+`"`) {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
	}
	ada := s.browser()
	if r := s.send(ada, "POST", "/auth/access-token", url.Values{"audience": {orders}}); r.StatusCode != 403 ||
		!strings.Contains(r.body, "missing_csrf") {
		t.Errorf("a browser without the CSRF token: %d %s", r.StatusCode, r.body)
	}
	if r := s.send(ada, "GET", "/auth/access-token?audience="+orders, nil); r.StatusCode != 405 {
		t.Errorf("GET: %d %s", r.StatusCode, r.body)
	}
}

// TestOwnAudience calls the application itself with access tokens.
func TestOwnAudience(t *testing.T) {
	now, rows := newClock(), &faulty{Store: memory.New()}
	s := serve(t, rows, now, "")
	ada := s.browser()
	token := s.request(ada, own, "own:read").Token
	call := func(c *http.Client, path, token string) reply {
		t.Helper()
		return s.send(c, "GET", path, nil, "Authorization", "Bearer "+token, "Accept", "application/json")
	}
	if r := call(http.DefaultClient, "/api", token); r.StatusCode != 200 ||
		r.body != "user ada, credential access-token:, client http://, [own:read], session false" {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	_, key, err := s.keys.Create(t.Context(), apikey.NewKey{Service: "billing", Name: "x", Scopes: []string{"own:read"}})
	if err != nil {
		t.Fatal(err)
	}
	services := s.token(s.send(http.DefaultClient, "POST", "/auth/access-token", url.Values{"audience": {own}},
		"Authorization", "Bearer "+string(key))).Token
	if r := call(http.DefaultClient, "/api", services); r.StatusCode != 200 ||
		r.body != "user , credential access-token:, client apikey:, [own:read], session false" {
		t.Errorf("a service: %d %s", r.StatusCode, r.body)
	}
	forged := token[:len(token)-4] + "AAAA"
	for name, row := range map[string]struct {
		path, token string
		status      int
		code        string
	}{
		"a token for another service":        {"/api", s.request(ada, orders, "").Token, 401, "invalid_token"},
		"a token without the scope":          {"/api", s.request(ada, own, "own:write").Token, 403, "insufficient_scope"},
		"a forged token":                     {"/api", forged, 401, "invalid_token"},
		"a handler that requires a session":  {"/people", token, 401, ""},
		"the keys of the user":               {"/auth/api-keys", token, 401, ""},
		"a token of an issuer that we lack":  {"/api", otherIssuer(t), 401, "invalid_token"},
		"the session of the user, as a data": {"/auth/session", token, 200, "null"},
	} {
		for client, c := range map[string]*http.Client{"": http.DefaultClient, ", and cookies": ada} {
			if r := call(c, row.path, row.token); r.StatusCode != row.status || !strings.Contains(r.body, row.code) {
				t.Errorf("%s%s: %d %s", name, client, r.StatusCode, r.body)
			}
		}
	}
	again := s.send(http.DefaultClient, "POST", "/auth/access-token", url.Values{"audience": {own}},
		"Authorization", "Bearer "+token)
	if again.StatusCode != 403 || !strings.Contains(again.body, "exchange_refused") {
		t.Errorf("a token for a token: %d %s", again.StatusCode, again.body)
	}
	rows.breaks(core.ErrStoreUnavailable)
	now.add(2 * time.Minute)
	if r := call(http.DefaultClient, "/api", token); r.StatusCode != 200 {
		t.Errorf("while the store does not respond: %d %s", r.StatusCode, r.body)
	}
	rows.breaks(nil)
	now.add(4 * time.Minute)
	for range 50 { // an expired token is not a guess
		if r := call(http.DefaultClient, "/api", token); r.StatusCode != 401 {
			t.Fatalf("an expired token: %d %s", r.StatusCode, r.body)
		}
	}
	if r := call(http.DefaultClient, "/api", s.request(ada, own, "").Token); r.StatusCode != 200 {
		t.Errorf("after expired tokens: %d %s", r.StatusCode, r.body)
	}
}

// otherIssuer returns a token of another application.
func otherIssuer(t *testing.T) string {
	t.Helper()
	p := start(t, memory.New(), newClock(), func(_ *core.Config, o *accesstoken.Options) {
		o.Audiences = append(o.Audiences, accesstoken.Audience{ID: own, Scopes: []string{"own:read"}})
	})
	token, _, err := p.tokens.Issue(t.Context(), accesstoken.Claims{
		UserID: "ada", Audience: own, Scopes: []string{"own:read"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(token)
}

// TestKeysUnavailable presents an own token while the keys were never read.
func TestKeysUnavailable(t *testing.T) {
	now, rows := newClock(), &faulty{Store: memory.New()}
	token := serve(t, rows, now, "")
	text := token.request(token.browser(), own, "").Token
	rows.breaks(core.ErrStoreUnavailable)
	s := serve(t, rows, now, token.url)
	r := s.send(http.DefaultClient, "GET", "/api", nil, "Authorization", "Bearer "+text)
	if r.StatusCode != 503 {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// TestIntrospection asks the issuer whether tokens are valid, with both strategies.
func TestIntrospection(t *testing.T) {
	for _, kind := range strategies {
		t.Run(string(kind), func(t *testing.T) {
			rows, now := memory.New(), newClock()
			s := serve(t, rows, now, "", strategy(kind))
			other := serve(t, rows, now, s.url, strategy(kind))
			v := other.service(orders, other.introspection)
			check := func(name, token string, want error) {
				t.Helper()
				if _, err := v.Verify(t.Context(), token); !errors.Is(err, want) {
					t.Errorf("%s: %v", name, err)
				}
			}
			ada, phone := s.browser(), s.browser()
			desk, mobile := s.request(ada, orders, "").Token, s.request(phone, orders, "").Token
			check("a token", desk, nil)
			s.send(ada, "POST", "/auth/signout", url.Values{"csrfToken": {s.csrf(ada)}})
			now.add(time.Minute) // Session.Revocation.Every
			check("after a sign-out", desk, verify.ErrRevoked)
			check("another session", mobile, nil)
			service, _, err := s.tokens.Issue(t.Context(), accesstoken.Claims{ClientID: "billing", Audience: orders})
			if err != nil {
				t.Fatal(err)
			}
			check("a service", string(service), nil)
			if err := rows.DeleteUser(t.Context(), "ada"); err != nil {
				t.Fatal(err)
			}
			check("a deleted user", mobile, verify.ErrRevoked)
		})
	}
}

// TestIntrospectionRefuses sends requests that must not learn anything.
func TestIntrospectionRefuses(t *testing.T) {
	rows := &faulty{Store: memory.New()}
	s := serve(t, rows, newClock(), "")
	ada := s.browser()
	token := s.request(ada, orders, "").Token
	basic := func(id, secret string) string {
		r := &http.Request{Header: http.Header{}}
		r.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret))
		return r.Header.Get("Authorization")
	}
	ask := func(token string, authorization ...string) reply {
		t.Helper()
		header := []string{}
		for _, a := range authorization {
			header = append(header, "Authorization", a)
		}
		return s.send(http.DefaultClient, "POST", "/auth/access-token/introspect", url.Values{"token": {token}}, header...)
	}
	good := basic(orders, ordersSecret)
	for name, row := range map[string]struct {
		token         string
		authorization []string
		status        int
		body          string
	}{
		"valid":                       {token, []string{good}, 200, `"active":true`},
		"no secret":                   {token, nil, 401, "invalid_client"},
		"a wrong secret":              {token, []string{basic(orders, ordersSecret+"x")}, 401, "invalid_client"},
		"an empty secret":             {token, []string{basic(own, "")}, 401, "invalid_client"},
		"an unknown service":          {token, []string{basic("x", ordersSecret)}, 401, "invalid_client"},
		"two headers":                 {token, []string{good, good}, 401, "invalid_client"},
		"a bad escape":                {token, []string{"Basic JXg6eA=="}, 401, "invalid_client"},
		"a bearer token":              {token, []string{"Bearer " + ordersSecret}, 401, "invalid_client"},
		"a token for another service": {s.request(ada, own, "").Token, []string{good}, 200, `{"active":false}`},
		"garbage":                     {"x", []string{good}, 200, `{"active":false}`},
		"nothing":                     {"", []string{good}, 200, `{"active":false}`},
	} {
		r := ask(row.token, row.authorization...)
		if r.StatusCode != row.status || !strings.Contains(r.body, row.body) {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
		if row.status == 401 && !strings.HasPrefix(r.Header.Get("WWW-Authenticate"), "Basic realm=") {
			t.Errorf("%s: the challenge is %q", name, r.Header.Get("WWW-Authenticate"))
		}
	}
	if r := s.send(ada, "POST", "/auth/access-token/introspect", url.Values{"token": {token}}, "Authorization",
		good); r.StatusCode != 403 {
		t.Errorf("with cookies: %d %s", r.StatusCode, r.body)
	}
}

// TestIntrospectionOfKeys revokes an API key after a token was issued for it.
func TestIntrospectionOfKeys(t *testing.T) {
	now := newClock()
	s := serve(t, memory.New(), now, "")
	v := s.service(orders, s.introspection)
	token := func(ttl time.Duration) (*apikey.Key, string) {
		t.Helper()
		key, text, err := s.keys.Create(t.Context(), apikey.NewKey{
			UserID: "ada", Name: "x", Scopes: []string{"orders:read"}, TTL: ttl,
		})
		if err != nil {
			t.Fatal(err)
		}
		r := s.send(http.DefaultClient, "POST", "/auth/access-token", url.Values{"audience": {orders}},
			"Authorization", "Bearer "+string(text))
		return key, s.token(r).Token
	}
	revoked, one := token(time.Hour)
	_, two := token(time.Minute)
	for _, text := range []string{one, two} {
		if _, err := v.Verify(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.keys.Revoke(t.Context(), "ada", revoked.ID); err != nil {
		t.Fatal(err)
	}
	now.add(time.Minute)
	for name, text := range map[string]string{"revoked": one, "expired": two} {
		if _, err := v.Verify(t.Context(), text); !errors.Is(err, verify.ErrRevoked) {
			t.Errorf("a key that has %s: %v", name, err)
		}
	}
}

// checker is a plugin that knows the credentials with a prefix.
type checker struct{ active bool }

func (*checker) Attach(*core.PluginHost) error { return nil }

func (c *checker) CredentialActive(_ context.Context, credential string) (known, active bool, err error) {
	if credential == "device:fails" {
		return false, false, core.ErrStoreUnavailable
	}
	return strings.HasPrefix(credential, "device:"), c.active, nil
}

// TestIntrospectionAsksPlugins asks about sessions and clients of another plugin.
func TestIntrospectionAsksPlugins(t *testing.T) {
	c := &checker{active: true}
	s := serve(t, memory.New(), newClock(), "", func(config *core.Config, _ *accesstoken.Options) {
		config.Plugins = append(config.Plugins, c)
	})
	v := s.service(orders, s.introspection)
	for name, row := range map[string]struct {
		claims accesstoken.Claims
		active bool
		want   error
	}{
		"a session":            {accesstoken.Claims{UserID: "ada", SessionID: "device:1"}, true, nil},
		"a session that ended": {accesstoken.Claims{UserID: "ada", SessionID: "device:1"}, false, verify.ErrRevoked},
		"a client":             {accesstoken.Claims{UserID: "ada", ClientID: "device:1"}, true, nil},
		"a client that ended":  {accesstoken.Claims{UserID: "ada", ClientID: "device:1"}, false, verify.ErrRevoked},
		"an unknown session":   {accesstoken.Claims{UserID: "ada", SessionID: "x"}, true, verify.ErrRevoked},
		"a failure":            {accesstoken.Claims{UserID: "ada", SessionID: "device:fails"}, true, verify.ErrUnavailable},
	} {
		c.active, row.claims.Audience = row.active, orders
		token, _, err := s.tokens.Issue(t.Context(), row.claims)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Verify(t.Context(), string(token)); !errors.Is(err, row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// withoutLister hides the optional methods of a store except for records.
type withoutLister struct {
	core.Store
	store.RecordStore
}

// TestActionConfigErrors makes each configuration error of the actions.
func TestActionConfigErrors(t *testing.T) {
	for want, change := range map[string]change{
		"needs a Store that lists sessions": func(c *core.Config, o *accesstoken.Options) {
			rows := memory.New()
			c.Store, c.Session.Strategy, o.Audiences[0].Secret = withoutLister{rows, rows}, core.StrategyDatabase, ordersSecret
		},
		"Secret has 5 bytes": func(_ *core.Config, o *accesstoken.Options) { o.Audiences[0].Secret = "short" },
		"OwnAudience":        func(_ *core.Config, o *accesstoken.Options) { o.OwnAudience = "x" },
	} {
		config, options := configOf(memory.New(), newClock())
		change(&config, &options)
		config.Plugins = []core.Plugin{accesstoken.New(options)}
		if _, err := core.New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
