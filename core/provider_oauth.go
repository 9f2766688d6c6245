package core

import (
	"context"
	"crypto"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/oauth"
)

// Check is a protection of the authorization code flow.
type Check string

// The checks. PKCE is the default.
const (
	CheckPKCE  Check = "pkce"
	CheckState Check = "state"
	CheckNonce Check = "nonce"
)

// ClientAuth is how the client proves itself at the token endpoint (RFC 6749 section 2.3, OpenID Connect Core
// section 9).
type ClientAuth string

// The client authentication methods; the default is ClientSecretBasic.
const (
	ClientSecretBasic ClientAuth = "client_secret_basic"
	ClientSecretPost  ClientAuth = "client_secret_post"
	ClientSecretJWT   ClientAuth = "client_secret_jwt"
	PrivateKeyJWT     ClientAuth = "private_key_jwt"
	ClientAuthNone    ClientAuth = "none"
)

// Endpoint is an address of a provider. An empty URL is discovered from the issuer; Params are added to the query of a
// request to it, or to the form of a token request. In both, {client_id}, {client_secret} and {base} stand for the
// provider's ClientID, ClientSecret and BaseURL, and in the Params of Token {code} for the authorization code.
type Endpoint struct {
	URL    string
	Params url.Values
}

// OAuthProvider signs in through OAuth 2 or OpenID Connect. The zero value of every field but ID is a sound default;
// New reports what is missing.
type OAuthProvider struct {
	// ID names the provider in URLs and in accounts: lower-case letters, digits, '-', '_' and '.'.
	ID string
	// Name is shown on the button.
	Name string
	// Type is TypeOAuth or TypeOIDC.
	Type ProviderType
	// Fault is what is wrong with the options that a constructor was given; nil: nothing. [New] reports it in place of
	// what it would find itself.
	Fault error
	// Issuer is the issuer identifier. For TypeOIDC endpoints are discovered from it and ID tokens must carry it; for
	// TypeOAuth it is what the iss response parameter is compared with (RFC 9207), empty when the service publishes none.
	// Environment: AUTH_<ID>_ISSUER.
	Issuer string
	// AcceptIssuer reports whether the discovery document that was fetched for Issuer may name another issuer, which ID
	// tokens must then carry. It is for services whose issuer has an alias, such as a tenant's domain instead of its ID. A
	// function that accepts an issuer of another operator lets that operator sign in any user. If it is nil, both issuers
	// must be equal (OpenID Connect Discovery section 4.3).
	AcceptIssuer func(configured, found string) bool
	// AllowInsecureHTTP allows plain http to the hosts that Issuer, BaseURL and the endpoints of this provider name, and
	// allows these names to resolve to this machine: for a provider next to the application in a container network, or
	// behind a proxy that adds TLS. An attacker who can read the network reads the client secret, codes and tokens, and
	// one who can change it signs in as any user. It does not apply to other hosts, whether a discovery document names
	// them or a response redirects to them. Auto and Off: https only, except for localhost and loopback addresses. New
	// logs a warning if it is On.
	AllowInsecureHTTP Toggle
	// DefaultIssuer is the Issuer, or the BaseURL of a provider that uses it, where neither configuration nor environment
	// has one.
	DefaultIssuer string
	// BaseURL is the address of a service that people run themselves, without a slash at its end; {base} in the endpoints
	// stands for it. Environment: AUTH_<ID>_ISSUER.
	BaseURL string
	// ClientID is the client id. Environment: AUTH_<ID>_ID.
	ClientID string
	// ClientSecret is the client secret. Environment: AUTH_<ID>_SECRET.
	ClientSecret Secret
	// MakeClientSecret makes the secret of each token request, for services whose secret is a signed token; nil:
	// ClientSecret.
	MakeClientSecret func(clientID string, now time.Time) (Secret, error)
	// ClientAuth is how the client proves itself.
	ClientAuth ClientAuth
	// ClientKey signs the assertions of PrivateKeyJWT; ClientKeyID is its key id. Both come from [ParseClientKey];
	// environment: AUTH_<ID>_PRIVATE_KEY with the text of the key, or AUTH_<ID>_PRIVATE_KEY_FILE with its path.
	ClientKey   crypto.Signer
	ClientKeyID string
	// Authorization, Token and Userinfo are the endpoints.
	Authorization, Token, Userinfo Endpoint
	// RequestToken makes the provider one of OAuth 1.0a (RFC 5849): where request tokens come from. Authorization and
	// Token are its other two endpoints, ClientID and ClientSecret key and secret of the consumer; requests are signed
	// with HMAC-SHA1. Scope, Checks, ClientAuth and redirect proxies have no meaning there. The account keeps oauth_token
	// and oauth_token_secret.
	RequestToken Endpoint
	// Scope is sent unless Authorization has one; empty: "openid profile email". NoScope sends none.
	Scope string
	// Checks protect the flow; nil: pkce and state. Without state an attacker's code can be brought into a visitor's flow
	// unless the service insists on PKCE (RFC 9700 section 2.1.1). An empty slice switches all off.
	Checks []Check
	// ProfileFromUserinfo takes the profile of TypeOIDC from the userinfo endpoint rather than from the ID token. If it is
	// false, the userinfo endpoint is asked only if the ID token has neither name nor email and the scope includes profile
	// or email: then its claims are added to those of the ID token, and the sign-in continues without them if it fails.
	ProfileFromUserinfo bool
	// UserinfoAlg demands a signed answer of the userinfo endpoint (OpenID Connect Core section 5.3.2), with this
	// algorithm. Signed answers are verified whether they are demanded or not.
	UserinfoAlg string
	// IDTokenAlgs are the signature algorithms accepted; nil: what the issuer advertises, else RS256.
	IDTokenAlgs []string
	// Tenants are those whose users may sign in, where one issuer speaks for several ({tenantid} in its discovery
	// document); nil: all of them.
	Tenants []string
	// AccessTokenAlgs, for TypeOIDC, has access tokens that are JSON Web Tokens verified: signed by the issuer with one of
	// these, not expired, about the subject of the ID token (RFC 9068 section 4). Opaque ones pass. nil: access tokens are
	// not looked at.
	AccessTokenAlgs []string
	// Profile maps the provider's answer to a person; nil: [StandardProfile]. A name is cut
	// after 1,000 bytes, and an image of more than 16 KiB left out.
	Profile func(ctx context.Context, profile Profile, tokens *TokenSet) (*Person, error)
	// Account chooses what of the token answer is stored; nil: the standard members.
	Account func(tokens *TokenSet) *Account
	// ConformToken rewrites a token answer that is not as RFC 6749 wants it.
	ConformToken func(body []byte) ([]byte, error)
	// RefreshTokenRevoked reports whether an error response to a refresh says that the refresh token is no longer
	// accepted, so that [Auth.Refresh] returns [ErrInvalidGrant]. It is called for responses with a status below 500,
	// other than 429, in addition to a list of known error codes; nil: the list alone.
	RefreshTokenRevoked func(response Profile) bool
	// FetchUserinfo replaces the userinfo request.
	FetchUserinfo func(ctx context.Context, r *UserinfoRequest) (Profile, error)
	// EmailProved reports whether the service vouches for the address in a profile: that it belongs to the person. nil:
	// when the claim email_verified is true, and not when there is none. It is not asked where that claim is false.
	EmailProved func(profile Profile) bool
	// AllowDangerousEmailAccountLinking links a new account to the user of the same e-mail, when the provider vouches for
	// the address. A visitor whom the provider takes for the owner of an address becomes that user. Where the user has
	// never proved the address the provider's word is the first proof of it: docs/accounts.md tells what follows. Off by
	// default.
	AllowDangerousEmailAccountLinking bool
	// Logout has a sign-out here lead on to the provider's, for TypeOIDC (OpenID Connect RP-Initiated Logout 1.0). On:
	// when the session here has ended, the browser goes to the end_session_endpoint of the provider with whom it began,
	// with the ID token of that sign-in where the Store is a store.RecordStore, and without it, so that most providers ask
	// first, where it is not. The provider sends it back to <base path>/logout/<id>, which has to be registered there as a
	// post-logout redirect URI, and from there it goes where the sign-out was to lead. A provider that cannot be reached
	// keeps nobody signed in here. Auto and Off: the session at the provider is left alone, as in Auth.js.
	Logout Toggle
	// Reauthenticates says that the provider asks users for their password, passkey or another proof at every sign-in, so
	// that each sign-in with it is a recent authentication ([Fresh]). Set it to On only if you know that: a provider that
	// signs in a known user without asking lets an attacker at an unlocked browser pass a step-up. Auto and Off: a sign-in
	// by a user who is signed in already is as old as auth_time in the ID token says (OpenID Connect Core section 2), and
	// is no recent authentication if there is none, as with TypeOAuth. An auth_time counts in any case.
	Reauthenticates Toggle
	// SignOutURL returns the provider's sign-out address for the browser, for services with parameters of their
	// own. If it is nil, the address is that of OpenID Connect RP-Initiated Logout 1.0. It may also serve a provider of
	// TypeOAuth. It must be safe for concurrent use.
	SignOutURL func(r *SignOutRequest) (string, error)
	// RedirectProxyURL overrides Config.RedirectProxyURL for this provider.
	RedirectProxyURL string
	// HTTPClient replaces the client for requests to the provider; bounds, deadlines and redirect rules still hold.
	HTTPClient *http.Client
	// Style is the button's look.
	Style Style
}

