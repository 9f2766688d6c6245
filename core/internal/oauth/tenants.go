package oauth

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/internal/oidc"
)

// errForeignTenant says that a token is from a tenant whose users may not sign in.
var errForeignTenant = errors.New("the tenant is none of those that Tenants lists")

// tenants are those for whom one issuer speaks: [Config.Tenants], with the documents of each.
type tenants struct {
	documents *oidc.Discovery
	served    []string // nil: all
}

func (c *Client) tenants() tenants { return tenants{c.config.Documents, c.config.Tenants} }

// ofIDToken returns the metadata that an ID token is held against: the issuer's, or that of the tenant which the token
// names, where one issuer speaks for several. The name only chooses among the issuer's own tenants; the token is
// verified with the keys of the one chosen.
func (t tenants) ofIDToken(ctx context.Context, m *oidc.Metadata, idToken string) (*oidc.Metadata, error) {
	if !m.ManyTenants() {
		return m, nil
	}
	tenant, err := oidc.TenantOf(idToken)
	if err != nil {
		return nil, err
	}
	if !t.serve(tenant) {
		return nil, errForeignTenant
	}
	return t.documents.Tenant(ctx, m, tenant)
}

// serve reports whether the users of a tenant may sign in.
func (t tenants) serve(tenant string) bool {
	return t.served == nil || slices.Contains(t.served, tenant)
}
