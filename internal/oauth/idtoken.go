package oauth

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/internal/oidc"
)

// VerifyIDToken verifies the ID token of a sign-in (OpenID Connect Core section 3.1.3.7) and returns its claims. Names
// are exact, and numbers are of type [json.Number]. nonce is the nonce that was sent, or "". If the configuration
// requires it, the access token is verified too.
func (c *Client) VerifyIDToken(ctx context.Context, at Endpoints, t *Tokens, nonce string) (map[string]any, error) {
	return c.verify(ctx, at, t, oidc.Expect{Nonce: nonce, MaxAge: c.config.MaxAge})
}

// VerifyAppIDToken verifies an ID token that an app received from an SDK of the provider and sent here. An attacker
// can send one too, so the keys of a tenant are fetched at a limited rate only. The token must be for one of clientIDs,
// and nonce is required; see [oidc.Expect].
func (c *Client) VerifyAppIDToken(
	ctx context.Context, at Endpoints, idToken, nonce string, clientIDs []string,
) (map[string]any, error) {
	expect := oidc.Expect{Nonce: nonce, AppClientIDs: append([]string{}, clientIDs...), MaxAge: c.config.MaxAge}
	return c.verify(ctx, at, &Tokens{IDToken: idToken}, expect)
}

// VerifyRefreshed verifies the ID token in a refresh response. It must be about the same user as the earlier one or,
// without an earlier one, about subject (OpenID Connect Core section 12.2).
//
// An ID token is optional here, and the response may contain the only copy of a rotated refresh token. So an ID token
// that is not a signed token, or whose keys cannot be fetched at present, is removed from t and otherwise ignored.
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

// verify verifies the signature and claims of an ID token, and the access token if the configuration requires that.
func (c *Client) verify(ctx context.Context, at Endpoints, t *Tokens, expect oidc.Expect) (map[string]any, error) {
	o := &c.config
	if t.IDToken == "" {
		return nil, c.config.errorf(": the token response has no id_token")
	}
	byApp := expect.AppClientIDs != nil
	metadata, err := c.tenants().ofIDToken(ctx, at.metadata, t.IDToken, byApp)
	if err != nil {
		return nil, c.config.errorf(": %w", err)
	}
	expect.Metadata, expect.Algs, expect.AccessToken = metadata, o.IDTokenAlgs, t.AccessToken
	if !byApp { // an app has no secret, so that HS256 fails
		expect.ClientID, expect.ClientSecret = o.ClientID, o.ClientSecret
	}
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

// errForeignTenant is the error of a token from a tenant whose users may not sign in.
var errForeignTenant = errors.New("the tenant is not listed in Tenants")

// tenants are the tenants of an issuer that are accepted ([Config.Tenants]), with their documents.
type tenants struct {
	documents *oidc.Discovery
	served    []string // nil means all
}

func (c *Client) tenants() tenants { return tenants{c.config.Documents, c.config.Tenants} }

// ofIDToken returns the metadata for verifying an ID token: that of the issuer or, if the issuer has several tenants,
// that of the tenant named in the token. The name only selects one of the issuer's own tenants, and the token is
// verified with the keys of that tenant. byApp means that an attacker may have sent the token.
func (t tenants) ofIDToken(
	ctx context.Context, m *oidc.Metadata, idToken string, byApp bool,
) (*oidc.Metadata, error) {
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
	if byApp {
		return t.documents.TenantForUntrusted(ctx, m, tenant)
	}
	return t.documents.Tenant(ctx, m, tenant)
}

// serve reports whether the users of a tenant may sign in.
func (t tenants) serve(tenant string) bool {
	return t.served == nil || slices.Contains(t.served, tenant)
}