// NoScope as a Scope sends no scope parameter.
const NoScope = "-"

// Describe implements [Provider].
func (p *OAuthProvider) Describe() (string, string, ProviderType) { return p.ID, p.Name, p.Type }

func (p *OAuthProvider) declaration() Provider { return p }

// TokenSet is the answer of a token endpoint.
type TokenSet struct {
	AccessToken, RefreshToken, IDToken Secret
	TokenType, Scope                   string
	// ExpiresIn is the lifetime of the access token in whole seconds, and ExpiresAt when it ends, to the second; both are
	// zero when the answer has no expires_in.
	ExpiresIn time.Duration
	ExpiresAt time.Time
	// Claims are those of the verified ID token, nil for plain OAuth.
	Claims Profile
	// Extra are the other members of the answer.
	Extra Members
	// Now is when the answer came.
	Now time.Time
	// Provider is the provider as New completed it. It is shared: do not write to it.
	Provider *OAuthProvider
	// Client sends further requests to the provider, under the bounds of all requests to it.
	Client *http.Client
}

// SignOutRequest is the input of a SignOutURL function.
type SignOutRequest struct {
	// Endpoint is the end_session_endpoint in the provider's metadata, empty if there is none; Issuer and ClientID are
	// those of the provider.
	Endpoint, Issuer, ClientID string
	// RedirectURI is where the provider sends the browser after the sign-out: <base path>/logout/<id>. State is returned
	// with it by providers that follow the standard.
	RedirectURI, State string
	// IDTokenHint is the ID token of the sign-in, empty if it is not known or too long for a header.
	IDTokenHint Secret
}

// StandardURL returns the address of OpenID Connect RP-Initiated Logout 1.0 section 2. It is an error if the provider
// publishes no endpoint.
func (r *SignOutRequest) StandardURL() (string, error) {
	return oauth.EndSession{
		Endpoint: r.Endpoint, ClientID: r.ClientID, RedirectURI: r.RedirectURI, State: r.State, Hint: string(r.IDTokenHint),
	}.URL()
}

// UserinfoRequest is what a FetchUserinfo function works with.
type UserinfoRequest struct {
	// Tokens are those of the token endpoint.
	Tokens *TokenSet
	// URL is the userinfo endpoint with its parameters.
	URL string
}

// StandardProfile maps the standard claims (OpenID Connect Core section 5.1): account ID from sub or id, name from
// name, nickname or preferred_username, whichever is there first, email, and image from picture.
func StandardProfile(_ context.Context, p Profile, _ *TokenSet) (*Person, error) {
	switch p["email"].(type) {
	case map[string]any, []any:
		return nil, errors.New("email is no text")
	}
	return &Person{
		AccountID: p.Text(p.there("sub", "id")), Name: p.Text(p.there("name", "nickname", "preferred_username")),
		Email: p.Text("email"), Image: p.Text("picture"),
	}, nil
}
