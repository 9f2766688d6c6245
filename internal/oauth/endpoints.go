package oauth

import (
	"context"
	"slices"

	"github.com/latchkey-go/latchkey/internal/oidc"
)

// Endpoints are the provider's endpoints, configured or discovered. [Client.StartEndpoints] and [Client.Endpoints]
// return them.
type Endpoints struct {
	authorization, token, userinfo string
	metadata                       *oidc.Metadata // nil without discovery
}

// StartEndpoints returns the endpoints for an authorization request. It uses discovery only if the configuration lacks
// one.
func (c *Client) StartEndpoints(ctx context.Context) (Endpoints, error) {
	return c.endpoints(ctx, c.config.OpenID && c.config.Authorization.URL == "" || c.incomplete())
}

// Endpoints returns the endpoints for the steps after the callback. For OpenID Connect they include the issuer's
// metadata, which is needed to verify tokens.
func (c *Client) Endpoints(ctx context.Context) (Endpoints, error) {
	return c.endpoints(ctx, c.config.OpenID || c.incomplete())
}

// incomplete reports whether an OAuth provider with an issuer lacks a configured endpoint.
func (c *Client) incomplete() bool {
	o := &c.config
	lacks := o.Authorization.URL == "" || o.Token.URL == "" || o.Userinfo.URL == "" && !o.NoUserinfo
	return !o.OpenID && o.Issuer != "" && lacks
}

// endpoints completes the configured endpoints with the issuer's metadata, which is cached.
func (c *Client) endpoints(ctx context.Context, discover bool) (Endpoints, error) {
	o := &c.config
	at := Endpoints{authorization: o.Authorization.URL, token: o.Token.URL, userinfo: o.Userinfo.URL}
	if !discover {
		return at, nil
	}
	m, err := o.Documents.Metadata(ctx, o.Issuer)
	if err != nil {
		const mend = "check that the service is up, that this machine reaches it, and Issuer"
		return at, c.config.errorf(": discovery: %w: %s (%s)", err, mend, o.Variable("ISSUER"))
	}
	at.metadata = m
	at.authorization = or(at.authorization, m.AuthorizationEndpoint)
	at.token = or(at.token, m.TokenEndpoint)
	at.userinfo = or(at.userinfo, m.UserinfoEndpoint)
	return at, nil
}

// wantsEd25519 reports whether the provider supports Ed25519 signatures only under that name (RFC 9864 section 2.2).
// Most use the name "EdDSA".
func (e Endpoints) wantsEd25519() bool {
	if e.metadata == nil {
		return false
	}
	algs := e.metadata.TokenEndpointAuthSigningAlgs
	return slices.Contains(algs, "Ed25519") && !slices.Contains(algs, "EdDSA")
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
