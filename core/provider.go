package core

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Provider is a way to sign in: an *[OAuthProvider], *[EmailProvider], *[CredentialsProvider] or *[WebAuthnProvider]. New copies it and never
// writes to it, so one value may serve several configurations.
type Provider interface {
	// Describe tells id, name and type.
	Describe() (id, name string, kind ProviderType)
}

// Check is a protection of the authorization code flow.
type Check string

// The checks. PKCE is the default.
const (
	CheckPKCE  Check = "pkce"
	CheckState Check = "state"
	CheckNonce Check = "nonce"
)

// ClientAuth is how the client proves itself at the token endpoint (RFC 6749 section 2.3, OpenID Connect Core section 9).
type ClientAuth string

// The client authentication methods; the default is ClientSecretBasic.
const (
	ClientSecretBasic ClientAuth = "client_secret_basic"
	ClientSecretPost  ClientAuth = "client_secret_post"
	ClientSecretJWT   ClientAuth = "client_secret_jwt"
	PrivateKeyJWT     ClientAuth = "private_key_jwt"
	ClientAuthNone    ClientAuth = "none"
)

// Endpoint is an address of a provider. An empty URL is discovered from the issuer; Params are added to the query of a request to
// it, or to the form of a token request. In both, {client_id}, {client_secret} and {base} stand for the provider's ClientID,
// ClientSecret and BaseURL, and in the Params of Token {code} for the authorization code.
type Endpoint struct {
	URL    string
	Params url.Values
}

// Style is how a provider's button looks; the zero value is our neutral look.
type Style struct{ Background, Text, Logo string }

