package tokens_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/plugins/accesstoken/verify"
	"github.com/latchkey-go/latchkey/plugins/tokens"
)

const (
	orders, files = "https://orders.example", "https://files.example/api"
	// notAllowed is an audience that the app cannot request tokens for.
	notAllowed = "https://internal.example"
	issuer     = "https://app.example"
	// secret is that of the service orders.
	secret = "a-secret-of-a-service-with-32-bytes"
)

// withResources lets the app request signed access tokens for two services.
func withResources(c *core.Config, o *tokens.Options) {
	signed := accesstoken.New(accesstoken.Options{Issuer: issuer, Audiences: []accesstoken.Audience{
		{ID: orders, Scopes: []string{"orders:read", "orders:admin"}, Secret: secret},
		{ID: files, Scopes: []string{"orders:write"}}, {ID: notAllowed, Scopes: []string{"orders:read"}},
	}})
	c.Plugins = append(c.Plugins, signed)
	o.AccessTokens, o.Apps[0].Resources = signed, []string{orders, files}
}

// verified returns the content of a signed access token for a service.
func (s *site) verified(audience, token string) (*verify.Token, error) {
	s.Helper()
	v, err := verify.New(verify.Options{
		Issuer: issuer, Audience: audience, JWKSURL: s.url + "/.well-known/jwks.json", Now: s.clock.Now,
	})
	if err != nil {
		s.Fatal(err)
	}
	return v.Verify(s.Context(), token)
}

// active asks whether a token for the service orders is active.
func (s *site) active(token string) bool {
	s.Helper()
	request, err := http.NewRequest(http.MethodPost, "/", nil)
	if err != nil {
		s.Fatal(err)
	}
	request.SetBasicAuth(url.QueryEscape(orders), secret)
	r := s.program("access-token/introspect", url.Values{"token": {token}},
		"Authorization", request.Header.Get("Authorization"))
	var is struct{ Active bool }
	if err := json.Unmarshal([]byte(r.body), &is); err != nil || r.StatusCode != http.StatusOK {
		s.Fatalf("introspection: %d %s", r.StatusCode, r.body)
	}
	return is.Active
}

// code signs a user in with these resources in the authorization request, and returns the token request.
func (s *site) code(resources ...string) url.Values {
	s.Helper()
	config, verifier := s.config(), oauth2.GenerateVerifier()
	config.Scopes = nil
	address := config.AuthCodeURL("x", oauth2.S256ChallengeOption(verifier))
	for _, r := range resources {
		address += "&resource=" + url.QueryEscape(r)
	}
	return url.Values{
		"grant_type": {"authorization_code"}, "client_id": {"acme-cli"}, "code_verifier": {verifier},
		"redirect_uri": {config.RedirectURL}, "code": {s.allow(s.as("ada"), address).Query().Get("code")},
	}
}

// with returns a form with the parameter resource.
func with(form url.Values, resource string) url.Values {
	form.Set("resource", resource)
	return form
}

// TestResource gets signed access tokens for a service: by code, by refreshing, and for a device.
func TestResource(t *testing.T) {
	for name, strategy := range map[string]core.Strategy{"jwt": core.StrategyJWT, "database": core.StrategyDatabase} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, withResources, func(c *core.Config, _ *tokens.Options) { c.Session.Strategy = strategy })
			r := s.tokenOf(s.program("token", with(s.code(orders+"/"), orders))) // as clients in JavaScript write it
			token, err := s.verified(orders, r.Access)
			if err != nil {
				t.Fatal(err)
			}
			grants, err := s.apps.Of(t.Context(), "ada")
			if err != nil || len(grants) != 1 || !slices.Equal(grants[0].Resources, []string{orders}) {
				t.Fatalf("grants %+v, %v", grants, err)
			}
			if token.Subject != "ada" || token.ClientID != "acme-cli" || token.SessionID != "app:"+grants[0].ID ||
				!slices.Equal(token.Scopes, []string{"orders:read"}) || r.Scope != "orders:read" || r.Expires != 300 ||
				token.AuthTime.IsZero() {
				t.Errorf("the token is %+v, the response %+v", token, r)
			}
			if _, err := s.verified(files, r.Access); err == nil {
				t.Error("another service accepts it")
			}
			if got := s.call(r.Access); got.StatusCode != 401 {
				t.Errorf("the API of the site: %d %s", got.StatusCode, got.body)
			}
			next := s.tokenOf(s.refresh(r.Refresh))
			if _, err := s.verified(orders, next.Access); err != nil || !s.active(next.Access) || !s.active(r.Access) {
				t.Errorf("after the refresh: %v", err)
			}
			got := s.program("token/revoke", url.Values{"client_id": {"acme-cli"}, "token": {next.Access}})
			if got.code() != "unsupported_token_type" {
				t.Errorf("revoke a signed token: %d %s", got.StatusCode, got.body)
			}
			s.program("token/revoke", url.Values{"client_id": {"acme-cli"}, "token": {next.Refresh}})
			if s.active(next.Access) {
				t.Error("a token is active after the end of its sign-in")
			}
			s.without(r.Access, next.Access)
		})
	}
}

