package core_test

import (
	"net/http"
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
		"unknown check": {
			func(p *core.OAuthProvider) { p.Checks = []core.Check{"par"} },
			nil, `unknown check "par"`,
		},
		"a sign-out that nobody can be sent to": {
			func(p *core.OAuthProvider) { p.Logout = core.True },
			nil, `has Logout On and the Type "oauth": only OpenID Connect (TypeOIDC) says where to sign out`,
		},
		"no issuer": {
			func(p *core.OAuthProvider) { p.Type = core.TypeOIDC },
			nil, "has no Issuer: set it, or AUTH_MY_OP_ISSUER in",
		},
		"an issuer from outside": {
			func(p *core.OAuthProvider) { p.Type = core.TypeOIDC },
			map[string]string{"AUTH_MY_OP_ISSUER": "https://op.example"}, "",
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
