package oauth

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/internal/oidc"
)

// VerifyIDToken verifies the ID token of a sign-in (OpenID Connect Core section 3.1.3.7) and returns its claims: names
// exact, numbers as [json.Number]. nonce is the one sent, "" when none was. Access tokens are verified with it where
// the configuration says so.
func (c *Client) VerifyIDToken(ctx context.Context, at Endpoints, t *Tokens, nonce string) (map[string]any, error) {
	return c.verify(ctx, at, t, oidc.Expect{Nonce: nonce, MaxAge: c.config.MaxAge})
}

// VerifyRefreshed verifies the ID token that came with refreshed tokens: it must be about the same person as the
// earlier one or, where there is none, as subject (OpenID Connect Core section 12.2).
//
// An ID token is optional here, and the response may contain the only copy of a rotated refresh token. So an ID token
// that is not a signed token, or whose keys cannot be fetched at present, is removed from t, as if it had not come.
func (c *Client) VerifyRefreshed(ctx context.Context, at Endpoints, t *Tokens, earlierIDToken, subject string) error {
	earlier := map[string]any{"sub": subject}
	if earlierIDToken != "" {
		var err error
		if earlier, err = oidc.Claims(earlierIDToken); err != nil {
			return c.config.errorf(": the id_token of the account: %w", err)
		}
	}
	_, err := c.verify(ctx, at, t, oidc.Expect{Earlier: earlier})
	if err == nil {
		return nil
	}
	if _, malformed := oidc.Claims(t.IDToken); malformed != nil || errors.Is(err, oidc.ErrNoKeys) {
		t.IDToken = ""
		return nil
	}
	return err
}

// verify verifies signature and claims of an ID token, and of the access token where the configuration wants that.
func (c *Client) verify(ctx context.Context, at Endpoints, t *Tokens, expect oidc.Expect) (map[string]any, error) {
	o := &c.config
	if t.IDToken == "" {
		return nil, c.config.errorf(": the token answer has no id_token")
	}
	metadata, err := c.tenants().ofIDToken(ctx, at.metadata, t.IDToken)
	if err != nil {
		return nil, c.config.errorf(": %w", err)
	}
	expect.Metadata, expect.Algs, expect.AccessToken = metadata, o.IDTokenAlgs, t.AccessToken
	expect.ClientID, expect.ClientSecret = o.ClientID, o.ClientSecret
	claims, err := o.Documents.VerifyIDToken(ctx, t.IDToken, expect)
	if err != nil {
		return nil, c.config.errorf(": id_token: %w", err)
	}
	if o.AccessTokenAlgs != nil {
		signed := oidc.Expect{Metadata: metadata, Algs: o.AccessTokenAlgs}
		if err := o.Documents.VerifyAccessToken(ctx, t.AccessToken, claims["sub"], signed); err != nil {
			return nil, c.config.errorf(": access_token: %w", err)
		}
	}
	return claims, nil
}

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
