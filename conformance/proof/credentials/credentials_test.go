package credentials_test

import (
	"encoding/json"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/plugins/accesstoken/verify"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/tokens"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const (
	api, private = "/api", "/private"
	// other is another service, and own the application itself, as audiences.
	other, own = "https://orders.example", "https://app.example/api"
	read       = "orders:read"
	redirect   = "http://127.0.0.1:7777/callback"
)

var ada = &core.User{ID: "ada", Name: "Ada", Email: "ada@example.com"}

// site is an application on one router.
type site struct {
	*testing.T
	url  string
	auth *core.Auth
	keys *apikey.Keys
}

func serve(t *testing.T, adapter string, strategy core.Strategy) *site {
	t.Helper()
	l, err := wire.Listen(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, url: "http://" + l.Addr().String()}
	s.keys = apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: read}, {Name: "other:read"}}})
	signed := accesstoken.New(accesstoken.Options{OwnAudience: own, Audiences: []accesstoken.Audience{
		{ID: other, Scopes: []string{read}}, {ID: own, Scopes: []string{read}},
	}})
	apps := tokens.New(tokens.Options{AccessTokens: signed, Apps: []tokens.App{{
		ID: "cli", Name: "CLI", Device: true, RedirectURIs: []string{"http://127.0.0.1/callback"},
		Scopes: []tokens.Scope{{Name: read}}, Resources: []string{other},
		IDTokens: map[string][]string{"sdk": {sdkClient}},
	}}})
	store := memory.New()
	s.auth, err = core.New(core.Config{
		URL: s.url, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: store,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Session: core.SessionConfig{Strategy: strategy}, Plugins: []core.Plugin{s.keys, signed, apps},
		Providers: []core.Provider{newSDK().provider()},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.CreateUser(t.Context(), ada); err != nil {
		t.Fatal(err)
	}
	stop, err := wire.Serve(adapter, wire.Site{
		Auth: s.auth, Mounted: true, Private: private, API: api, APIScope: read,
	}, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stop() })
	return s
}

// reply is a response.
type reply struct {
	*http.Response
	body string
}

// send sends a request with header fields, as names and values. form may be nil.
func (s *site) send(c *http.Client, method, path string, form url.Values, header ...string) reply {
	s.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
		header = append(header, "Content-Type", "application/x-www-form-urlencoded")
	}
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, body)
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	response, err := c.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return reply{response, string(text)}
}

// uses requests the API with a bearer token.
func (s *site) uses(token string) reply {
	s.Helper()
	return s.send(http.DefaultClient, "GET", api, nil, "Authorization", "Bearer "+token)
}

// key creates an API key of ada.
func (s *site) key(scope string) string {
	s.Helper()
	_, text, err := s.keys.Create(s.Context(), apikey.NewKey{UserID: ada.ID, Name: "script", Scopes: []string{scope}})
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// exchange gets a signed access token for an audience with a credential, at POST access-token.
func (s *site) exchange(credential, audience string) reply {
	s.Helper()
	return s.send(http.DefaultClient, "POST", "/auth/access-token", url.Values{"audience": {audience}},
		"Authorization", "Bearer "+credential)
}

// signedToken returns the token of a response.
func (s *site) signedToken(r reply) string {
	s.Helper()
	var t struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(r.body), &t); err != nil || r.StatusCode != http.StatusOK || t.Token == "" {
		s.Fatalf("the token response is %d %s", r.StatusCode, r.body)
	}
	return t.Token
}

// verifies checks a signed access token as the other service does.
func (s *site) verifies(token, client string) {
	s.Helper()
	v, err := verify.New(verify.Options{Issuer: s.url, Audience: other})
	if err != nil {
		s.Fatal(err)
	}
	got, err := v.Verify(s.Context(), token)
	if err != nil || got.Subject != ada.ID || !strings.HasPrefix(got.ClientID, client) {
		s.Errorf("the token of %s is %+v, %v", client, got, err)
	}
}

// config is the configuration of the app.
func (s *site) config() *oauth2.Config {
	return &oauth2.Config{ClientID: "cli", RedirectURL: redirect, Endpoint: oauth2.Endpoint{
		AuthURL: s.url + "/auth/authorize", TokenURL: s.url + "/auth/token",
		DeviceAuthURL: s.url + "/auth/device/authorization", AuthStyle: oauth2.AuthStyleInParams,
	}}
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)

