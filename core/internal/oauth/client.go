// Package oauth is the client of one OAuth 2.0 or OpenID Connect provider, and of services that still speak OAuth 1.0a.
// It knows neither requests of visitors nor cookies, sessions and users: plain values come in, plain values and errors
// go out.
//
// A sign-in takes these steps, each of which needs what an earlier one returned:
//
//	[Client.StartEndpoints] → [Client.Authorize]      the visitor goes to the provider
//	[Client.Endpoints] → [ReadAnswer] → [Client.Accept] → [Client.Redeem]
//	                   → [Client.VerifyIDToken] → [Client.Userinfo]
//
// Between ReadAnswer and Accept the caller compares the state of the answer with the one sent, which only the visitor's
// browser remembers. [Client.Refresh] with [Client.VerifyRefreshed] and [Client.ReadLogoutToken] with
// [Client.VerifyLogoutToken] stand apart. OAuth 1.0a has a client and steps of its own: [Client1.RequestToken] →
// [Client1.AuthorizeRequestToken], and at the answer [ReadVerifier] → [Client1.AccessToken] → [Client1.Userinfo].
//
// Errors name the provider and hold no code, token or secret. These say whose fault it is: [*AnswerError], [*Refusal],
// [ErrNoCode], [ErrNotAllowed], [ErrURLTooLong] and [ErrInvalidGrant].
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

	"github.com/latchkey-go/latchkey/core/internal/oidc"
	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

// The ways in which a client proves itself at the token endpoint (RFC 6749 section 2.3, OpenID Connect Core section 9).
const (
	ClientSecretBasic = "client_secret_basic"
	ClientSecretPost  = "client_secret_post"
	ClientSecretJWT   = "client_secret_jwt"
	PrivateKeyJWT     = "private_key_jwt"
	ClientAuthNone    = "none"
)

// Endpoint is an address of the provider with parameters that are added to its query or, for the token endpoint, to the
// form.
type Endpoint struct {
	URL    string
	Params url.Values
}

// Config is an application as a client of one provider. Nothing in it changes after [New] or [New1].
type Config struct {
	// ID names the provider in errors.
	ID string
	// OpenID makes the provider one of OpenID Connect: the token answer has an ID token, and Issuer is set.
	OpenID bool
	// Issuer is the issuer identifier, empty when a plain OAuth service has none. What the endpoints leave open is
	// discovered from it.
	Issuer string

	// ClientID and ClientSecret identify the client; MakeClientSecret, when set, makes the secret where ClientSecret is
	// empty.
	ClientID, ClientSecret string
	MakeClientSecret       func() (string, error)
	// ClientAuth is one of the constants. ClientKey signs for PrivateKeyJWT, under the name ClientKeyID.
	ClientAuth  string
	ClientKey   crypto.Signer
	ClientKeyID string

	// Authorization, Token and Userinfo are the endpoints that the configuration names. In the parameters of Token {code}
	// stands for the code. RequestToken is the further one of OAuth 1.0a.
	Authorization, Token, Userinfo, RequestToken Endpoint
	// NoUserinfo says that the application asks for the profile itself: no userinfo endpoint is looked for.
	NoUserinfo bool
	// Scope is sent unless the authorization endpoint has one; empty: none.
	Scope string

	// MaxAge is the max_age that authorization requests carry, zero for none: ID tokens are held to it.
	MaxAge time.Duration
	// IDTokenAlgs, AccessTokenAlgs and UserinfoAlg are the signature algorithms accepted. nil and empty: for ID tokens
	// what the issuer advertises, access tokens are not looked at, userinfo need not be signed.
	IDTokenAlgs, AccessTokenAlgs []string
	UserinfoAlg                  string
	// Tenants are those whose users may sign in where one issuer speaks for several; nil: all.
	Tenants []string
	// ConformToken, when set, rewrites a token answer before it is read.
	ConformToken func(body []byte) ([]byte, error)
	// RefreshTokenRevoked, if not nil, reports whether an error response to a refresh means that the refresh token is no
	// longer accepted, in addition to the error codes that are known.
	RefreshTokenRevoked func(body map[string]any) bool

	// Variable is the name of the environment variable that fills a field, for errors: "ID", "SECRET", "ISSUER",
	// "PRIVATE_KEY".
	Variable func(field string) string
	// HTTP sends the requests, Documents fetches and caches metadata and keys.
	HTTP      *upstream.Client
	Documents *oidc.Discovery
	// Now is the clock, Rand the source of nonces, NewID makes the id of a client assertion.
	Now   func() time.Time
	Rand  io.Reader
	NewID func() (string, error)
}

// Client is the client of one provider. It is immutable and safe for concurrent use; make it with [New].
type Client struct {
	config   Config
	target   atomic.Pointer[authorizationTarget] // the last one that was asked for
	redirect atomic.Pointer[redirectURI]         // likewise
	form     atomic.Pointer[tokenForm]           // the last one of a code
	about    atomic.Pointer[userinfoTarget]      // the last one that was asked
}

// New returns a Client. It sends nothing.
func New(c Config) *Client { return &Client{config: c} }

// Transport sends further requests to the provider under the bounds of all requests to it.
func (c *Client) Transport() http.RoundTripper { return c.config.transport() }

// errorf makes an error that begins with the provider.
func (c *Config) errorf(format string, args ...any) error {
	return fmt.Errorf("provider %q"+format, append([]any{c.ID}, args...)...)
}

// transport sends further requests to the provider under the bounds of all requests to it.
func (c *Config) transport() http.RoundTripper { return c.HTTP.Transport(upstream.NoRedirects) }

// withParams is the address with the parameters in its query.
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

// request makes a request without a body to an endpoint with its parameters.
func (e Endpoint) request(ctx context.Context, method string) (*http.Request, error) {
	target, err := e.URL, error(nil)
	if len(e.Params) > 0 {
		if target, err = e.withParams(); err != nil {
			return nil, err
		}
	}
	return http.NewRequestWithContext(ctx, method, target, nil)
}

// Redeem exchanges the code for tokens (RFC 6749 section 4.1.3); verifier is "" when no challenge was sent. The code
// goes out once, in the configured style of client authentication: a second attempt in another style would show the
// secret twice.
func (c *Client) Redeem(ctx context.Context, at Endpoints, code Code, verifier, redirectURI string) (*Tokens, error) {
	if code.value == "" {
		return nil, c.config.errorf(": %w", ErrNoCode)
	}
	g := grant{redirectURI: redirectURI, verified: verifier != ""}
	return c.tokenEndpoint(at).ask(ctx, g, code.value, verifier)
}

// Refresh exchanges a refresh token for tokens (RFC 6749 section 6). The error of a provider that no longer accepts it
// is [ErrInvalidGrant].
func (c *Client) Refresh(ctx context.Context, at Endpoints, refreshToken string) (*Tokens, error) {
	return c.tokenEndpoint(at).ask(ctx, grant{refresh: true}, refreshToken, "")
}

func (c *Client) tokenEndpoint(at Endpoints) tokenEndpoint {
	return tokenEndpoint{&c.config, at, &c.form}
}
