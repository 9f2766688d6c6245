package core_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestOAuthProviderFaults checks that each configuration error of a provider is reported with the field to set.
func TestOAuthProviderFaults(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(*core.OAuthProvider)
		env    map[string]string
		says   string // empty if there is no error
	}{
		"none": {change: func(*core.OAuthProvider) {}},
		"from outside": {
			func(p *core.OAuthProvider) { p.ClientID, p.ClientSecret = "", "" },
			map[string]string{"AUTH_MY_OP_ID": "i", "AUTH_MY_OP_SECRET": "s"}, "",
		},
		"no client ID": {
			func(p *core.OAuthProvider) { p.ClientID = "" },
			nil, "has no ClientID: set it, or AUTH_MY_OP_ID in the environment",
		},
		"a line break after the client ID": {
			func(p *core.OAuthProvider) { p.ClientID = "id\n" },
			nil, "ClientID (AUTH_MY_OP_ID in the environment) has a line break, a control character or blanks around it",
		},
		"a line break after the secret": {
			func(p *core.OAuthProvider) { p.ClientSecret = "s3cret\r\n" },
			nil, "ClientSecret (AUTH_MY_OP_SECRET in the environment) has a line break",
		},
		"a line break after the secret of the environment": {
			func(p *core.OAuthProvider) { p.ClientSecret = "" },
			map[string]string{"AUTH_MY_OP_SECRET": "s3cret\n"}, "ClientSecret (AUTH_MY_OP_SECRET in the environment) has",
		},
		"a blank before the secret":  {func(p *core.OAuthProvider) { p.ClientSecret = " s3cret" }, nil, "ClientSecret ("},
		"a line break in the secret": {func(p *core.OAuthProvider) { p.ClientSecret = "s3\ncret" }, nil, "ClientSecret ("},
		"a byte order mark":          {func(p *core.OAuthProvider) { p.ClientID = "\ufeffid" }, nil, "ClientID ("},
		"a blank inside a secret":    {func(p *core.OAuthProvider) { p.ClientSecret = "s3 cret" }, nil, ""},
		"no secret": {
			func(p *core.OAuthProvider) { p.ClientSecret = "" },
			nil, "has no ClientSecret: set it, or AUTH_MY_OP_SECRET in",
		},
		"no secret, and none needed": {
			func(p *core.OAuthProvider) { p.ClientSecret, p.ClientAuth = "", core.ClientAuthNone }, nil, "",
		},
		"no key": {
			func(p *core.OAuthProvider) { p.ClientAuth = core.PrivateKeyJWT }, nil,
			"set it (ParseClientKey reads PEM and JWK), or AUTH_MY_OP_PRIVATE_KEY or AUTH_MY_OP_PRIVATE_KEY_FILE in",
		},
		"unknown client authentication": {
			func(p *core.OAuthProvider) { p.ClientAuth = "tls" },
			nil, `unknown ClientAuth "tls"`,
		},
		"unknown check": {
			func(p *core.OAuthProvider) { p.Checks = []core.Check{"par"} },
			nil, `unknown check "par"`,
		},
		"a sign-out that nobody can be sent to": {
			func(p *core.OAuthProvider) { p.Logout = core.True },
			nil, `has Logout On and the Type "oauth": only OpenID Connect (TypeOIDC) says where to sign out`,
		},
		"unknown type": {
			func(p *core.OAuthProvider) { p.Type = "saml" },
			nil, `has the Type "saml": use TypeOAuth or TypeOIDC`,
		},
		"no authorization endpoint": {
			func(p *core.OAuthProvider) { p.Authorization.URL = "" },
			nil, "neither an Issuer nor Authorization.URL",
		},
		"no token endpoint": {
			func(p *core.OAuthProvider) { p.Token.URL = "" },
			nil, "neither an Issuer nor Token.URL",
		},
		"no userinfo endpoint": {
			func(p *core.OAuthProvider) { p.Userinfo.URL = "" },
			nil, "neither an Issuer nor Userinfo.URL",
		},
		"nothing but an issuer": {
			func(p *core.OAuthProvider) {
				p.Authorization.URL, p.Token.URL, p.Userinfo.URL, p.Issuer = "", "", "", "https://op.example"
			}, nil, "",
		},
		"OAuth 1.0a without endpoints": {
			func(p *core.OAuthProvider) {
				p.RequestToken.URL, p.Token.URL, p.Issuer = "https://op.example/r", "", "https://op.example"
			}, nil,
			"uses OAuth 1.0a, where nothing is discovered: set Authorization.URL and Token.URL",
		},
		"no issuer": {
			func(p *core.OAuthProvider) { p.Type = core.TypeOIDC },
			nil, "has no Issuer: set it, or AUTH_MY_OP_ISSUER in",
		},
		"an issuer from outside": {
			func(p *core.OAuthProvider) { p.Type = core.TypeOIDC },
			map[string]string{"AUTH_MY_OP_ISSUER": "https://op.example"}, "",
		},
		"no address of the service": {
			func(p *core.OAuthProvider) { p.Token.URL = "{base}/token" },
			nil, "has no BaseURL: set it, or AUTH_MY_OP_ISSUER in",
		},
		"an address from outside": {
			func(p *core.OAuthProvider) { p.Token.URL = "{base}/token" },
			map[string]string{"AUTH_MY_OP_ISSUER": "https://op.example/"}, "",
		},
		"an age that is no number": {
			func(p *core.OAuthProvider) {
				p.Type, p.Issuer, p.Authorization.Params = core.TypeOIDC, "https://op.example", url.Values{"max_age": {"an hour"}}
			}, nil, `max_age "an hour" is not a number of seconds`,
		},
		"an answer in the fragment": {
			func(p *core.OAuthProvider) { p.Authorization.URL += "?response_mode=fragment" },
			nil, `response_mode "fragment": use "query"`,
		},
		"tokens in the answer": {
			func(p *core.OAuthProvider) { p.Authorization.Params = url.Values{"response_type": {"code", "token"}} }, nil,
			`response_type "token": use "code"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := (&service{}).provider("my-op")
			row.change(p)
			_, err := core.New(core.Config{
				Secrets: []core.Secret{testSecret}, URL: "https://app.example", Providers: []core.Provider{p},
				Getenv: func(name string) string { return row.env[name] },
			})
			switch {
			case row.says == "" && err != nil:
				t.Error(err)
			case row.says == "":
			case err == nil || !strings.Contains(err.Error(), `provider "my-op"`) || !strings.Contains(err.Error(), row.says):
				t.Errorf("no %q in %v", row.says, err)
			}
		})
	}
}

// TestClientOfAProvider: requests to a provider use its own HTTP client, else that of the configuration.
func TestClientOfAProvider(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{true, false} {
		asked := ""
		client := func(name string) *http.Client {
			return &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
				asked = name
				return answered(r, http.StatusBadRequest, `{"error":"invalid_grant"}`), nil
			})}
		}
		p := plainOAuth()
		if own {
			p.HTTPClient = client("the provider's")
		}
		a := newApp(t, core.Config{HTTPClient: client("the configuration's"), Providers: []core.Provider{p}})
		b := visit(t, a)
		b.get((&service{}).grant(t, b.submit("/auth/signin/plain", nil).Redirect))
		if (asked == "the provider's") != own || asked == "" {
			t.Errorf("with a client of its own %t: %s client was asked", own, asked)
		}
	}
}
