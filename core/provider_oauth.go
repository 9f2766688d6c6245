package core

import (
	"context"
	"crypto"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/redact"
	"github.com/latchkey-go/latchkey/internal/oauth"
)

// Check is a protection of the authorization code flow.
type Check string

// The values of OAuthProvider.Checks.
const (
	CheckPKCE  Check = "pkce"  // PKCE with S256 (RFC 7636)
	CheckState Check = "state" // the parameter state (RFC 6749 section 10.12)
	CheckNonce Check = "nonce" // the claim nonce of the ID token (OpenID Connect Core section 3.1.2.1)
)

// ClientAuth is the method of client authentication at the token endpoint (RFC 6749 section 2.3, OpenID Connect Core
// section 9).
type ClientAuth string

// The client authentication methods. The default is ClientSecretBasic.
const (
	ClientSecretBasic ClientAuth = "client_secret_basic" // the client secret, with HTTP Basic authentication
	ClientSecretPost  ClientAuth = "client_secret_post"  // the client secret, in the body
	ClientSecretJWT   ClientAuth = "client_secret_jwt"   // a JWT that is signed with the client secret
	PrivateKeyJWT     ClientAuth = "private_key_jwt"     // a JWT that is signed with a private key
	ClientAuthNone    ClientAuth = "none"                // no authentication, for public clients
)

// Endpoint is an endpoint of a provider. If URL is empty, it is discovered from the issuer. Params are added to the
// query of a request, or to the form of a token request. In both, {client_id}, {client_secret} and {base} are replaced
// with the provider's ClientID, ClientSecret and BaseURL. In the Params of Token, {code} is replaced with the
// authorization code.
type Endpoint struct {
	URL    string
	Params url.Values
}