// OAuthProvider signs in through OAuth 2 or OpenID Connect. The zero value of every field but ID is a sound default; New
// reports what is missing.
type OAuthProvider struct {
	// ID names the provider in URLs and in accounts: lower-case letters, digits, '-', '_' and '.'.
	ID string
	// Name is shown on the button.
	Name string
	// Type is TypeOAuth or TypeOIDC.
	Type ProviderType
	// Fault is what is wrong with the options that a constructor was given; nil: nothing. [New] reports it in place of what it would
	// find itself.
	Fault error
	// Issuer is the issuer identifier. For TypeOIDC endpoints are discovered from it and ID tokens must carry it; for TypeOAuth
	// it is what the iss response parameter is compared with (RFC 9207), empty when the service publishes none. Environment:
	// AUTH_<ID>_ISSUER.
	Issuer string
	// DefaultIssuer is the Issuer, or the BaseURL of a provider that uses it, where neither configuration nor environment has one.
	DefaultIssuer string
	// BaseURL is the address of a service that people run themselves, without a slash at its end; {base} in the endpoints stands
	// for it. Environment: AUTH_<ID>_ISSUER.
	BaseURL string
	// ClientID is the client id. Environment: AUTH_<ID>_ID.
	ClientID string
	// ClientSecret is the client secret. Environment: AUTH_<ID>_SECRET.
	ClientSecret Secret
	// MakeClientSecret makes the secret of each token request, for services whose secret is a signed token; nil: ClientSecret.
	MakeClientSecret func(clientID string, now time.Time) (Secret, error)
	// ClientAuth is how the client proves itself.
	ClientAuth ClientAuth
	// ClientKey signs the assertions of PrivateKeyJWT; ClientKeyID is its key id. Both come from [ParseClientKey]; environment:
	// AUTH_<ID>_PRIVATE_KEY with the text of the key, or AUTH_<ID>_PRIVATE_KEY_FILE with its path.
	ClientKey   crypto.Signer
	ClientKeyID string
	// Authorization, Token and Userinfo are the endpoints.
	Authorization, Token, Userinfo Endpoint
	// RequestToken makes the provider one of OAuth 1.0a (RFC 5849): where request tokens come from. Authorization and Token are its
	// other two endpoints, ClientID and ClientSecret key and secret of the consumer; requests are signed with HMAC-SHA1. Scope,
	// Checks, ClientAuth and redirect proxies have no meaning there. The account keeps oauth_token and oauth_token_secret.
	RequestToken Endpoint
	// Scope is sent unless Authorization has one; empty: "openid profile email". NoScope sends none.
	Scope string
	// Checks protect the flow; nil: pkce and state. Without state an attacker's code can be brought into a visitor's flow unless the
	// service insists on PKCE (RFC 9700 section 2.1.1). An empty slice switches all off.
	Checks []Check
	// ProfileFromUserinfo takes the profile of TypeOIDC from the userinfo endpoint rather than from the ID token.
	ProfileFromUserinfo bool
	// UserinfoAlg demands a signed answer of the userinfo endpoint (OpenID Connect Core section 5.3.2), with this algorithm. Signed
	// answers are verified whether they are demanded or not.
	UserinfoAlg string
	// IDTokenAlgs are the signature algorithms accepted; nil: what the issuer advertises, else RS256.
	IDTokenAlgs []string
	// Tenants are those whose users may sign in, where one issuer speaks for several ({tenantid} in its discovery document); nil:
	// all of them.
	Tenants []string
	// AccessTokenAlgs, for TypeOIDC, has access tokens that are JSON Web Tokens verified: signed by the issuer with one of these, not
	// expired, about the subject of the ID token (RFC 9068 section 4). Opaque ones pass. nil: access tokens are not looked at.
	AccessTokenAlgs []string
	// Profile maps the provider's answer to a user whose ID is the account id; nil: the standard claims. A name is cut after 1,000
	// bytes, and an image of more than 16 KiB left out.
	Profile func(ctx context.Context, profile Profile, tokens *TokenSet) (*User, error)
	// Account chooses what of the token answer is stored; nil: the standard members.
	Account func(tokens *TokenSet) *Account
	// ConformToken rewrites a token answer that is not as RFC 6749 wants it.
	ConformToken func(body []byte) ([]byte, error)
	// FetchUserinfo replaces the userinfo request.
	FetchUserinfo func(ctx context.Context, r *UserinfoRequest) (Profile, error)
	// EmailProved tells whether the service vouches for the address in a profile: that it belongs to the person. nil: when the claim
	// email_verified is true, and not when there is none. It is not asked where that claim is false.
	EmailProved func(profile Profile) bool
	// AllowDangerousEmailAccountLinking links a new account to the user of the same e-mail, when the provider vouches for the address.
	// Whoever the provider takes for the owner of an address becomes that user. Where the user has never proved the address the
	// provider's word is the first proof of it: docs/accounts.md tells what follows. Off by default.
	AllowDangerousEmailAccountLinking bool
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

// TokenSet is the answer of a token endpoint.
type TokenSet struct {
	AccessToken, RefreshToken, IDToken Secret
	TokenType, Scope                   string
	// ExpiresIn is in seconds, nil when absent; ExpiresAt in Unix seconds, 0 when unknown.
	ExpiresIn *int64
	ExpiresAt int64
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

// UserinfoRequest is what a FetchUserinfo function works with.
type UserinfoRequest struct {
	// Tokens are those of the token endpoint.
	Tokens *TokenSet
	// URL is the userinfo endpoint with its parameters.
	URL string
}

// Get asks url with the access token as bearer and reads the answer. Headers come in pairs of name and value.
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

// Do sends a request and reads the answer: an object, with a status of success.
func (r *UserinfoRequest) Do(request *http.Request) (Profile, error) {
	body, err := r.Tokens.Send(request)
	if err != nil {
		return nil, err
	}
	return decodeProfile(body)
}

// Send sends a request to the provider and returns the body of an answer with a status of success, 200 to 299. Errors name the
// host, and hold neither tokens nor the rest of the address.
func (t *TokenSet) Send(request *http.Request) ([]byte, error) {
	if request.Header.Get("Accept") == "" {
		request.Header.Set("Accept", "application/json")
	}
	response, err := t.Client.Do(request)
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the address, in which some providers want the token
	}
	if err != nil {
		return nil, t.hide(fmt.Errorf("%s: %w", request.URL.Host, err))
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s answered status %d", request.URL.Host, response.StatusCode)
	}
	return io.ReadAll(response.Body) // the client has bounded it
}

// EmailProvider signs in with a link sent by mail. It needs a store with [VerificationTokenStore].
type EmailProvider struct {
	// ID and Name: "email" and "Email" when empty.
	ID, Name string
	// From is the sender's address, for Send.
	From string
	// MaxAge is how long a link works; zero: 24 hours.
	MaxAge time.Duration
	// Secret hashes tokens in place of Config.Secret.
	Secret Secret
	// ConfirmLink says when opening a link shows a page with a button, which alone signs in, rather than to sign in at once. Auto: in
	// a browser that did not ask for this very link, where it may be a stranger's, and in one that has a session already; a cookie
	// remembers what a browser asked for. On: always, whoever asks, for mail scanners that share the reader's browser. Off: never, as
	// in Auth.js; whoever makes somebody open a link then signs them in as somebody else.
	ConfirmLink Toggle
	// Send delivers the mail. It is called after the token was stored, under the request's context with a deadline. An error of
	// type [EmailSignInError] asks the visitor to try again; any other is a fault of this site to them.
	Send func(ctx context.Context, m SignInMail) error
	// NormalizeIdentifier makes the address canonical, or refuses it with an error, which asks the visitor to check the address;
	// nil: [NormalizeEmail].
	NormalizeIdentifier func(identifier string) (string, error)
	// GenerateToken makes the token in the link; nil: 32 random bytes in hex. A short one can be guessed: it needs a Limit, and
	// wants a MaxAge of minutes, as each letter adds another token that is good.
	GenerateToken func(ctx context.Context) (string, error)
	// Configure completes the provider from the environment. New calls it once, with its own copy, before it looks at the fields;
	// an error is a fault of the configuration.
	Configure func(p *EmailProvider, getenv func(name string) string) error
	// Style is the button's look.
	Style Style
}

// Describe implements [Provider].
func (p *EmailProvider) Describe() (string, string, ProviderType) {
	return or(p.ID, "email"), or(p.Name, "Email"), TypeEmail
}

// SignInMail is a sign-in link to deliver.
type SignInMail struct {
	// To is the recipient's address in its canonical form.
	To string
	// From is the provider's.
	From string
	// URL signs in whoever opens it: it must reach the recipient and no log.
	URL Secret
	// Token is the token within URL.
	Token Secret
	// Expires is when the link stops working.
	Expires time.Time
	// Theme is the configuration's, for letters in the site's colours.
	Theme Theme
	// Host is the host of the site, for the letter's text.
	Host string
	// ProviderID is the provider's id.
	ProviderID string
	// Request is the request that asked for the mail.
	Request *Request
}

// CredentialsProvider signs in with fields that the application checks itself. Sessions are jwt or database sessions, as
// Config.Session says; for database sessions, which Auth.js does not have here, the user must be in the store.
type CredentialsProvider struct {
	// ID and Name: "credentials" and "Credentials" when empty.
	ID, Name string
	// Fields are the inputs of the form, in order.
	Fields []Field
	// Authorize checks the fields, which hold text alone. nil without an error, or an error of type CredentialsSignin, refuses;
	// any other error is a failure. It must take the same time for unknown names as for wrong passwords. Under the database strategy
	// the user that it returns is one that the store holds, by its ID.
	Authorize func(ctx context.Context, credentials map[string]string, r *Request) (*User, error)
	// Style is the button's look.
	Style Style
}

// Describe implements [Provider].
func (p *CredentialsProvider) Describe() (string, string, ProviderType) {
	return or(p.ID, "credentials"), or(p.Name, "Credentials"), TypeCredentials
}

// Field is an input of a form on the sign-in page.
type Field struct {
	// Name is the field's name in the request.
	Name string
	// Label is shown beside it; Name when empty.
	Label string
	// Type is the input type, "text" when empty.
	Type string
	// Placeholder, Value and Autocomplete are the attributes of the same names.
	Placeholder, Value, Autocomplete string
	// Required makes browsers insist on a value.
	Required bool
	// Attributes are further attributes, name and value in turn.
	Attributes [][2]string
}

// Profile is a provider's answer about a person: the claims of an ID token or the userinfo body, names exact, numbers as
// [json.Number].
type Profile map[string]any

// UnmarshalJSON reads an object with exact names, each of which may come once, and exact numbers.
func (p *Profile) UnmarshalJSON(data []byte) error {
	members, err := decodeProfile(data)
	if err != nil {
		return err
	}
	*p = members
	return nil
}

// Text returns the member as text: a string, or a number in its decimal form. "" when it is absent, null or of another shape.
func (p Profile) Text(name string) string {
	switch v := p[name].(type) {
	case string:
		return v
	case json.Number:
		return decimal(v)
	}
	return ""
}

// Object returns a member that is an object, nil otherwise; a nil Profile has no members, so look-ups can be chained.
func (p Profile) Object(name string) Profile {
	m, _ := p[name].(map[string]any)
	return m
}

// List returns a member that is an array, nil otherwise.
func (p Profile) List(name string) []any { l, _ := p[name].([]any); return l }

// Bool returns a member that is true.
func (p Profile) Bool(name string) bool { b, _ := p[name].(bool); return b }

// there names the first member that is there and not null.
func (p Profile) there(names ...string) string {
	for _, n := range names {
		if p[n] != nil {
			return n
		}
	}
	return ""
}

// First returns the first of the named members that is there as text.
func (p Profile) First(names ...string) string {
	for _, n := range names {
		if s := p.Text(n); s != "" {
			return s
		}
	}
	return ""
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
