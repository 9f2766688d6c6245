package oauth_test

import (
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/internal/oauth"
)

func TestAuthorize(t *testing.T) {
	t.Parallel()
	const callback = "https://app.example/callback/op"
	usual := url.Values{
		"client_id": {"client"}, "response_type": {"code"}, "redirect_uri": {callback}, "scope": {"openid email"},
	}
	for name, row := range map[string]struct {
		endpoint oauth.Endpoint
		scope    string
		request  oauth.AuthorizationRequest
		fragment string
		want     url.Values // in addition to the defaults; an empty value removes one
	}{
		"the least": {endpoint: oauth.Endpoint{URL: "https://op.example/authorize"}, scope: "openid email"},
		"the checks": {
			endpoint: oauth.Endpoint{URL: "https://op.example/authorize"}, scope: "openid email",
			request: oauth.AuthorizationRequest{
				State: "s", Nonce: "n", Verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", // RFC 7636 appendix B
			},
			want: url.Values{
				"state": {"s"}, "nonce": {"n"}, "code_challenge_method": {"S256"},
				"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"},
			},
		},
		"no scope": {endpoint: oauth.Endpoint{URL: "https://op.example/authorize"}, want: url.Values{"scope": nil}},
		"the endpoint's own query, parameters and fragment": {
			endpoint: oauth.Endpoint{
				URL:    "https://op.example/authorize?a=1&scope=own&client_id=other#here",
				Params: url.Values{"a": {"2"}, "prompt": {"login"}},
			},
			scope: "openid email", fragment: "here",
			want: url.Values{"a": {"2"}, "prompt": {"login"}, "scope": {"own"}},
		},
		"names and values that a query spells otherwise": {
			endpoint: oauth.Endpoint{
				URL: "https://op.example/authorize?resource%5B%5D=a%26b", Params: url.Values{"r & s": {"1", "ü="}, "empty": {""}},
			},
			scope:   "openid email",
			request: oauth.AuthorizationRequest{Further: url.Values{"resource[]": {"c+d", "e"}, "ui locales": {"de"}}},
			want: url.Values{
				"resource[]": {"c+d", "e"}, "r & s": {"1", "ü="}, "empty": {""}, "ui locales": {"de"},
			},
		},
		"the visitor's wishes": {
			endpoint: oauth.Endpoint{URL: "https://op.example/authorize", Params: url.Values{"prompt": {"login"}}},
			scope:    "openid email",
			request: oauth.AuthorizationRequest{Further: url.Values{
				"prompt": {"none"}, "scope": {"email"}, "client_id": {"x"}, "redirect_uri": {"x"}, "response_type": {"x"},
				"response_mode": {"x"}, "state": {"x"}, "nonce": {"x"}, "code_challenge": {"x"}, "request": {"x"},
				"code_challenge_method": {"plain"}, "request_uri": {"x"}, "callbackUrl": {"x"}, "csrfToken": {"x"},
			}},
			want: url.Values{"prompt": {"none"}, "scope": {"email"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			config := p.config()
			config.Authorization, config.Scope = row.endpoint, row.scope
			client := oauth.New(config)
			at, err := client.StartEndpoints(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			row.request.RedirectURI = callback
			address, err := client.Authorize(at, row.request)
			if err != nil {
				t.Fatal(err)
			}
			want := url.Values{}
			for _, values := range []url.Values{usual, row.want} {
				for name, value := range values {
					want[name] = value
					if value == nil {
						delete(want, name)
					}
				}
			}
			got, err := url.Parse(address)
			if err != nil || got.Host != "op.example" || got.Fragment != row.fragment || got.RawQuery != want.Encode() {
				t.Errorf("%v\ngot  %s\nwant %s#%s", err, address, want.Encode(), row.fragment)
			}
		})
	}
}

// TestAuthorizeOfTwoHosts: an application with two hosts has concurrent sign-ins on both, and each returns to its own
// host.
func TestAuthorizeOfTwoHosts(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := oauth.New(p.config())
	at, err := client.StartEndpoints(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var visitors sync.WaitGroup
	for _, host := range []string{"https://a.example", "https://b.example/a+b", "https://a.example:8443"} {
		visitors.Go(func() {
			for range 1_000 {
				address, err := client.Authorize(at, oauth.AuthorizationRequest{RedirectURI: host + "/callback/op"})
				parsed, bad := url.Parse(address)
				if err != nil || bad != nil || parsed.Query().Get("redirect_uri") != host+"/callback/op" {
					t.Errorf("%s: %s, %v", host, address, err)
					return
				}
			}
		})
	}
	visitors.Wait()
}

func TestAuthorizeErrors(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	for name, row := range map[string]struct {
		url     string
		request oauth.AuthorizationRequest
		says    string
		tooLong bool
	}{
		"no endpoint":  {"", oauth.AuthorizationRequest{}, `provider "op" has no authorization endpoint`, false},
		"no URL":       {"https://op.example/%zz", oauth.AuthorizationRequest{}, "has no authorization endpoint", false},
		"not absolute": {"authorize", oauth.AuthorizationRequest{}, `provider "op": authorization endpoint: `, false},
		"too long": {
			"https://op.example/authorize",
			oauth.AuthorizationRequest{Further: url.Values{"login_hint": {strings.Repeat("a", oauth.MaxAuthorizationURL)}}},
			`provider "op": the authorization URL has 83`, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := p.config()
			config.Authorization.URL = row.url
			client := oauth.New(config)
			at, err := client.StartEndpoints(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			row.request.RedirectURI = "https://app.example/callback/op"
			_, err = client.Authorize(at, row.request)
			tells(t, err, row.says)
			if errors.Is(err, oauth.ErrURLTooLong) != row.tooLong {
				t.Errorf("too long: %v", err)
			}
		})
	}
}

// TestEndpoints checks that discovery is used only if the configuration lacks an endpoint.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	const own = "https://elsewhere.example/x"
	for name, row := range map[string]struct {
		change       func(*oauth.Config)
		start, later bool // whether discovery is used
	}{
		"OpenID Connect": {func(*oauth.Config) {}, true, true},
		"OpenID Connect, authorization configured": {
			func(c *oauth.Config) { c.Authorization.URL = own }, false, true,
		},
		"OAuth, nothing configured": {func(c *oauth.Config) { c.OpenID = false }, true, true},
		"OAuth, no userinfo": {
			func(c *oauth.Config) { c.OpenID, c.Authorization.URL, c.Token.URL = false, own, own }, true, true,
		},
		"OAuth, no userinfo needed": {
			func(c *oauth.Config) {
				c.OpenID, c.Authorization.URL, c.Token.URL, c.NoUserinfo = false, own, own, true
			}, false, false,
		},
		"OAuth without issuer": {func(c *oauth.Config) { c.OpenID, c.Issuer = false, "" }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			config := p.openID()
			row.change(&config)
			client := oauth.New(config)
			p.Close() // further requests fail
			_, atStart := client.StartEndpoints(t.Context())
			_, later := client.Endpoints(t.Context())
			if (atStart != nil) != row.start || (later != nil) != row.later {
				t.Errorf("asked at the start: %v; later: %v", atStart, later)
			}
			if later != nil {
				tells(t, later, `provider "op": discovery: `, "check that the service is up", "(AUTH_OP_ISSUER)")
			}
		})
	}
}

// TestConfiguredEndpointsGoFirst checks that discovery does not replace configured endpoints.
func TestConfiguredEndpointsGoFirst(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.answers["/own/token"] = answer{body: good}
	p.answers["/own/userinfo"] = answer{body: `{"sub":"u1"}`}
	config := p.openID()
	config.Token.URL, config.Userinfo.URL = p.URL+"/own/token", p.URL+"/own/userinfo"
	client := oauth.New(config)
	at := endpoints(t, client)
	address, err := client.Authorize(at, oauth.AuthorizationRequest{})
	if err != nil || !strings.HasPrefix(address, p.URL+"/authorize?") {
		t.Errorf("authorization: %s, %v", address, err)
	}
	if _, err := redeem(t, client); err != nil {
		t.Error(err)
	}
	if _, err := client.Userinfo(t.Context(), at, "a1"); err != nil {
		t.Error(err)
	}
	config.Authorization.URL = p.URL + "/own/authorize"
	client = oauth.New(config)
	address, err = client.Authorize(endpoints(t, client), oauth.AuthorizationRequest{})
	if err != nil || !strings.HasPrefix(address, p.URL+"/own/authorize?") {
		t.Errorf("configured authorization: %s, %v", address, err)
	}
}