// OAuthProvider signs users in through OAuth 2 or OpenID Connect. ID is required. The zero value of every other field
// is a safe default, and New reports what is missing.
type OAuthProvider struct {
	// ID identifies the provider in URLs and accounts. It consists of lower-case letters, digits, '-', '_' and '.'.
	ID string
	// Name is the label of the button. The default is ID.
	Name string
	// Type is TypeOAuth or TypeOIDC.
	Type ProviderType
	// Fault is the error in the options of a constructor, or nil. If it is set, [New] reports it and skips its other
	// checks of this provider.
	Fault error
	// Issuer is the issuer identifier. For TypeOIDC, endpoints are discovered from it and ID tokens must contain it. For
	// TypeOAuth it is compared with the response parameter iss (RFC 9207); leave it empty if the service does not publish
	// one. It can be set in the environment as AUTH_<ID>_ISSUER.
	Issuer string
	// AcceptIssuer reports whether the discovery document of Issuer may name another issuer, which ID tokens must then
	// contain. It is for services whose issuer has an alias, such as a tenant's domain instead of its ID. A function that
	// accepts another operator's issuer lets that operator sign in as any user. If it is nil, both issuers must be equal
	// (OpenID Connect Discovery section 4.3).
	AcceptIssuer func(configured, found string) bool
	// AllowInsecureHTTP, if On, allows plain http to the hosts in Issuer, BaseURL and the endpoints of this provider, and
	// allows these host names to resolve to this machine. It is for a provider in the same container network, or behind a
	// proxy that adds TLS. An attacker who can read the network traffic obtains the client secret, codes and tokens. An
	// attacker who can change it can sign in as any user. It does not apply to other hosts, such as those in a discovery
	// document or a redirect. Default and False allow https only, except for localhost and loopback addresses. New logs a
	// warning if it is True.
	AllowInsecureHTTP OptionalBool
	// DefaultIssuer is the Issuer, or the BaseURL of a provider that uses it, if neither the configuration nor the
	// environment sets one.
	DefaultIssuer string
	// BaseURL is the address of a self-hosted service, without a slash at the end. It replaces {base} in the endpoints. It
	// can be set in the environment as AUTH_<ID>_ISSUER.
	BaseURL string
	// ClientID is the client ID. It can be set in the environment as AUTH_<ID>_ID.
	ClientID string
	// ClientSecret is the client secret. It can be set in the environment as AUTH_<ID>_SECRET.
	ClientSecret Secret
	// MakeClientSecret returns the client secret for each token request, for services that use a signed token as the
	// secret: see [SignedSecret]. If it is nil, ClientSecret is used.
	MakeClientSecret func(clientID string, now time.Time) (Secret, error)
	// ClientAuth is the client authentication method. The default is ClientSecretBasic.
	ClientAuth ClientAuth
	// ClientKey signs the assertions of PrivateKeyJWT, and ClientKeyID is its key ID. Both are returned by
	// [ParseClientKey]. In the environment, AUTH_<ID>_PRIVATE_KEY contains the text of the key, or
	// AUTH_<ID>_PRIVATE_KEY_FILE its path.
	ClientKey   crypto.Signer
	ClientKeyID string
	// Authorization, Token and Userinfo are the provider's endpoints. The default is the discovery document of Issuer.
	Authorization, Token, Userinfo Endpoint
	// RequestToken, if set, makes this an OAuth 1.0a provider (RFC 5849) and is its temporary credentials endpoint.
	// Authorization and Token are the other two endpoints, and ClientID and ClientSecret are the consumer key and secret.
	// Requests are signed with HMAC-SHA1. Scope, Checks, ClientAuth and redirect proxies are not used. The account
	// contains oauth_token and oauth_token_secret.
	RequestToken Endpoint
	// Scope is sent unless Authorization has a scope parameter. The default is "openid profile email". Set it to NoScope
	// to send none.
	Scope string
	// Checks are the protections of the flow. The default is pkce and state. Without state an attacker can inject their
	// own code into a user's flow, unless the service enforces PKCE (RFC 9700 section 2.1.1). An empty slice disables all
	// checks.
	Checks []Check
	// ProfileFromUserinfo makes TypeOIDC use the userinfo response as the profile instead of the ID token. If it is false,
	// the userinfo endpoint is called only if the ID token has neither name nor email and the scope includes profile or
	// email. Its claims are then added to those of the ID token, and if the call fails, the sign-in continues without
	// them.
	ProfileFromUserinfo bool
	// UserinfoAlg requires a signed userinfo response (OpenID Connect Core section 5.3.2) with this algorithm. A signed
	// response is always verified, even if it is not required.
	UserinfoAlg string
	// IDTokenAlgs lists the accepted signature algorithms. The default is what the issuer advertises, else RS256. "EdDSA"
	// and "Ed25519" are equivalent.
	IDTokenAlgs []string
	// Tenants lists the tenants whose users may sign in, for an issuer that serves several ({tenantid} in its discovery
	// document). If it is nil, all tenants may.
	Tenants []string
	// AccessTokenAlgs, for TypeOIDC, enables verification of access tokens that are JSON Web Tokens. The issuer must have
	// signed them with one of these algorithms, they must not be expired, and their subject must be that of the ID token
	// (RFC 9068 section 4). Opaque tokens are accepted. If it is nil, access tokens are not verified.
	AccessTokenAlgs []string
	// Profile maps the provider's profile to a person. The default is [StandardProfile]. A name is cut after 1,000 bytes,
	// and an image of more than 16 KiB is dropped.
	Profile func(ctx context.Context, profile Profile, tokens *TokenSet) (*Person, error)
	// Account selects which tokens are stored. The default is the standard members of the token response.
	Account func(tokens *TokenSet) *Account
	// ConformToken rewrites a token response that does not conform to RFC 6749.
	ConformToken func(body []byte) ([]byte, error)
	// RefreshTokenRevoked reports whether an error response to a refresh means that the refresh token is no longer
	// accepted; [Auth.Refresh] then returns [ErrInvalidGrant]. It is called for responses with a status below 500, except
	// 429, in addition to a list of known error codes. If it is nil, only the list is used.
	RefreshTokenRevoked func(response Profile) bool
	// FetchUserinfo replaces the userinfo request.
	FetchUserinfo func(ctx context.Context, r *UserinfoRequest) (Profile, error)
	// EmailVerified reports whether the provider has verified that the email address in a profile belongs to the user. It
	// is not called if the claim email_verified is false. If EmailVerified is nil, an address counts as verified only if
	// email_verified is true.
	EmailVerified func(profile Profile) bool
	// AllowDangerousEmailAccountLinking links a new account to the existing user with the same email address, if the
	// provider has verified the address (see EmailVerified). The provider then decides who may sign in as an existing
	// user. If the user has never verified the address here, the sign-in counts as its first verification;
	// docs/accounts.md describes the consequences. The default is false.
	AllowDangerousEmailAccountLinking bool
	// Logout, if On, makes a sign-out here also sign out at the provider, for TypeOIDC (OpenID Connect RP-Initiated Logout
	// 1.0). After the local session has ended, the browser is redirected to the end_session_endpoint of the provider that
	// the user signed in with. If the Store implements store.RecordStore, the request contains the ID token of the
	// sign-in; without it most providers ask the user first. The provider redirects the browser to <base
	// path>/logout/<id>, which must be registered there as a post-logout redirect URI. From there it goes to the callback
	// URL of the sign-out. If the provider cannot be reached, the user is still signed out here. Default and False leave
	// the session at the provider unchanged, as in Auth.js.
	Logout OptionalBool
	// Reauthenticates, if On, declares that the provider asks for the password, passkey or other credentials at every
	// sign-in, so that each sign-in counts as a recent authentication ([RecentSignIn]). Set it only if you are sure: if a
	// provider signs in a known user without asking, an attacker at an unlocked browser passes a step-up. With Default and
	// False, a sign-in is as old as auth_time in the ID token says (OpenID Connect Core section 2). It is not a recent
	// authentication if there is no auth_time, as with TypeOAuth, unless it creates the user. An auth_time is used in any
	// case.
	Reauthenticates OptionalBool
	// SignOutURL returns the sign-out address of the provider, for services that use their own parameters. The default is
	// the address of OpenID Connect RP-Initiated Logout 1.0. A provider of TypeOAuth may set it too. It must be safe for
	// concurrent use.
	SignOutURL func(r *SignOutRequest) (string, error)
	// RedirectProxyURL overrides Config.RedirectProxyURL for this provider.
	RedirectProxyURL string
	// HTTPClient replaces the client for requests to the provider. Size limits, deadlines and redirect rules still apply.
	HTTPClient *http.Client
	// Style is the look of the button.
	Style Style
}

