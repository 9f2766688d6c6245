package providers_test

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// TestIssuerAliases: discovery documents of Azure AD B2C and Entra tenants may name another issuer than the configured
// one, if it belongs to the same tenant and host.
func TestIssuerAliases(t *testing.T) {
	t.Parallel()
	const id, other = "11111111-2222-3333-4444-555555555555", "99999999-2222-3333-4444-555555555555"
	b2cProvider, entraProvider := providers.AzureADB2C(), providers.MicrosoftEntraID()
	const b2c, entra = "https://acme.b2clogin.com/", "https://login.microsoftonline.com/"
	for name, row := range map[string]struct {
		provider          *core.OAuthProvider
		configured, found string
		accepted          bool
	}{
		"B2C":        {b2cProvider, b2c + "acme.onmicrosoft.com/b2c_1_in/v2.0", b2c + id + "/v2.0/", true},
		"B2C, by ID": {b2cProvider, b2c + id + "/b2c_1_in/v2.0", b2c + id + "/v2.0/", true},
		"B2C, slash": {b2cProvider, b2c + "acme.onmicrosoft.com/b2c_1_in/v2.0/", b2c + id + "/v2.0/", true},
		"B2C, custom domain": {
			b2cProvider, "https://id.acme.example/a/p/v2.0", "https://id.acme.example/" + id + "/v2.0/", true,
		},
		"B2C, tfp": {
			b2cProvider, b2c + "tfp/acme.onmicrosoft.com/B2C_1_in/v2.0/", b2c + "tfp/" + id + "/b2c_1_in/v2.0/", true,
		},
		"B2C, another policy": {b2cProvider, b2c + "tfp/a/b2c_1_in/v2.0/", b2c + "tfp/" + id + "/b2c_1_edit/v2.0/", false},
		"B2C, another tenant": {b2cProvider, b2c + id + "/b2c_1_in/v2.0", b2c + other + "/v2.0/", false},
		"B2C, another host":   {b2cProvider, b2c + "a/b2c_1_in/v2.0", "https://evil.b2clogin.com/" + id + "/v2.0/", false},
		"B2C, plain http":     {b2cProvider, b2c + "a/b2c_1_in/v2.0", "http://acme.b2clogin.com/" + id + "/v2.0/", false},
		"B2C, a name":         {b2cProvider, b2c + "a/b2c_1_in/v2.0", b2c + "evil.onmicrosoft.com/v2.0/", false},
		"B2C, no issuer":      {b2cProvider, b2c + "a/b2c_1_in/v2.0", "", false},
		"B2C, a query":        {b2cProvider, b2c + "a/b2c_1_in/v2.0", b2c + id + "/v2.0/?x", false},

		"Entra, domain": {entraProvider, entra + "acme.example/v2.0", entra + id + "/v2.0", true},
		"Entra, consumers": {
			entraProvider, entra + "consumers/v2.0", entra + "9188040d-6c67-4c5b-b112-36a304b66dad/v2.0", true,
		},
		"Entra, older ID": {providers.AzureAD(), entra + "acme.example/v2.0", entra + id + "/v2.0", true},
		"Entra, by OIDC":  {providers.OIDC("m", ""), entra + "acme.example/v2.0", entra + id + "/v2.0", true},
		"Entra, US": {
			entraProvider, "https://login.microsoftonline.us/a.example/v2.0",
			"https://login.microsoftonline.us/" + id + "/v2.0", true,
		},
		"Entra, China": {
			entraProvider, "https://login.partner.microsoftonline.cn/a.cn/v2.0",
			"https://login.partner.microsoftonline.cn/" + id + "/v2.0", true,
		},
		"Entra External ID": {
			entraProvider, "https://acme.ciamlogin.com/acme.onmicrosoft.com/v2.0",
			"https://" + id + ".ciamlogin.com/" + id + "/v2.0", true,
		},
		"External ID, two IDs": {
			entraProvider, "https://acme.ciamlogin.com/a/v2.0", "https://" + id + ".ciamlogin.com/" + other + "/v2.0", false,
		},
		"Entra, another cloud": {
			entraProvider, entra + "acme.example/v2.0", "https://login.microsoftonline.us/" + id + "/v2.0", false,
		},
		"Entra, another tenant": {entraProvider, entra + id + "/v2.0", entra + other + "/v2.0", false},
		"Entra, a name":         {entraProvider, entra + "acme.example/v2.0", entra + "evil.example/v2.0", false},
		"Entra, another path":   {entraProvider, entra + "acme.example/v2.0", entra + id + "/v1.0", false},
		"Entra, another host":   {entraProvider, "https://op.example/a/v2.0", "https://op.example/" + id + "/v2.0", false},
		"another service": {
			providers.OIDC("m", ""), "https://op.example/a/v2.0", "https://op.example/" + id + "/v2.0", false,
		},
	} {
		if got := row.provider.AcceptIssuer(row.configured, row.found); got != row.accepted {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestOwnSignOut: Cognito, and Auth0 without the standard endpoint, require nonstandard logout parameters.
func TestOwnSignOut(t *testing.T) {
	t.Parallel()
	request := core.SignOutRequest{
		ClientID: "id", Issuer: "https://acme.auth0.com/", RedirectURI: "https://app.example/auth/logout/x", State: "s",
	}
	standard := request
	standard.Endpoint = "https://op.example/logout"
	for name, row := range map[string]struct {
		provider *core.OAuthProvider
		request  core.SignOutRequest
		want     string // "" for an error
	}{
		"Cognito": {
			providers.Cognito(), standard,
			"https://op.example/logout?client_id=id&logout_uri=https%3A%2F%2Fapp.example%2Fauth%2Flogout%2Fx",
		},
		"Cognito without an endpoint": {providers.Cognito(), request, ""},
		"Auth0": {
			providers.Auth0(), standard, "https://op.example/logout?client_id=id&" +
				"post_logout_redirect_uri=https%3A%2F%2Fapp.example%2Fauth%2Flogout%2Fx&state=s",
		},
		"Auth0 without the standard": {
			providers.Auth0(), request,
			"https://acme.auth0.com/v2/logout?client_id=id&returnTo=https%3A%2F%2Fapp.example%2Fauth%2Flogout%2Fx",
		},
	} {
		got, err := row.provider.SignOutURL(&row.request)
		if got != row.want || (err != nil) != (row.want == "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if !slices.Contains(providers.Cognito().Checks, core.CheckNonce) {
		t.Error("Cognito without a nonce: it puts one of its own into the ID token")
	}
}

// TestRevokedTokenErrorCodes has error responses with ambiguous error codes.
func TestRevokedTokenErrorCodes(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		provider *core.OAuthProvider
		body     string
		revoked  bool
	}{
		"Strava": {providers.Strava(), `{"message":"Bad Request","errors":[{"resource":"RefreshToken",` +
			`"field":"refresh_token","code":"invalid"}]}`, true},
		"Strava, the client": {providers.Strava(), `{"message":"Bad Request","errors":[{"resource":"Application",` +
			`"field":"client_id","code":"invalid"}]}`, false},
		"Strava, odd":        {providers.Strava(), `{"errors":[7,null,"x"]}`, false},
		"Twitch":             {providers.Twitch(), `{"status":400,"message":"Invalid refresh token"}`, true},
		"Twitch, the client": {providers.Twitch(), `{"status":400,"message":"invalid client"}`, false},
		"Atlassian": {
			providers.Atlassian(), `{"error":"unauthorized_client","error_description":"refresh_token is invalid"}`, true,
		},
		"Atlassian, a client": {providers.Atlassian(), `{"error":"unauthorized_client"}`, false},
		"osu!": {
			providers.Osu(), `{"error":"invalid_request","error_description":"The refresh token is invalid."}`, true,
		},
		"Wikimedia": {
			providers.Wikimedia(), `{"error":"invalid_request","message":"The refresh token is invalid."}`, true,
		},
		"osu!, something": {providers.Osu(), `{"error":"invalid_request","message":"Check the parameter."}`, false},
	} {
		var response core.Profile
		if err := response.UnmarshalJSON([]byte(row.body)); err != nil {
			t.Fatal(err)
		}
		if got := row.provider.RefreshTokenRevoked(response); got != row.revoked {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestGitHubHosts: the API of an Enterprise Server has the same host, that of ghe.com another one.
func TestGitHubHosts(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"": "https://api.github.com/user", "https://github.acme.example": "{base}/api/v3/user",
		"https://octocorp.ghe.com":      "https://api.octocorp.ghe.com/user",
		"https://octocorp.ghe.com/":     "https://api.octocorp.ghe.com/user",
		"https://OctoCorp.GHE.com":      "https://api.OctoCorp.GHE.com/user",
		"https://evil.example/.ghe.com": "{base}/api/v3/user",
		"https://ghe.com.evil.example":  "{base}/api/v3/user",
	} {
		if p := providers.GitHub(providers.Options{BaseURL: base}); p.Userinfo.URL != want {
			t.Errorf("%q: %s", base, p.Userinfo.URL)
		}
	}
}

// TestGitHubAddressesOfAnotherForm: if the response is not a list of addresses, the profile has no address.
func TestGitHubAddressesOfAnotherForm(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"message":"ok"}`, `null`, `[1]`, `<html>`, `[{"email":7,"primary":true}]`} {
		github := roundTrip(func(r *http.Request) string {
			if r.URL.Path == "/user" {
				return `{"id":1,"login":"ann","email":null}`
			}
			return body
		})
		tokens := &core.TokenSet{AccessToken: "a", Client: &http.Client{Transport: github}}
		p := providers.GitHub()
		profile, err := p.FetchUserinfo(context.Background(), &core.UserinfoRequest{Tokens: tokens, URL: p.Userinfo.URL})
		if err != nil || profile.Text("id") != "1" || profile.Text("email") != "" {
			t.Errorf("%s: %v, %v", body, profile, err)
		}
	}
}
