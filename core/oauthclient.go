package core

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/oauthflow"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/oidc"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/internal/upstream"
)

// oauthClient is this application as a client of one OAuth provider: the completed configuration and the protocol
// client.
type oauthClient struct {
	OAuthProvider
	client  oauth.Observed
	client1 oauth.Observed1 // only set if RequestToken has a URL
	flow    oauthflow.Flow
}

// tokenSet returns a token response as a TokenSet.
func (o *oauthClient) tokenSet(t *oauth.Tokens) *TokenSet {
	return &TokenSet{
		AccessToken: Secret(t.AccessToken), RefreshToken: Secret(t.RefreshToken), IDToken: Secret(t.IDToken),
		TokenType: t.TokenType, Scope: t.Scope, ExpiresIn: t.ExpiresIn, ExpiresAt: t.ExpiresAt, Extra: t.Extra, Now: t.Now,
		Provider: &o.OAuthProvider, Client: &http.Client{Transport: o.flow.Transport(t)},
	}
}

// accountFor returns the account that the provider's Account function makes of a token response.
func (o *oauthClient) accountFor(tokens *TokenSet) *Account {
	if chosen := o.Account(tokens); chosen != nil {
		return chosen.Clone()
	}
	return &Account{}
}

// defaultAccount returns an account with the standard members of a token response.
func defaultAccount(t *TokenSet) *Account {
	return &Account{
		AccessToken: t.AccessToken, RefreshToken: t.RefreshToken, IDToken: t.IDToken, ExpiresAt: t.ExpiresAt,
		Scope: t.Scope, TokenType: t.TokenType,
		SessionState: t.further("session_state"), AuthorizationDetails: t.further("authorization_details"),
	}
}

// further returns a member of the token response. It is nil if the member is absent or null.
func (t *TokenSet) further(name string) json.RawMessage {
	if raw := t.Extra[name]; !exactjson.IsNull(raw) {
		return raw
	}
	return nil
}

// guardedTrue calls a function of the application. It returns false if the function panics.
func guardedTrue(where string, call func() bool) bool {
	ok, err := guarded(where, func() (bool, error) { return call(), nil })
	return ok && err == nil
}

// newOAuthClient completes a provider's configuration from the environment and with defaults, checks it, and creates
// the client.
func newOAuthClient(c *Config, declared *OAuthProvider, shared *oidc.Discovery, faults *ConfigError) *oauthClient {
	o := &oauthClient{OAuthProvider: *declared}
	if o.Fault != nil {
		faults.add(ErrInvalidConfig, "provider %q: %w", o.ID, o.Fault)
		return o
	}
	setup := oauth.Setup{
		Config: o.clientConfig(c), Type: string(o.Type), BaseURL: o.BaseURL, DefaultIssuer: o.DefaultIssuer,
		Insecure: o.AllowInsecureHTTP == True, ProxyURL: o.RedirectProxyURL, DefaultProxyURL: c.RedirectProxyURL,
		Checks: retyped[string](o.Checks), Logout: o.Logout == True, HasSignOutURL: o.SignOutURL != nil,
	}
	for _, problem := range setup.Complete(c.Getenv) {
		kind := ErrInvalidConfig
		if problem.Endpoint {
			kind = autherr.InvalidEndpoints
		}
		faults.add(kind, "%w", problem.Err)
	}
	o.Issuer, o.BaseURL, o.Checks = setup.Issuer, setup.BaseURL, retyped[Check](setup.Checks)
	o.ClientID, o.ClientSecret, o.ClientAuth = setup.ClientID, Secret(setup.ClientSecret), ClientAuth(setup.ClientAuth)
	o.ClientKey, o.ClientKeyID = setup.ClientKey, setup.ClientKeyID
	o.Authorization, o.Token, o.Userinfo = Endpoint(setup.Authorization), Endpoint(setup.Token), Endpoint(setup.Userinfo)
	setup.Documents = o.documents(c, shared, setup.InsecureHosts())
	setup.HTTP = setup.Documents.Client()
	o.client = oauth.Observed{Client: oauth.New(setup.Config)}
	o.flow = oauthflow.Flow{
		Client: &o.client, OpenID: setup.OpenID, Issuer: o.Issuer, Authorization: setup.Authorization, Scope: setup.Scope,
		ProfileFromUserinfo: o.ProfileFromUserinfo, ProxyURL: setup.ProxyURL, ProxyTargets: c.RedirectProxyTargets,
		Provider: flowstate.Client{
			ID: o.ID, Checks: setup.Checks, FormPost: setup.FormPost, Proxied: setup.ProxyURL != "",
		},
	}
	if o.RequestToken.URL != "" {
		o.client1 = oauth.Observed1{Client1: oauth.New1(setup.Config)}
		o.flow.Client1 = &o.client1
	}
	switch {
	case o.Account != nil:
	case o.flow.Client1 != nil:
		o.Account = oauth1Account
	default:
		o.Account = defaultAccount
	}
	return o
}

