package oauth

import (
	"context"

	"github.com/latchkey-go/latchkey/core/internal/oidc"
)

// ReadLogoutToken takes a logout token apart (OpenID Connect Back-Channel Logout section 2.6) and fetches nothing:
// strangers can post such tokens. Nothing in it is believed before [Client.VerifyLogoutToken].
func (c *Client) ReadLogoutToken(raw string) (*oidc.LogoutToken, error) {
	return c.config.Documents.ReadLogoutToken(raw, c.config.ClientID)
}

// VerifyLogoutToken checks issuer and signature of a logout token and returns what it says.
func (c *Client) VerifyLogoutToken(ctx context.Context, at Endpoints, t *oidc.LogoutToken) (*oidc.Logout, error) {
	metadata, err := c.issuerOfLogout(ctx, at.metadata, t)
	if err != nil {
		return nil, err
	}
	o := &c.config
	expect := oidc.Expect{Metadata: metadata, ClientSecret: o.ClientSecret, Algs: o.IDTokenAlgs}
	return o.Documents.VerifyLogoutToken(ctx, t, expect)
}

// issuerOfLogout is tenantOf for a token that a stranger may have posted: what it names is looked at before it is
// asked.
func (c *Client) issuerOfLogout(ctx context.Context, m *oidc.Metadata, t *oidc.LogoutToken) (*oidc.Metadata, error) {
	if !m.ManyTenants() {
		return m, nil
	}
	tenant, err := t.Tenant(m)
	if err != nil {
		return nil, err
	}
	if !c.serves(tenant) {
		return nil, errForeignTenant
	}
	return c.config.Documents.TenantForStranger(ctx, m, tenant)
}
