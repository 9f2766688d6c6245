package oauth_test

import (
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/oauth"
)

// setup returns a valid declaration of an OAuth provider.
func setup() *oauth.Setup {
	return &oauth.Setup{Type: "oauth", Config: oauth.Config{
		ID: "my-op", ClientID: "id", ClientSecret: "secret",
		Authorization: oauth.Endpoint{URL: "https://op.example/authorize"},
		Token:         oauth.Endpoint{URL: "https://op.example/token"},
		Userinfo:      oauth.Endpoint{URL: "https://op.example/userinfo"},
		Variable:      func(field string) string { return "AUTH_MY_OP_" + field },
	}}
}

// complete returns the errors of a declaration in one text.
func complete(s *oauth.Setup, env map[string]string) error {
	var all error
	for _, p := range s.Complete(func(name string) string { return env[name] }) {
		all = errors.Join(all, p.Err)
	}
	return all
}

// TestSetupProblems checks that each configuration error is reported with the field to set.
func TestSetupProblems(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(*oauth.Setup)
		env    map[string]string
		says   string // empty if there is no error
	}{
		"none": {change: func(*oauth.Setup) {}},
		"from outside": {
			func(p *oauth.Setup) { p.ClientID, p.ClientSecret = "", "" },
			map[string]string{"AUTH_MY_OP_ID": "i", "AUTH_MY_OP_SECRET": "s"}, "",
		},
		"no client ID": {
			func(p *oauth.Setup) { p.ClientID = "" },
			nil, "has no ClientID: set it, or AUTH_MY_OP_ID in the environment",
		},
		"a line break after the client ID": {
			func(p *oauth.Setup) { p.ClientID = "id\n" },
			nil, "ClientID (AUTH_MY_OP_ID in the environment) has a line break, a control character or blanks around it",
		},
		"a line break after the secret": {
			func(p *oauth.Setup) { p.ClientSecret = "s3cret\r\n" },
			nil, "ClientSecret (AUTH_MY_OP_SECRET in the environment) has a line break",
		},
		"a line break after the secret of the environment": {
			func(p *oauth.Setup) { p.ClientSecret = "" },
			map[string]string{"AUTH_MY_OP_SECRET": "s3cret\n"}, "ClientSecret (AUTH_MY_OP_SECRET in the environment) has",
		},
		"a blank before the secret":  {func(p *oauth.Setup) { p.ClientSecret = " s3cret" }, nil, "ClientSecret ("},
		"a line break in the secret": {func(p *oauth.Setup) { p.ClientSecret = "s3\ncret" }, nil, "ClientSecret ("},
		"a byte order mark":          {func(p *oauth.Setup) { p.ClientID = "\ufeffid" }, nil, "ClientID ("},
		"a blank inside a secret":    {func(p *oauth.Setup) { p.ClientSecret = "s3 cret" }, nil, ""},
		"plain http": {
			func(p *oauth.Setup) { p.Token.URL = "http://op.example/token" }, nil, "Token.URL: plain http is for providers on",
		},
		"plain http, allowed": {func(p *oauth.Setup) { p.Token.URL, p.Insecure = "http://op.example/token", true }, nil, ""},
		"plain http to the redirect proxy": {
			func(p *oauth.Setup) { p.ProxyURL, p.Insecure = "http://proxy.example/auth", true }, nil,
			"RedirectProxyURL: plain http",
		},
		"no secret": {
			func(p *oauth.Setup) { p.ClientSecret = "" },
			nil, "has no ClientSecret: set it, or AUTH_MY_OP_SECRET in",
		},
		"no secret, and none needed": {
			func(p *oauth.Setup) { p.ClientSecret, p.ClientAuth = "", oauth.ClientAuthNone }, nil, "",
		},
		"no key": {
			func(p *oauth.Setup) { p.ClientAuth = oauth.PrivateKeyJWT }, nil,
			"set it (ParseClientKey reads PEM and JWK), or AUTH_MY_OP_PRIVATE_KEY or AUTH_MY_OP_PRIVATE_KEY_FILE in",
		},
		"unknown client authentication": {
			func(p *oauth.Setup) { p.ClientAuth = "tls" },
			nil, `unknown ClientAuth "tls"`,
		},
		"unknown type": {
			func(p *oauth.Setup) { p.Type = "saml" },
			nil, `has the Type "saml": use TypeOAuth or TypeOIDC`,
		},
		"no authorization endpoint": {
			func(p *oauth.Setup) { p.Authorization.URL = "" },
			nil, "neither an Issuer nor Authorization.URL",
		},
		"no token endpoint": {
			func(p *oauth.Setup) { p.Token.URL = "" },
			nil, "neither an Issuer nor Token.URL",
		},
		"no userinfo endpoint": {
			func(p *oauth.Setup) { p.Userinfo.URL = "" },
			nil, "neither an Issuer nor Userinfo.URL",
		},
		"nothing but an issuer": {
			func(p *oauth.Setup) {
				p.Authorization.URL, p.Token.URL, p.Userinfo.URL, p.Issuer = "", "", "", "https://op.example"
			}, nil, "",
		},
		"OAuth 1.0a without endpoints": {
			func(p *oauth.Setup) {
				p.RequestToken.URL, p.Token.URL, p.Issuer = "https://op.example/r", "", "https://op.example"
			}, nil,
			"uses OAuth 1.0a, where nothing is discovered: set Authorization.URL and Token.URL",
		},
		"no issuer": {
			func(p *oauth.Setup) { p.Type = "oidc" },
			nil, "has no Issuer: set it, or AUTH_MY_OP_ISSUER in",
		},
		"an issuer from outside": {
			func(p *oauth.Setup) { p.Type = "oidc" },
			map[string]string{"AUTH_MY_OP_ISSUER": "https://op.example"}, "",
		},
		"no address of the service": {
			func(p *oauth.Setup) { p.Token.URL = "{base}/token" },
			nil, "has no BaseURL: set it, or AUTH_MY_OP_ISSUER in",
		},
		"an address from outside": {
			func(p *oauth.Setup) { p.Token.URL = "{base}/token" },
			map[string]string{"AUTH_MY_OP_ISSUER": "https://op.example/"}, "",
		},
		"an age that is no number": {
			func(p *oauth.Setup) {
				p.Type, p.Issuer, p.Authorization.Params = "oidc", "https://op.example", url.Values{"max_age": {"an hour"}}
			}, nil, `max_age "an hour" is not a number of seconds`,
		},
		"an answer in the fragment": {
			func(p *oauth.Setup) { p.Authorization.URL += "?response_mode=fragment" },
			nil, `response_mode "fragment": use "query"`,
		},
		"tokens in the answer": {
			func(p *oauth.Setup) { p.Authorization.Params = url.Values{"response_type": {"code", "token"}} }, nil,
			`response_type "token": use "code"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup()
			row.change(s)
			switch err := complete(s, row.env); {
			case row.says == "" && err != nil:
				t.Error(err)
			case row.says == "":
			case err == nil || !strings.Contains(err.Error(), `provider "my-op"`) || !strings.Contains(err.Error(), row.says):
				t.Errorf("no %q in %v", row.says, err)
			}
		})
	}
}

func TestSetupCompletes(t *testing.T) {
	t.Parallel()
	s := setup()
	declared := url.Values{"id": {"{client_id}"}, "max_age": {"60"}}
	s.Type, s.Issuer, s.ClientID, s.ClientSecret = "oidc", "{base}/realm", "", ""
	s.Authorization = oauth.Endpoint{URL: "{base}/authorize?client={client_id}", Params: declared}
	env := map[string]string{
		"AUTH_MY_OP_ID":     "a&b",
		"AUTH_MY_OP_SECRET": "s",
		"AUTH_MY_OP_ISSUER": "https://op.example/",
	}
	if err := complete(s, env); err != nil {
		t.Fatal(err)
	}
	want := oauth.Endpoint{
		URL: "https://op.example/authorize?client=a%26b", Params: url.Values{"id": {"a&b"}, "max_age": {"60"}},
	}
	if !reflect.DeepEqual(s.Authorization, want) || declared.Get("id") != "{client_id}" {
		t.Errorf("authorization endpoint %+v, declared %v", s.Authorization, declared)
	}
	if s.Issuer != "https://op.example/realm" || s.ClientID != "a&b" || s.ClientSecret != "s" || !s.OpenID ||
		s.ClientAuth != oauth.ClientSecretBasic || s.Scope != "openid profile email" || s.MaxAge != time.Minute {
		t.Errorf("got %+v", s)
	}
	s = setup()
	s.Scope, s.RequestToken.URL, s.ClientAuth = oauth.NoScope, "https://op.example/request", oauth.ClientAuthNone
	if err := complete(s, nil); err != nil || s.Scope != "" || s.ClientAuth != oauth.ClientSecretBasic {
		t.Errorf("%v, scope %q, client authentication %q", err, s.Scope, s.ClientAuth)
	}
}

// TestSetupFlow checks the checks, the redirect proxy and the response mode of a declaration.
func TestSetupFlow(t *testing.T) {
	t.Parallel()
	post := url.Values{"response_mode": {"form_post"}}
	const proxy = "https://proxy.example/auth"
	for name, row := range map[string]struct {
		change func(*oauth.Setup)
		checks string
		proxy  string
		post   bool
		says   string
	}{
		"defaults":       {func(*oauth.Setup) {}, "pkce state", "", false, ""},
		"no checks":      {func(s *oauth.Setup) { s.Checks = []string{} }, "", "", false, ""},
		"own checks":     {func(s *oauth.Setup) { s.Checks = []string{"nonce"} }, "nonce", "", false, ""},
		"an unknown one": {func(s *oauth.Setup) { s.Checks = []string{"x"} }, "x", "", false, `unknown check "x"`},
		"a proxy": {
			func(s *oauth.Setup) { s.Checks, s.DefaultProxyURL = []string{"pkce"}, proxy+"/" }, "pkce state", proxy, false, "",
		},
		"its own proxy": {
			func(s *oauth.Setup) { s.ProxyURL, s.DefaultProxyURL = proxy, "https://other.example" },
			"pkce state", proxy, false, "",
		},
		"form_post": {
			func(s *oauth.Setup) { s.Authorization.Params, s.DefaultProxyURL = post, proxy }, "pkce state", "", true, "",
		},
		"form_post with its own proxy": {
			func(s *oauth.Setup) { s.Authorization.Params, s.ProxyURL = post, proxy }, "pkce state", "", true, "",
		},
		"OAuth 1.0a": {func(s *oauth.Setup) {
			s.RequestToken.URL, s.ProxyURL, s.Checks = "https://op.example/request", proxy, []string{"x"}
			s.Authorization.Params = post
		}, "", "", false, ""},
		"a sign-out": {
			func(s *oauth.Setup) { s.Logout = true }, "pkce state", "", false, "has Logout On and the Type",
		},
		"a sign-out of OpenID Connect": {
			func(s *oauth.Setup) { s.Logout, s.Type, s.Issuer = true, "oidc", "https://op.example" },
			"pkce state", "", false, "",
		},
		"a sign-out with its URL": {
			func(s *oauth.Setup) { s.Logout, s.HasSignOutURL = true, true }, "pkce state", "", false, "",
		},
	} {
		s := setup()
		row.change(s)
		err := complete(s, nil)
		if strings.Join(s.Checks, " ") != row.checks || s.ProxyURL != row.proxy || s.FormPost != row.post {
			t.Errorf("%s: %v, %q, %t", name, s.Checks, s.ProxyURL, s.FormPost)
		}
		if (err != nil) != (row.says != "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSetupCopiesChecks: the check that a redirect proxy needs is not added to the declaration's own list.
func TestSetupCopiesChecks(t *testing.T) {
	t.Parallel()
	declared := []string{"pkce", "nonce"}
	s := setup()
	s.Checks, s.ProxyURL = declared[:1], "https://proxy.example/auth"
	if err := complete(s, nil); err != nil || strings.Join(declared, " ") != "pkce nonce" {
		t.Errorf("%v, %v", declared, err)
	}
}

// TestInsecureHosts checks which hosts may be reached with plain http.
func TestInsecureHosts(t *testing.T) {
	t.Parallel()
	s := setup()
	s.BaseURL = "http://keycloak:8080/realm"
	if hosts := s.InsecureHosts(); hosts != nil {
		t.Errorf("without Insecure: %v", hosts)
	}
	s.Insecure = true
	if hosts := strings.Join(s.InsecureHosts(), " "); hosts != "keycloak op.example op.example op.example" {
		t.Error(hosts)
	}
}
