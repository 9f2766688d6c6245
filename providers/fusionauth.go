package providers

import (
	"context"
	"errors"
	"maps"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// FusionAuthOptions changes the FusionAuth provider. The zero value changes nothing.
type FusionAuthOptions struct {
	Options
	// TenantID is the tenant of the users who can sign in. It may be empty if there is a single tenant.
	TenantID string
}

// FusionAuth signs in with FusionAuth accounts.
//
// Register the application at the admin interface of your installation with the callback URL
// {origin}/auth/callback/fusionauth. Environment: AUTH_FUSIONAUTH_ID, AUTH_FUSIONAUTH_SECRET, AUTH_FUSIONAUTH_ISSUER.
//
// Configure the application to sign access and ID tokens with RS256. Other algorithms are rejected, including HS256,
// which is the default of new applications. If there are several tenants, set TenantID; tokens of other tenants are
// then rejected.
func FusionAuth(options ...FusionAuthOptions) *core.OAuthProvider {
	o, fault := one(options)
	p := o.apply(&core.OAuthProvider{
		ID: "fusionauth", Name: "FusionAuth", Type: core.TypeOIDC, Fault: fault,
		Issuer:   "{base}",
		Token:    core.Endpoint{URL: "{base}/oauth2/token"},
		Userinfo: core.Endpoint{URL: "{base}/oauth2/userinfo"},
		Scope:    "openid offline_access email profile",
		Checks:   []core.Check{core.CheckPKCE, core.CheckState},
		Profile: mapping{
			id: "sub", name: "name || preferred_username || given_name + middle_name + family_name",
			email: "email", image: "picture",
		}.person(),

		IDTokenAlgs:     []string{"RS256"},
		AccessTokenAlgs: []string{"RS256"},
		Style:           core.Style{Mark: markFusionauth()},
	})
	if o.TenantID != "" {
		onlyTenant(p, o.TenantID)
	}
	return p
}

// onlyTenant requests a sign-in of one tenant and rejects the users of others.
func onlyTenant(p *core.OAuthProvider, tenant string) {
	params := url.Values{"tenantId": {tenant}}
	maps.Copy(params, p.Authorization.Params)
	p.Authorization.Params = params
	mapped := p.Profile
	p.Profile = func(ctx context.Context, profile core.Profile, tokens *core.TokenSet) (*core.Person, error) {
		if tid := profile.Text("tid"); tid != "" && tid != tenant {
			return nil, errors.New("the ID token belongs to another tenant")
		}
		return mapped(ctx, profile, tokens)
	}
}