// TestDeviceResource gets a signed access token for a device.
func TestDeviceResource(t *testing.T) {
	s := newSite(t, withResources)
	var d struct {
		DeviceCode string `json:"device_code"`
		UserCode   string `json:"user_code"`
	}
	start := s.program("device/authorization", url.Values{"client_id": {"acme-cli"}, "resource": {orders}})
	if err := json.Unmarshal([]byte(start.body), &d); err != nil {
		t.Fatal(err)
	}
	ask := s.decide(s.as("ada"), d.UserCode, "")
	if !strings.Contains(ask.body, "The app will have access to "+orders) || !strings.Contains(ask.body, "Read orders") ||
		strings.Contains(ask.body, "orders:write") {
		t.Errorf("the page is %s", ask.body)
	}
	s.decide(s.as("ada"), d.UserCode, "allow")
	form := url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "client_id": {"acme-cli"},
		"device_code": {d.DeviceCode},
	}
	if r := s.program("token", with(form, files)); r.code() != "invalid_target" {
		t.Errorf("another resource: %d %s", r.StatusCode, r.body)
	}
	if _, err := s.verified(orders, s.tokenOf(s.program("token", with(form, orders))).Access); err != nil {
		t.Error(err)
	}
}

// TestSeveralResources: each access token is for one of the services that the user allowed.
func TestSeveralResources(t *testing.T) {
	s := newSite(t, withResources)
	form := s.code(orders, files, orders)
	for _, resource := range []string{"", notAllowed, issuer} { // does not use the code
		if r := s.program("token", with(form, resource)); r.code() != "invalid_target" {
			t.Errorf("a code, %q: %d %s", resource, r.StatusCode, r.body)
		}
	}
	token := s.tokenOf(s.program("token", with(form, files)))
	if got, err := s.verified(files, token.Access); err != nil || !slices.Equal(got.Scopes, []string{"orders:write"}) {
		t.Errorf("the first token: %+v, %v", got, err)
	}
	refresh := url.Values{
		"grant_type": {"refresh_token"}, "client_id": {"acme-cli"}, "refresh_token": {token.Refresh},
	}
	for _, resource := range []string{"", notAllowed, issuer} { // does not use the refresh token
		if r := s.program("token", with(refresh, resource)); r.code() != "invalid_target" {
			t.Errorf("a refresh, %q: %d %s", resource, r.StatusCode, r.body)
		}
	}
	if _, err := s.verified(orders, s.tokenOf(s.program("token", with(refresh, orders))).Access); err != nil {
		t.Error(err)
	}
}

