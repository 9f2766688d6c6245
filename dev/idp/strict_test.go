package idp_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/dev/idp"
)

const (
	redirectURI = "http://localhost:3000/auth/callback/dev"
	verifier    = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // RFC 7636 appendix B
	challenge   = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// client is a strict OpenID client without a browser.
type client struct {
	t      *testing.T
	server *idp.Server
	http   *http.Client
}

func newClient(t *testing.T) *client {
	t.Helper()
	server, err := idp.Start(idp.Options{RedirectURIs: []string{redirectURI}, AutoSignIn: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{t, server, &http.Client{CheckRedirect: stay}}
}

func (c *client) do(method, path string, form url.Values, header http.Header) (*http.Response, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.server.Issuer()+path, strings.NewReader(form.Encode()))
	if err != nil {
		c.t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res, string(body)
}

// authorize sends an authorization request and returns the code.
func (c *client) authorize(method, scope string, further url.Values) string {
	c.t.Helper()
	params := url.Values{
		"client_id": {c.server.ClientID()}, "response_type": {"code"}, "scope": {scope}, "redirect_uri": {redirectURI},
		"code_challenge": {challenge}, "code_challenge_method": {"S256"}, "state": {"s"},
	}
	for name, values := range further {
		params[name] = values
	}
	path, body := "/authorize?"+params.Encode(), url.Values{}
	if method == http.MethodPost {
		path, body = "/authorize", params
	}
	res, page := c.do(method, path, body, nil)
	location, err := res.Location()
	if err != nil {
		c.t.Fatalf("no redirect, status %d: %s", res.StatusCode, page)
	}
	return location.Query().Get("code")
}

// redeem exchanges a code, with client_secret_basic as in RFC 6749 section 2.3.1.
func (c *client) redeem(code string) map[string]any {
	c.t.Helper()
	res, body := c.do(http.MethodPost, "/token", c.grant(code), http.Header{"Authorization": {
		"Basic " + base64.StdEncoding.EncodeToString([]byte(c.server.ClientID()+":"+c.server.ClientSecret()))}})
	if res.StatusCode != http.StatusOK {
		c.t.Fatalf("token endpoint: status %d: %s", res.StatusCode, body)
	}
	return c.object(body)
}

func (c *client) grant(code string) url.Values {
	return url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirectURI}, "code_verifier": {verifier},
	}
}

func (c *client) object(text string) (object map[string]any) {
	c.t.Helper()
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		c.t.Fatalf("%v: %s", err, text)
	}
	return object
}

// claims returns the claims of an ID token.
func (c *client) claims(token map[string]any) map[string]any {
	c.t.Helper()
	idToken, _ := token["id_token"].(string)
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(idToken+"..", ".")[1])
	if err != nil {
		c.t.Fatal(err)
	}
	return c.object(string(payload))
}

// formEncoded escapes all characters except letters and digits, as openid-client does.
func formEncoded(text string) string {
	escaped := url.QueryEscape(text)
	return strings.NewReplacer("-", "%2D", "_", "%5F", ".", "%2E", "~", "%7E").Replace(escaped)
}

func TestClientAuthentication(t *testing.T) {
	basic := func(id, secret string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
	}
	for _, row := range []struct {
		name          string
		authorization func(id, secret string) string
		body          bool
		want          int
	}{
		{"basic", basic, false, http.StatusOK},
		{"basic, form-encoded", func(id, secret string) string { return basic(formEncoded(id), formEncoded(secret)) },
			false, http.StatusOK},
		{"body", nil, true, http.StatusOK},
		{"basic, wrong secret", func(id, _ string) string { return basic(id, "wrong") }, false, http.StatusUnauthorized},
		{"basic, secret encoded in part", func(id, secret string) string { return basic(id, secret+"%zz") }, false,
			http.StatusUnauthorized},
		{"no secret", nil, false, http.StatusUnauthorized},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClient(t)
			form, header := c.grant(c.authorize(http.MethodGet, "openid", nil)), http.Header{}
			if row.authorization != nil {
				header.Set("Authorization", row.authorization(c.server.ClientID(), c.server.ClientSecret()))
			} else {
				form.Set("client_id", c.server.ClientID())
			}
			if row.body {
				form.Set("client_secret", c.server.ClientSecret())
			}
			res, body := c.do(http.MethodPost, "/token", form, header)
			if res.StatusCode != row.want {
				t.Errorf("status %d, want %d: %s", res.StatusCode, row.want, body)
			}
			if got := res.Header.Get("WWW-Authenticate"); (got != "") != (row.want == http.StatusUnauthorized) {
				t.Errorf("status %d with WWW-Authenticate %q", res.StatusCode, got)
			}
		})
	}
	c := newClient(t)
	_, discovery := c.do(http.MethodGet, "/.well-known/openid-configuration", nil, nil)
	methods, _ := c.object(discovery)["token_endpoint_auth_methods_supported"].([]any)
	if len(methods) != 2 {
		t.Errorf("discovery lists the methods %v, which this test does not try", methods)
	}
}