// submit sends the form of a page.
func (s *site) submit(c *http.Client, page reply, path string, fields ...string) reply {
	s.Helper()
	form := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(page.body, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return s.send(c, "POST", path, form, "Accept", "text/html", "Origin", s.url)
}

// signsIn signs ada in with the app, by the code flow.
func (s *site) signsIn(options ...oauth2.AuthCodeOption) *oauth2.Token {
	s.Helper()
	browser, verifier := authtest.SignIn(s.T, s.auth, s.url, ada), oauth2.GenerateVerifier()
	address := s.config().AuthCodeURL("state", append(options, oauth2.S256ChallengeOption(verifier))...)
	page := s.send(browser, "GET", strings.TrimPrefix(address, s.url), nil, "Accept", "text/html")
	to, err := s.submit(browser, page, "/auth/authorize", "decision", "allow").Location()
	if err != nil || !strings.HasPrefix(to.String(), redirect) || to.Query().Get("iss") != s.url {
		s.Fatalf("the browser opens %v, %v: %s", to, err, page.body)
	}
	token, err := s.config().Exchange(s.Context(), to.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		s.Fatal(err)
	}
	return token
}

// steps are the uses of credentials.
var steps = map[string]func(s *site){
	"an API key": func(s *site) {
		key := s.key(read)
		if r := s.uses(key); r.StatusCode != 200 || r.body != `user "ada", credential "script", session false` {
			s.Errorf("the API: %d %s", r.StatusCode, r.body)
		}
		if r := s.uses(s.key("other:read")); r.StatusCode != 403 || !strings.Contains(challenge(r), "insufficient_scope") {
			s.Errorf("another scope: %d %s", r.StatusCode, challenge(r))
		}
		if r := s.uses(key + "x"); r.StatusCode != 401 || !strings.Contains(challenge(r), "invalid_token") {
			s.Errorf("a wrong key: %d %s", r.StatusCode, challenge(r))
		}
		if r := s.send(http.DefaultClient, "GET", api, nil, "Accept", "application/json"); r.StatusCode != 401 {
			s.Errorf("no credential: %d %s", r.StatusCode, r.body)
		}
		r := s.send(http.DefaultClient, "GET", private, nil, "Authorization", "Bearer "+key, "Accept", "application/json")
		if r.StatusCode != 401 {
			s.Errorf("a page for sessions: %d %s", r.StatusCode, r.body)
		}
		browser := authtest.SignIn(s.T, s.auth, s.url, ada)
		if r := s.send(browser, "GET", api, nil); r.body != `user "ada", credential "", session true` {
			s.Errorf("a session: %d %s", r.StatusCode, r.body)
		}
		if r := s.send(browser, "GET", api, nil, "Authorization", "Bearer "+key+"x"); r.StatusCode != 401 {
			s.Errorf("a wrong key and a session: %d %s", r.StatusCode, r.body)
		}
	},
	"a signed access token": func(s *site) {
		key := s.key(read)
		s.verifies(s.signedToken(s.exchange(key, other)), "apikey:")
		for audience, want := range map[string]int{own: 200, other: 401} {
			if r := s.uses(s.signedToken(s.exchange(key, audience))); r.StatusCode != want {
				s.Errorf("the API with a token for %s: %d %s", audience, r.StatusCode, r.body)
			}
		}
		if r := s.exchange(key, "https://x.example"); r.StatusCode != 400 || !strings.Contains(r.body, "invalid_target") {
			s.Errorf("another audience: %d %s", r.StatusCode, r.body)
		}
		if r := s.exchange("lk_x", other); r.StatusCode != 401 {
			s.Errorf("a wrong key: %d %s", r.StatusCode, r.body)
		}
	},
	"public keys": func(s *site) {
		r := s.send(http.DefaultClient, "GET", "/.well-known/jwks.json", nil)
		etag := r.Header.Get("ETag")
		if r.StatusCode != 200 || !strings.Contains(r.body, `"OKP"`) || strings.Contains(r.body, `"d"`) || etag == "" ||
			!strings.Contains(r.Header.Get("Cache-Control"), "public") {
			s.Errorf("the keys: %d %s %v", r.StatusCode, r.body, r.Header)
		}
		if r := s.send(http.DefaultClient, "GET", "/.well-known/jwks.json", nil, "If-None-Match", etag); r.StatusCode != 304 {
			s.Errorf("the same keys again: %d %s", r.StatusCode, r.body)
		}
	},
	"an app": func(s *site) {
		first := s.signsIn()
		if r := s.uses(first.AccessToken); r.StatusCode != 200 || r.body != `user "ada", credential "CLI", session false` {
			s.Errorf("the API: %d %s", r.StatusCode, r.body)
		}
		second, err := s.config().TokenSource(s.Context(), &oauth2.Token{RefreshToken: first.RefreshToken}).Token()
		if err != nil {
			s.Fatal(err)
		}
		if r := s.uses(second.AccessToken); r.StatusCode != 200 {
			s.Errorf("after the refresh: %d %s", r.StatusCode, r.body)
		}
		form := url.Values{"client_id": {"cli"}, "token": {second.RefreshToken}}
		if r := s.send(http.DefaultClient, "POST", "/auth/token/revoke", form); r.StatusCode != 200 {
			s.Errorf("revoke: %d %s", r.StatusCode, r.body)
		}
		if r := s.uses(second.AccessToken); r.StatusCode != 401 {
			s.Errorf("after the end: %d %s", r.StatusCode, r.body)
		}
		wrong := url.Values{"client_id": {"cli"}, "grant_type": {"refresh_token"}, "refresh_token": {second.RefreshToken}}
		if r := s.send(http.DefaultClient, "POST", "/auth/token", wrong); r.StatusCode != 400 ||
			!strings.Contains(r.body, "invalid_grant") || !strings.Contains(r.Header.Get("Cache-Control"), "no-store") {
			s.Errorf("a refresh after the end: %d %s", r.StatusCode, r.body)
		}
	},
	"an app of another service": func(s *site) {
		token := s.signsIn(oauth2.SetAuthURLParam("resource", other))
		s.verifies(token.AccessToken, "cli")
		if r := s.uses(token.AccessToken); r.StatusCode != 401 {
			s.Errorf("the API: %d %s", r.StatusCode, r.body)
		}
	},
	"a device": func(s *site) {
		device, err := s.config().DeviceAuth(s.Context())
		if err != nil {
			s.Fatal(err)
		}
		browser := authtest.SignIn(s.T, s.auth, s.url, ada)
		page := s.send(browser, "GET", "/auth/device", nil, "Accept", "text/html")
		ask := s.submit(browser, page, "/auth/device", "code", device.UserCode)
		if !strings.Contains(ask.body, "127.0.0.1") {
			s.Errorf("the page does not show the network: %s", ask.body)
		}
		s.submit(browser, ask, "/auth/device", "decision", "allow")
		form := url.Values{
			"client_id": {"cli"}, "grant_type": {"urn:ietf:params:oauth:grant-type:device_code"},
			"device_code": {device.DeviceCode},
		}
		token := s.signedToken(s.send(http.DefaultClient, "POST", "/auth/token", form))
		if r := s.uses(token); r.StatusCode != 200 {
			s.Errorf("the API: %d %s", r.StatusCode, r.body)
		}
	},
	"an ID token of an app": (*site).exchangesIDToken,
	"metadata": func(s *site) {
		r := s.send(http.DefaultClient, "GET", "/.well-known/oauth-authorization-server", nil)
		var m map[string]any
		if err := json.Unmarshal([]byte(r.body), &m); err != nil || m["issuer"] != s.url ||
			m["token_endpoint"] != s.url+"/auth/token" || m["jwks_uri"] != s.url+"/.well-known/jwks.json" {
			s.Errorf("the metadata: %d %s", r.StatusCode, r.body)
		}
	},
}

func challenge(r reply) string { return r.Header.Get("WWW-Authenticate") }

// TestEveryRouter uses each credential on each router and with both strategies.
func TestEveryRouter(t *testing.T) {
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, adapter := range wire.Adapters() {
			s := serve(t, adapter, strategy)
			for name, step := range steps {
				t.Run(string(strategy)+"/"+adapter+"/"+name, func(t *testing.T) {
					one := *s
					one.T = t
					step(&one)
				})
			}
		}
	}
}
