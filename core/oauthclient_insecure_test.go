package core_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestAllowInsecureHTTP: plain http is a configuration error without the option, and the error names the option. With
// it, plain http is allowed only for the configured hosts.
func TestAllowInsecureHTTP(t *testing.T) {
	t.Parallel()
	const says = "or set AllowInsecureHTTP of the provider"
	for name, row := range map[string]struct {
		allow    core.OptionalBool
		change   func(*core.OAuthProvider)
		document string // the token endpoint in the discovery document
		fault    string // in the error of New
		failure  string // in the error of the sign-in
	}{
		"issuer, not allowed":     {fault: says},
		"issuer, off":             {allow: core.False, fault: says},
		"issuer":                  {allow: core.True},
		"same host, another port": {allow: core.True, document: "http://keycloak:9000/token"},
		"the document says https": {allow: core.True, document: "https://keycloak:8443/token"},
		"another host":            {allow: core.True, document: "http://evil.example/token", failure: "is not an https URL"},
		"this machine":            {allow: core.True, document: "http://localhost/token", failure: "and the issuer is not"},
		"a metadata service": {allow: core.True, document: "http://169.254.169.254/token",
			failure: "is not an https URL"},
		"an endpoint, not allowed": {
			change: func(p *core.OAuthProvider) {
				p.Issuer, p.Token.URL = "https://kc.example", "http://keycloak:8080/token"
			},
			fault: says,
		},
		"an endpoint": {
			allow: core.True,
			change: func(p *core.OAuthProvider) {
				p.Issuer, p.Token.URL = "https://kc.example", "http://keycloak:8080/token"
			},
		},
		"no http at all": {
			allow: core.True, change: func(p *core.OAuthProvider) { p.Issuer = "ftp://keycloak/realm" },
			fault: "write an absolute https URL",
		},
		"the redirect proxy": {
			allow: core.True, change: func(p *core.OAuthProvider) { p.RedirectProxyURL = "http://proxy/auth" }, fault: says,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			document := row.document
			if document == "" {
				document = "http://keycloak:8080/token"
			}
			p := &core.OAuthProvider{
				ID: "op", Type: core.TypeOIDC, Issuer: "http://keycloak:8080/realm", ClientID: "id", ClientSecret: "secret",
				AllowInsecureHTTP: row.allow,
			}
			if row.change != nil {
				row.change(p)
			}
			p.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				return answered(r, 200, `{"issuer":"`+p.Issuer+`","authorization_endpoint":"https://op.example/authorize",`+
					`"token_endpoint":"`+document+`","jwks_uri":"http://keycloak:8080/keys"}`), nil
			})}
			if row.fault != "" {
				_, err := core.New(core.Config{
					Secrets: []core.Secret{testSecret}, URL: "https://app.test", Providers: []core.Provider{p},
					TrustedHosts: []string{"app.test"}, Getenv: func(string) string { return "" },
				})
				if err == nil || !strings.Contains(err.Error(), row.fault) {
					t.Errorf("got %v", err)
				}
				return
			}
			a := newApp(t, core.Config{Providers: []core.Provider{p}})
			if !strings.Contains(a.log.String(), "insecure-http") {
				t.Errorf("no warning in %s", a.log)
			}
			r := visit(t, a).submit("/auth/signin/op", nil)
			if started := strings.HasPrefix(r.Redirect, "https://op.example/authorize"); started != (row.failure == "") ||
				!started && (r.Err == nil || !strings.Contains(r.Err.Error(), row.failure)) {
				t.Errorf("redirected to %q, %v", r.Redirect, r.Err)
			}
		})
	}
}