// TestWiderResource refreshes a sign-in with a service that the user did not allow.
func TestWiderResource(t *testing.T) {
	s := newSite(t, withResources)
	for name, refresh := range map[string]string{
		"a sign-in for one service": s.tokenOf(s.program("token", s.code(files))).Refresh,
		"a sign-in for this site":   s.signIn("ada").RefreshToken,
	} {
		form := url.Values{"grant_type": {"refresh_token"}, "client_id": {"acme-cli"}, "refresh_token": {refresh}}
		if r := s.program("token", with(form, orders)); r.code() != "invalid_target" {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
		if r := s.refresh(refresh); r.StatusCode != 200 {
			t.Errorf("%s, afterwards: %d %s", name, r.StatusCode, r.body)
		}
	}
}

// TestResourceRefused requests resources and scopes that the app does not have.
func TestResourceRefused(t *testing.T) {
	s := newSite(t, withResources)
	ada := s.as("ada")
	for name, row := range map[string]struct{ client, scope, resource, want string }{
		"a service of other apps":    {"acme-cli", "", notAllowed, "invalid_target"},
		"an unknown service":         {"acme-cli", "", "https://x.example", "invalid_target"},
		"a path below":               {"acme-cli", "", files + "/x", "invalid_target"},
		"another spelling of a path": {"acme-cli", "", files + "/", "invalid_target"},
		"two in one":                 {"acme-cli", "", orders + " " + files, "invalid_target"},
		"an app without services":    {"other", "", orders, "invalid_target"},
		"a scope of another service": {"acme-cli", "orders:write", orders, "invalid_scope"},
		"a scope of no app":          {"acme-cli", "orders:admin", orders, "invalid_scope"},
	} {
		query := url.Values{
			"client_id": {row.client}, "redirect_uri": {"http://127.0.0.1:7777/callback"}, "response_type": {"code"},
			"state": {"x"}, "code_challenge": {oauth2.S256ChallengeFromVerifier(oauth2.GenerateVerifier())},
			"code_challenge_method": {"S256"}, "scope": {row.scope}, "resource": {row.resource},
		}
		r := s.send(ada, "GET", "/auth/authorize?"+query.Encode(), nil, "Accept", "text/html")
		if to, err := r.Location(); err != nil || to.Query().Get("error") != row.want {
			t.Errorf("%s: %d %v", name, r.StatusCode, to)
		}
		if row.client == "other" { // it has no device flow
			continue
		}
		r = s.program("device/authorization", url.Values{
			"client_id": {row.client}, "scope": {row.scope}, "resource": {row.resource},
		})
		if r.code() != row.want {
			t.Errorf("%s, a device: %d %s", name, r.StatusCode, r.body)
		}
	}
}

// TestResourceEnds: a signed access token is inactive after the end of its sign-in, and a service that is removed from
// the options gets no further ones.
func TestResourceEnds(t *testing.T) {
	without := func(change func(*tokens.App)) change {
		return func(c *core.Config, o *tokens.Options) {
			withResources(c, o)
			o.Apps = slices.Clone(o.Apps)
			change(&o.Apps[0])
		}
	}
	for name, row := range map[string]struct {
		end  func(s *site) *site
		want string // the error of a refresh
	}{
		"the user is deleted": {func(s *site) *site {
			if err := s.store.DeleteUser(s.Context(), "ada"); err != nil {
				s.Fatal(err)
			}
			return s
		}, "invalid_grant"},
		"all sessions end": {func(s *site) *site {
			if _, err := s.auth.EndSessions(s.Context(), "ada", core.EndOptions{}); err != nil {
				s.Fatal(err)
			}
			return s
		}, "invalid_grant"},
		"the app is removed": {func(s *site) *site {
			return s.again(without(func(a *tokens.App) { a.ID = "renamed" }))
		}, "invalid_client"},
		"the service is removed": {func(s *site) *site {
			return s.again(without(func(a *tokens.App) { a.Resources = []string{files} }))
		}, "invalid_target"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, withResources)
			token := s.tokenOf(s.program("token", s.code(orders)))
			if !s.active(token.Access) {
				t.Fatal("the token is inactive")
			}
			in := row.end(s)
			if row.want != "invalid_target" && in.active(token.Access) {
				t.Error("the token is active")
			}
			if r := in.refresh(token.Refresh); r.code() != row.want {
				t.Errorf("refresh: %d %s", r.StatusCode, r.body)
			}
		})
	}
	s := newSite(t, withResources)
	if known, _, err := s.apps.CredentialActive(t.Context(), "apikey:x"); known || err != nil {
		t.Errorf("the key of another plugin: %t, %v", known, err)
	}
}

// TestShortGrant: a signed access token does not live longer than its sign-in.
func TestShortGrant(t *testing.T) {
	s := newSite(t, withResources, func(_ *core.Config, o *tokens.Options) { o.MaxAge = time.Minute })
	if r := s.tokenOf(s.program("token", s.code(orders))); r.Expires != 60 {
		t.Errorf("the token lives for %d seconds", r.Expires)
	}
}

// TestResourceMetadata reads the metadata of a site with services.
func TestResourceMetadata(t *testing.T) {
	s := newSite(t, withResources)
	r := s.send(http.DefaultClient, "GET", "/.well-known/oauth-authorization-server", nil)
	var m struct {
		JWKS      string   `json:"jwks_uri"`
		Resources []string `json:"protected_resources"`
	}
	if err := json.Unmarshal([]byte(r.body), &m); err != nil || m.JWKS != s.url+"/.well-known/jwks.json" ||
		!slices.Equal(m.Resources, []string{orders, files}) {
		t.Errorf("the metadata is %s", r.body)
	}
}