// NoScope as a Scope sends no scope parameter.
const NoScope = "-"

// Describe implements [Provider].
func (p *OAuthProvider) Describe() (string, string, ProviderType) { return p.ID, p.Name, p.Type }

func (p *OAuthProvider) declaration() Provider { return p }

// TokenSet is the response of a token endpoint.
type TokenSet struct {
	AccessToken, RefreshToken, IDToken Secret
	TokenType, Scope                   string
	// ExpiresIn is the lifetime of the access token in whole seconds, and ExpiresAt is when it expires, to the second.
	// Both are zero if the response has no expires_in.
	ExpiresIn time.Duration
	ExpiresAt time.Time
	// Claims are the claims of the verified ID token. They are nil for plain OAuth.
	Claims Profile
	// Extra are the other members of the response.
	Extra Members
	// Now is when the response arrived.
	Now time.Time
	// Provider is the provider with its defaults, as New completed it. It is shared: do not write to it.
	Provider *OAuthProvider
	// Client sends further requests to the provider, with the same limits as all requests to it.
	Client *http.Client
}

// Send sends a request to the provider and returns the body of the response. The status must be 200 to 299. Errors
// contain the host, but no tokens and no other part of the URL.
func (t *TokenSet) Send(request *http.Request) ([]byte, error) {
	body, err := oauth.Send(t.Client, request)
	if err != nil {
		return nil, t.hide(err)
	}
	return body, nil
}

// hide returns err with these tokens removed from its text.
func (t *TokenSet) hide(err error) error {
	return redact.Secrets(err, t.Extra.Text("oauth_token"), t.Extra.Text("oauth_token_secret"),
		string(t.AccessToken), string(t.RefreshToken), string(t.IDToken))
}

// SignOutRequest is the input of a SignOutURL function.
type SignOutRequest struct {
	// Endpoint is the end_session_endpoint in the provider's metadata, or empty if there is none. Issuer and ClientID are
	// those of the provider.
	Endpoint, Issuer, ClientID string
	// RedirectURI is where the provider redirects the browser after the sign-out: <base path>/logout/<id>. Providers that
	// follow the standard return State with it.
	RedirectURI, State string
	// IDTokenHint is the ID token of the sign-in. It is empty if it is unknown or too long for a header.
	IDTokenHint Secret
}

// StandardURL returns the address of OpenID Connect RP-Initiated Logout 1.0 section 2. It returns an error if the
// provider publishes no endpoint.
func (r *SignOutRequest) StandardURL() (string, error) {
	return oauth.EndSession{
		Endpoint: r.Endpoint, ClientID: r.ClientID, RedirectURI: r.RedirectURI, State: r.State, Hint: string(r.IDTokenHint),
	}.URL()
}

// UserinfoRequest is the input of a FetchUserinfo function.
type UserinfoRequest struct {
	// Tokens are those of the token endpoint.
	Tokens *TokenSet
	// URL is the userinfo endpoint with its parameters.
	URL string
}

// Get sends a GET request with the access token as bearer token and parses the response. headers are pairs of name and
// value.
func (r *UserinfoRequest) Get(ctx context.Context, url string, headers ...string) (Profile, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+string(r.Tokens.AccessToken))
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return r.Do(request)
}

// Do sends a request and parses the response, which must be a JSON object with status 2xx.
func (r *UserinfoRequest) Do(request *http.Request) (Profile, error) {
	body, err := r.Tokens.Send(request)
	if err != nil {
		return nil, err
	}
	var profile Profile
	err = profile.UnmarshalJSON(body)
	return profile, err
}

// StandardProfile maps the standard claims (OpenID Connect Core section 5.1). The account ID is sub, else id. The name
// is the first of name, nickname and preferred_username. The email is email, and the image is picture.
func StandardProfile(_ context.Context, p Profile, _ *TokenSet) (*Person, error) {
	switch p["email"].(type) {
	case map[string]any, []any:
		return nil, errors.New("email is not a string")
	}
	return &Person{
		AccountID: p.Text(p.there("sub", "id")), Name: p.Text(p.there("name", "nickname", "preferred_username")),
		Email: p.Text("email"), Image: p.Text("picture"),
	}, nil
}