// TestAcceptIssuer: a document may name another issuer only if the function accepts it, and then ID tokens must carry
// that one. The error quotes the issuer found.
func TestAcceptIssuer(t *testing.T) {
	t.Parallel()
	accept := func(configured, found string) bool {
		return configured == "https://op.example/alias" && found == "https://op.example/common"
	}
	for name, row := range map[string]struct {
		accept func(configured, found string) bool
		claims string
		says   string // text of the error; empty if the user is signed in
	}{
		"accepted":                  {accept: accept},
		"no function":               {says: `it names the issuer "https://op.example/common", not "https://op.ex`},
		"another one is accepted":   {accept: func(string, string) bool { return false }, says: "it names the issuer"},
		"a panic":                   {accept: func(string, string) bool { panic("x") }, says: "it names the issuer"},
		"a token of the alias":      {accept, `"iss":"https://op.example/alias"`, `iss is "https://op.example/alias"`},
		"a token of another issuer": {accept, `"iss":"https://evil.example"`, `iss is "https://evil.example"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			op := &thinOP{claims: row.claims}
			a := newApp(t, core.Config{Providers: []core.Provider{&core.OAuthProvider{
				ID: "op", Type: core.TypeOIDC, Issuer: "https://op.example/alias", ClientID: "id", ClientSecret: "secret",
				AcceptIssuer: row.accept,
				HTTPClient: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
					if strings.HasPrefix(r.URL.Path, "/alias/") {
						r = r.Clone(r.Context())
						r.URL.Path = strings.Replace(r.URL.Path, "/alias/", "/common/", 1)
					}
					return op.RoundTrip(r)
				})},
			}}})
			op.clock = a.clock
			b := visit(t, a)
			r := b.submit("/auth/signin/op", nil)
			if r.Err == nil && r.Redirect != "" && !strings.Contains(r.Redirect, "error") {
				r = b.get((&service{}).grant(t, r.Redirect))
			}
			if signedIn := b.cookies[sessionCookie] != ""; signedIn != (row.says == "") ||
				!signedIn && (r.Err == nil || !strings.Contains(r.Err.Error(), row.says)) {
				t.Errorf("signed in %t: %v", signedIn, r.Err)
			}
		})
	}
}

// TestSignOutParameters: the logout request of a provider with nonstandard parameters contains them. The provider
// returns no state, and the browser still reaches the page that the sign-out requested.
func TestSignOutParameters(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		url  func(*core.SignOutRequest) (string, error)
		want string // empty if the browser is not redirected to the provider
	}{
		"own parameters": {func(r *core.SignOutRequest) (string, error) {
			return r.Endpoint + "&client_id=" + r.ClientID + "&logout_uri=" + r.RedirectURI, nil
		}, "https://op.example/end?tenant=1&client_id=id&logout_uri=https://app.test/auth/logout/op"},
		"the standard":        {(*core.SignOutRequest).StandardURL, "https://op.example/end?client_id=id&id_token_hint="},
		"plain http":          {func(*core.SignOutRequest) (string, error) { return "http://op.example/end", nil }, ""},
		"a script":            {func(*core.SignOutRequest) (string, error) { return "javascript:alert(1)", nil }, ""},
		"nothing":             {func(*core.SignOutRequest) (string, error) { return "", nil }, ""},
		"a function in panic": {func(*core.SignOutRequest) (string, error) { panic("x") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			op := &smallOP{endSession: endpoint}
			a := newApp(t, core.Config{
				Store: opRecords{newOPRows(), newDrawer()}, Providers: []core.Provider{&core.OAuthProvider{
					ID: "op", Type: core.TypeOIDC, Issuer: "https://op.example/common", ClientID: "id", ClientSecret: "secret",
					HTTPClient: &http.Client{Transport: op}, Logout: core.True, SignOutURL: row.url,
				}},
			})
			op.clock = a.clock
			b := op.signIn(t, a, "s1")
			r := b.submit("/auth/signout", map[string][]string{"callbackUrl": {"/bye"}})
			if b.cookies[sessionCookie] != "" || here(b) {
				t.Error("the session here continues")
			}
			if row.want == "" {
				if r.Redirect != "https://app.test/bye" || !strings.Contains(a.log.String(), "the one at the provider has not") {
					t.Errorf("redirected to %q", r.Redirect)
				}
				return
			}
			if !strings.HasPrefix(r.Redirect, row.want) {
				t.Errorf("redirected to %q", r.Redirect)
			}
			if r = b.get("/auth/logout/op"); r.Redirect != "https://app.test/bye" || b.cookies[logoutCookie] != "" {
				t.Errorf("returned to %q, %v", r.Redirect, r.Err)
			}
		})
	}
}
