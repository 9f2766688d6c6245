// Package oauth is the client of one OAuth 2.0, OpenID Connect or OAuth 1.0a provider. It has no knowledge of HTTP
// requests of users, cookies, sessions or users.
//
// A sign-in takes these steps, in this order:
//
//	[Client.StartEndpoints] → [Client.Authorize]      the browser is redirected to the provider
//	[Client.Endpoints] → [ReadAnswer] → [Client.Accept] → [Client.Redeem]
//	                   → [Client.VerifyIDToken] → [Client.Userinfo]
//
// Between ReadAnswer and Accept, the caller compares the state of the response with the state that was sent, which is
// stored only in the user's browser. Independent of sign-ins are [Client.Refresh] with [Client.VerifyRefreshed], and
// [Client.ReadLogoutToken] with [Client.VerifyLogoutToken]. OAuth 1.0a has a separate client with the steps
// [Client1.RequestToken] → [Client1.AuthorizeRequestToken] and, at the callback, [ReadVerifier] → [Client1.AccessToken]
// → [Client1.Userinfo].
//
// Errors name the provider and contain no code, token or secret. These errors identify the cause: [*AnswerError],
// [*Refusal], [ErrNoCode], [ErrNotAllowed], [ErrURLTooLong] and [ErrInvalidGrant].
package oauth

import (
	"context"
	"crypto"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/internal/oidc"
	"github.com/latchkey-go/latchkey/internal/upstream"
)

// The client authentication methods at the token endpoint (RFC 6749 section 2.3, OpenID Connect Core section 9).
const (
	ClientSecretBasic = "client_secret_basic"
	ClientSecretPost  = "client_secret_post"
	ClientSecretJWT   = "client_secret_jwt"
	PrivateKeyJWT     = "private_key_jwt"
	ClientAuthNone    = "none"
)

// Endpoint is a URL of the provider, with parameters that are added to its query or, for the token endpoint, to the
// form.
type Endpoint struct {
	URL    string
	Params url.Values
}

// Config is the configuration of an application as the client of one provider. It must not change after [New] or
// [New1].
type Config struct {
	// ID names the provider in errors.
	ID string
	// OpenID means that the provider uses OpenID Connect: token responses have an ID token, and Issuer is set.
	OpenID bool
	// Issuer is the issuer identifier. It is empty for an OAuth provider without one. Endpoints that are not configured
	// are discovered from it.
	Issuer string

	// ClientID and ClientSecret identify the client. If ClientSecret is empty and MakeClientSecret is set, that returns
	// the secret.
	ClientID, ClientSecret string
	MakeClientSecret       func() (string, error)
	// ClientAuth is one of the constants. ClientKey, with the ID ClientKeyID, is the key for PrivateKeyJWT.
	ClientAuth  string
	ClientKey   crypto.Signer
	ClientKeyID string

	// Authorization, Token and Userinfo are the configured endpoints. In the parameters of Token, {code} is replaced by
	// the code. RequestToken is an additional endpoint of OAuth 1.0a.
	Authorization, Token, Userinfo, RequestToken Endpoint
	// NoUserinfo means that the application requests the profile itself, so a userinfo endpoint is not required.
	NoUserinfo bool
	// Scope is sent unless the authorization endpoint contains one. It may be empty.
	Scope string

	// MaxAge is the max_age of authorization requests, or zero if none is sent. ID tokens are checked against it.
	MaxAge time.Duration
	// IDTokenAlgs, AccessTokenAlgs and UserinfoAlg are the accepted signature algorithms. If they are empty, ID tokens may
	// use the algorithms that the issuer advertises, access tokens are not verified, and userinfo need not be signed.
	IDTokenAlgs, AccessTokenAlgs []string
	UserinfoAlg                  string
	// Tenants are the tenants whose users may sign in, for an issuer with several tenants. If it is nil, all may.
	Tenants []string
	// ConformToken, if not nil, rewrites a token response before it is read.
	ConformToken func(body []byte) ([]byte, error)
	// RefreshTokenRevoked, if not nil, reports whether an error response to a refresh means that the refresh token is no
	// longer accepted. The known error codes are recognized without it.
	RefreshTokenRevoked func(body map[string]any) bool

	// Variable returns the name of the environment variable for a field, for error messages. Fields are "ID", "SECRET",
	// "ISSUER" and "PRIVATE_KEY".
	Variable func(field string) string
	// HTTP sends the requests, Documents fetches and caches metadata and keys.
	HTTP      *upstream.Client
	Documents *oidc.Discovery
	// Now is the clock, Rand the source of randomness, and NewID returns the ID of a client assertion.
	Now   func() time.Time
	Rand  io.Reader
	NewID func() (string, error)
}

// Client is the client of one provider. It is immutable and safe for concurrent use. Create it with [New].
type Client struct{ config Config }

// New returns a Client. It sends no requests.
func New(c Config) *Client { return &Client{c} }

// Transport returns a transport for further requests to the provider, with the same limits.
func (c *Client) Transport() http.RoundTripper { return c.config.transport() }

// errorf returns an error whose text starts with the provider.
func (c *Config) errorf(format string, args ...any) error {
	return fmt.Errorf("provider %q"+format, append([]any{c.ID}, args...)...)
}

// transport returns a transport for further requests to the provider, with the same limits.
func (c *Config) transport() http.RoundTripper { return c.HTTP.Transport(upstream.NoRedirects) }

// withParams returns the URL with the parameters in its query.
func (e Endpoint) withParams() (string, error) {
	target, err := url.Parse(e.URL)
	if err != nil {
		return "", err
	}
	if len(e.Params) > 0 {
		query := target.Query()
		for name, values := range e.Params {
			query[name] = values
		}
		target.RawQuery = query.Encode()
	}
	return target.String(), nil
}

// request returns a request without a body to an endpoint with its parameters.
func (e Endpoint) request(ctx context.Context, method string) (*http.Request, error) {
	target, err := e.URL, error(nil)
	if len(e.Params) > 0 {
		if target, err = e.withParams(); err != nil {
			return nil, err
		}
	}
	return http.NewRequestWithContext(ctx, method, target, nil)
}

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
