package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/latchkey-go/latchkey/internal/oidc"
)

// EndSession is a request to sign out at the provider (OpenID Connect RP-Initiated Logout section 2).
type EndSession struct {
	// Endpoint is the end_session_endpoint. It is empty if the provider publishes none. ClientID identifies the client.
	Endpoint, ClientID string
	// RedirectURI is where the provider redirects the browser afterwards. State is returned as a parameter of that
	// redirect.
	RedirectURI, State string
	// Hint is the ID token of the provider session. It is empty if none is known.
	Hint string
}

// ErrNoEndSession is the error of a provider that publishes no usable end_session_endpoint.
var ErrNoEndSession = errors.New("its metadata names no end_session_endpoint, or one that is not an https URL")

// URL returns the sign-out URL for the browser. With a Hint it may be too long for a header.
func (r EndSession) URL() (string, error) {
	if r.Endpoint == "" {
		return "", ErrNoEndSession
	}
	params := url.Values{
		"client_id": {r.ClientID}, "post_logout_redirect_uri": {r.RedirectURI}, "state": {r.State},
	}
	if r.Hint != "" {
		params.Set("id_token_hint", r.Hint)
	}
	target, err := Endpoint{URL: r.Endpoint, Params: params}.withParams()
	if err != nil {
		return "", fmt.Errorf("end_session_endpoint: %w", err)
	}
	return target, nil
}

// EndSession returns a sign-out request without RedirectURI, State and Hint.
func (c *Client) EndSession(at Endpoints) EndSession {
	r := EndSession{ClientID: c.config.ClientID}
	if at.metadata != nil {
		r.Endpoint = at.metadata.EndSessionEndpoint
	}
	return r
}

// ReadLogoutToken parses a logout token (OpenID Connect Back-Channel Logout section 2.6). It sends no requests, because
// attackers can post such tokens. The content is not trusted until [Client.VerifyLogoutToken].
func (c *Client) ReadLogoutToken(raw string) (*oidc.LogoutToken, error) {
	return c.config.Documents.ReadLogoutToken(raw, c.config.ClientID)
}

// VerifyLogoutToken verifies the issuer and signature of a logout token and returns its content.
func (c *Client) VerifyLogoutToken(ctx context.Context, at Endpoints, t *oidc.LogoutToken) (*oidc.Logout, error) {
	metadata, err := c.tenants().ofLogout(ctx, at.metadata, t)
	if err != nil {
		return nil, err
	}
	o := &c.config
	expect := oidc.Expect{Metadata: metadata, ClientSecret: o.ClientSecret, Algs: o.IDTokenAlgs}
	return o.Documents.VerifyLogoutToken(ctx, t, expect)
}

// ofLogout is ofIDToken for a logout token, which an attacker may have posted. It checks the tenant before it fetches
// the tenant's document.
func (t tenants) ofLogout(ctx context.Context, m *oidc.Metadata, token *oidc.LogoutToken) (*oidc.Metadata, error) {
	if !m.ManyTenants() {
		return m, nil
	}
	tenant, err := token.Tenant(m)
	if err != nil {
		return nil, err
	}
	if !t.serve(tenant) {
		return nil, errForeignTenant
	}
	return t.documents.TenantForUntrusted(ctx, m, tenant)
}