func TestAuthorizationRequestByPost(t *testing.T) {
	c := newClient(t)
	if code := c.authorize(http.MethodPost, "openid", nil); code == "" {
		t.Error("no code for a POST to the authorization endpoint")
	}
	res, body := c.do(http.MethodPost, "/authorize", url.Values{
		"client_id": {c.server.ClientID()}, "redirect_uri": {"http://localhost:1/elsewhere"}}, nil)
	if res.StatusCode != http.StatusBadRequest || !strings.Contains(body, redirectURI) {
		t.Errorf("another redirect URI in a POST: status %d: %s", res.StatusCode, body)
	}
}

func TestAuthTime(t *testing.T) {
	for _, further := range []url.Values{nil, {"max_age": {"0"}}, {"max_age": {"60"}, "prompt": {"login"}}} {
		c := newClient(t)
		before := time.Now().Unix()
		claims := c.claims(c.redeem(c.authorize(http.MethodGet, "openid", further)))
		at, ok := claims["auth_time"].(float64)
		if !ok || int64(at) < before || int64(at) > time.Now().Unix() {
			t.Errorf("%v: auth_time %v", further, claims["auth_time"])
		}
	}
}

// TestAuthTimeOfSilentSignIn: with prompt=none, auth_time is not the time of the request, and max_age is respected.
func TestAuthTimeOfSilentSignIn(t *testing.T) {
	c := newClient(t)
	hint := url.Values{"login_hint": {"grace@example.com"}, "prompt": {"none"}}
	first := c.claims(c.redeem(c.authorize(http.MethodGet, "openid", hint)))["auth_time"]
	again := c.claims(c.redeem(c.authorize(http.MethodGet, "openid", hint)))["auth_time"]
	if first == nil || first != again {
		t.Errorf("auth_time %v, then %v", first, again)
	}
	hint.Set("max_age", "0")
	if code := c.authorize(http.MethodGet, "openid", hint); code != "" {
		t.Error("a silent sign-in with max_age=0 gets a code")
	}
}

func TestUserinfo(t *testing.T) {
	c := newClient(t)
	for name, header := range map[string]http.Header{
		"no token": {}, "unknown token": {"Authorization": {"Bearer unknown"}},
	} {
		res, _ := c.do(http.MethodGet, "/userinfo", nil, header)
		got := res.Header.Get("WWW-Authenticate")
		if res.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(got, "Bearer") ||
			strings.Contains(got, "invalid_token") != (len(header) > 0) {
			t.Errorf("%s: status %d, WWW-Authenticate %q", name, res.StatusCode, got)
		}
	}
}

// TestClaimsFollowScope: the provider omits claims whose scope was not requested, so that a developer notices.
func TestClaimsFollowScope(t *testing.T) {
	for scope, want := range map[string][]string{
		"openid": {}, "openid profile": {"name"}, "openid email": {"email", "email_verified"},
		"openid profile email": {"name", "email", "email_verified"},
	} {
		c := newClient(t)
		token := c.redeem(c.authorize(http.MethodGet, scope, nil))
		access, _ := token["access_token"].(string)
		_, body := c.do(http.MethodGet, "/userinfo", nil, http.Header{"Authorization": {"Bearer " + access}})
		for source, claims := range map[string]map[string]any{"ID token": c.claims(token), "userinfo": c.object(body)} {
			found := 0
			for _, name := range []string{"name", "email", "email_verified"} {
				if _, ok := claims[name]; ok {
					found++
				}
			}
			for _, name := range want {
				if _, ok := claims[name]; !ok {
					t.Errorf("scope %q: %s has no %s", scope, source, name)
				}
			}
			if found != len(want) {
				t.Errorf("scope %q: %s has %d claims about the user, want %v", scope, source, found, want)
			}
		}
	}
}