// retyped returns a list with another type of text. The result is nil if the list is nil.
func retyped[To, From ~string](list []From) []To {
	if list == nil {
		return nil
	}
	all := make([]To, len(list))
	for i, text := range list {
		all[i] = To(text)
	}
	return all
}

// documents returns the discovery documents of this provider and their HTTP client: the shared ones, unless a field of
// the provider changes their rules. insecure are the hosts that may be reached with plain http.
func (o *oauthClient) documents(c *Config, shared *oidc.Discovery, insecure []string) *oidc.Discovery {
	if o.HTTPClient == nil && len(insecure) == 0 && o.AcceptIssuer == nil {
		return shared
	}
	options := oidc.Options{Client: shared.Client(), Now: c.Now, Logger: c.Logger}
	if o.HTTPClient != nil || len(insecure) > 0 {
		options.Client = upstream.New(upstream.Options{
			HTTP: cmp.Or(o.HTTPClient, c.HTTPClient), InsecureHosts: insecure, OnDate: clockCheck(c),
		})
	}
	if accept := o.AcceptIssuer; accept != nil {
		options.AcceptIssuer = func(configured, found string) bool {
			return guardedTrue("AcceptIssuer", func() bool { return accept(configured, found) })
		}
	}
	return oidc.New(options)
}

// clientConfig returns the configuration of the protocol client. Panics in functions of the application become errors.
func (o *oauthClient) clientConfig(c *Config) oauth.Config {
	config := oauth.Config{
		ID: o.ID, Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: string(o.ClientSecret),
		ClientAuth: string(o.ClientAuth), ClientKey: o.ClientKey, ClientKeyID: o.ClientKeyID,
		Authorization: oauth.Endpoint(o.Authorization), Token: oauth.Endpoint(o.Token),
		Userinfo: oauth.Endpoint(o.Userinfo), RequestToken: oauth.Endpoint(o.RequestToken),
		NoUserinfo: o.FetchUserinfo != nil, Scope: o.Scope,
		IDTokenAlgs: o.IDTokenAlgs, AccessTokenAlgs: o.AccessTokenAlgs,
		UserinfoAlg: o.UserinfoAlg, Tenants: o.Tenants, Variable: func(field string) string { return EnvName(o.ID, field) },
		Now: c.Now, Rand: c.Rand, NewID: func() (string, error) { return random.UUID(c.Rand) },
	}
	if newSecret := o.MakeClientSecret; newSecret != nil {
		config.MakeClientSecret = func() (string, error) {
			secret, err := guarded("MakeClientSecret", func() (Secret, error) { return newSecret(o.ClientID, c.Now()) })
			return string(secret), err
		}
	}
	if revoked := o.RefreshTokenRevoked; revoked != nil {
		config.RefreshTokenRevoked = func(body map[string]any) bool {
			return guardedTrue("RefreshTokenRevoked", func() bool { return revoked(body) })
		}
	}
	if conform := o.ConformToken; conform != nil {
		config.ConformToken = func(body []byte) ([]byte, error) {
			return guarded("ConformToken", func() ([]byte, error) { return conform(body) })
		}
	}
	return config
}

// oauth1Account returns an account with the OAuth 1.0a access token and its secret.
func oauth1Account(t *TokenSet) *Account {
	return &Account{Extra: Members{
		"oauth_token": t.Extra["oauth_token"], "oauth_token_secret": t.Extra["oauth_token_secret"],
	}}
}
