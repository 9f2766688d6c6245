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
	"sync/atomic"
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
type Client struct {
	config   Config
	target   atomic.Pointer[authorizationTarget] // cached
	redirect atomic.Pointer[redirectURI]         // cached
	form     atomic.Pointer[tokenForm]           // cached, for codes
	about    atomic.Pointer[userinfoTarget]      // cached
}

// New returns a Client. It sends no requests.
func New(c Config) *Client { return &Client{config: c} }

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

// Redeem exchanges the code for tokens (RFC 6749 section 4.1.3). verifier is "" if no challenge was sent. The code is
// sent once, with the configured client authentication method: a second attempt with another method would reveal the
// secret twice.
func (c *Client) Redeem(ctx context.Context, at Endpoints, code Code, verifier, redirectURI string) (*Tokens, error) {
	if code.value == "" {
		return nil, c.config.errorf(": %w", ErrNoCode)
	}
	g := grant{redirectURI: redirectURI, verified: verifier != ""}
	return c.tokenEndpoint(at).ask(ctx, g, code.value, verifier)
}

// Refresh exchanges a refresh token for new tokens (RFC 6749 section 6). If the provider no longer accepts it, the
// error is [ErrInvalidGrant].
func (c *Client) Refresh(ctx context.Context, at Endpoints, refreshToken string) (*Tokens, error) {
	return c.tokenEndpoint(at).ask(ctx, grant{refresh: true}, refreshToken, "")
}

func (c *Client) tokenEndpoint(at Endpoints) tokenEndpoint {
	return tokenEndpoint{&c.config, at, &c.form}
}
