package core

import (
	"cmp"
	"context"
	"crypto"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

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
	client   watchedClient
	client1  watchedClient1 // only set if RequestToken has a URL
	formPost bool           // the callback is a cross-site POST
	proxyURL string         // URL of the redirect proxy without a trailing slash; empty if there is none
}

// checks reports whether the provider uses a check.
func (o *oauthClient) checks(k Check) bool { return slices.Contains(o.Checks, k) }

// watchedBy makes w observe the requests of the client and of FetchUserinfo.
func (o *oauthClient) watchedBy(w watch) {
	o.client.watch, o.client1.watch = w, w
	fetch := o.FetchUserinfo
	if fetch == nil {
		return
	}
	asked := o.client.call("userinfo")
	o.FetchUserinfo = func(ctx context.Context, r *UserinfoRequest) (Profile, error) {
		return watched(ctx, w, asked, func(ctx context.Context) (Profile, error) { return fetch(ctx, r) })
	}
}

// tokenSet returns a token response as a TokenSet.
func (o *oauthClient) tokenSet(t *oauth.Tokens) *TokenSet {
	return &TokenSet{
		AccessToken: Secret(t.AccessToken), RefreshToken: Secret(t.RefreshToken), IDToken: Secret(t.IDToken),
		TokenType: t.TokenType, Scope: t.Scope, ExpiresIn: t.ExpiresIn, ExpiresAt: t.ExpiresAt, Extra: t.Extra, Now: t.Now,
		Provider: &o.OAuthProvider, Client: &http.Client{Transport: o.client.Transport()},
	}
}

// accountFor returns the account that the provider's Account function makes of a token response.
func (o *oauthClient) accountFor(tokens *TokenSet) *Account {
	choose := o.Account
	if choose == nil {
		choose = defaultAccount
	}
	if chosen := choose(tokens); chosen != nil {
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

// outward contains the HTTP client and the discovery documents that are shared by providers without their own
// HTTPClient.
type outward struct {
	client    *upstream.Client
	documents *oidc.Discovery
}

func newOutward(c *Config, client *upstream.Client, acceptIssuer func(configured, found string) bool) outward {
	accept := acceptIssuer
	if acceptIssuer != nil {
		accept = func(configured, found string) bool {
			ok, err := guarded("AcceptIssuer", func() (bool, error) { return acceptIssuer(configured, found), nil })
			return ok && err == nil
		}
	}
	return outward{client, oidc.New(oidc.Options{Client: client, Now: c.Now, Logger: c.Logger, AcceptIssuer: accept})}
}

// newOAuthClient completes a provider's configuration from the environment and with defaults, checks it, and creates
// the client.
func newOAuthClient(c *Config, declared *OAuthProvider, shared outward, faults *ConfigError) *oauthClient {
	o := &oauthClient{OAuthProvider: *declared}
	if o.Fault != nil {
		faults.add(ErrInvalidConfig, "provider %q: %w", o.ID, o.Fault)
		return o
	}
	o.readEnvironment(c, faults)
	o.expand()
	o.clientKey(c, faults)
	maxAge := o.sentMaxAge(faults)
	o.setDefaults(c)
	o.check(faults)
	shared = o.outward(c, shared)
	config := o.clientConfig(c)
	config.HTTP, config.Documents, config.MaxAge = shared.client, shared.documents, maxAge
	o.client = watchedClient{Client: oauth.New(config), calls: calls{id: o.ID}}
	if o.RequestToken.URL != "" {
		o.client1 = watchedClient1{Client1: oauth.New1(config), calls: calls{id: o.ID}}
	}
	return o
}

// outward returns the HTTP client and documents of this provider: the shared ones, unless a field of the provider
// changes their rules.
func (o *oauthClient) outward(c *Config, shared outward) outward {
	client, hosts := shared.client, o.insecureHosts()
	if o.HTTPClient != nil || len(hosts) > 0 {
		client = upstream.New(upstream.Options{
			HTTP: cmp.Or(o.HTTPClient, c.HTTPClient), InsecureHosts: hosts, OnDate: clockCheck(c),
		})
	}
	if client == shared.client && o.AcceptIssuer == nil {
		return shared
	}
	return newOutward(c, client, o.AcceptIssuer)
}

// insecureHosts returns the configured hosts that may be reached with plain http: none, unless AllowInsecureHTTP is on.
func (o *oauthClient) insecureHosts() (hosts []string) {
	if o.AllowInsecureHTTP != True {
		return nil
	}
	for _, address := range []string{o.Issuer, o.BaseURL, o.Authorization.URL, o.Token.URL, o.Userinfo.URL} {
		if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}

// readEnvironment sets the client ID, the client secret, and the address of the issuer or service.
func (o *oauthClient) readEnvironment(c *Config, faults *ConfigError) {
	o.ClientID = or(o.ClientID, c.Getenv(EnvName(o.ID, "ID")))
	if o.ClientSecret == "" {
		o.ClientSecret = Secret(c.Getenv(EnvName(o.ID, "SECRET")))
	}
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	issuer := or(c.Getenv(EnvName(o.ID, "ISSUER")), o.DefaultIssuer)
	if !o.usesBase() {
		o.Issuer = or(o.Issuer, issuer)
		return
	}
	o.BaseURL = strings.TrimRight(or(o.BaseURL, issuer), "/")
	if o.BaseURL == "" {
		const format = "provider %q has no BaseURL: set it, or %s in the environment, to the address of the service"
		faults.add(ErrInvalidEndpoints, format, o.ID, EnvName(o.ID, "ISSUER"))
	}
}

// setDefaults sets the defaults of empty fields.
func (o *oauthClient) setDefaults(c *Config) {
	if o.Checks == nil {
		o.Checks = []Check{CheckPKCE, CheckState}
	}
	if o.ClientAuth == "" {
		o.ClientAuth = ClientSecretBasic
	}
	o.formPost = o.sentParam("response_mode") == "form_post"
	if !o.formPost {
		o.proxyURL = strings.TrimRight(or(o.RedirectProxyURL, c.RedirectProxyURL), "/")
	}
	if o.proxyURL != "" && !o.checks(CheckState) {
		o.Checks = append(slices.Clone(o.Checks), CheckState) // the state contains the URL for forwarding
	}
	if o.RequestToken.URL != "" {
		o.Checks, o.proxyURL, o.ClientAuth = nil, "", ClientSecretBasic
		if o.Account == nil {
			o.Account = oauth1Account
		}
	}
}

// sentParam returns the configured value of an authorization request parameter.
func (o *oauthClient) sentParam(name string) string {
	value := o.Authorization.Params.Get(name)
	if u, err := url.Parse(o.Authorization.URL); err == nil {
		value = or(value, u.Query().Get(name))
	}
	return value
}

// clientConfig returns the configuration of the protocol client. Panics in functions of the application become errors.
func (o *oauthClient) clientConfig(c *Config) oauth.Config {
	config := oauth.Config{
		ID: o.ID, OpenID: o.Type == TypeOIDC, Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: string(o.ClientSecret),
		ClientAuth: string(o.ClientAuth), ClientKey: o.ClientKey, ClientKeyID: o.ClientKeyID,
		Authorization: oauth.Endpoint(o.Authorization), Token: oauth.Endpoint(o.Token),
		Userinfo: oauth.Endpoint(o.Userinfo), RequestToken: oauth.Endpoint(o.RequestToken),
		NoUserinfo: o.FetchUserinfo != nil, Scope: o.requestedScope(),
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
			ok, err := guarded("RefreshTokenRevoked", func() (bool, error) { return revoked(body), nil })
			return ok && err == nil
		}
	}
	if conform := o.ConformToken; conform != nil {
		config.ConformToken = func(body []byte) ([]byte, error) {
			return guarded("ConformToken", func() ([]byte, error) { return conform(body) })
		}
	}
	return config
}

// requestedScope returns the scope of authorization requests, unless the authorization endpoint's URL contains one.
func (o *oauthClient) requestedScope() string {
	switch o.Scope {
	case "":
		return "openid profile email"
	case NoScope:
		return ""
	}
	return o.Scope
}

// sentMaxAge returns the max_age of authorization requests (OpenID Connect Core section 3.1.2.1), or zero if there is
// none. ID tokens are checked against it.
func (o *oauthClient) sentMaxAge(faults *ConfigError) time.Duration {
	text := o.sentParam("max_age")
	if text == "" || o.Type != TypeOIDC {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		faults.add(ErrInvalidEndpoints, "provider %q: max_age %q is not a number of seconds", o.ID, text)
	}
	// max_age=0 requires a new sign-in, but a zero Expect.MaxAge means that no max_age was sent.
	return max(time.Duration(n)*time.Second, 1)
}

// usesBase reports whether a URL of the provider begins with the placeholder {base}.
func (o *oauthClient) usesBase() bool {
	addresses := []string{o.Issuer, o.Authorization.URL, o.Token.URL, o.Userinfo.URL}
	return slices.ContainsFunc(addresses, func(u string) bool { return strings.HasPrefix(u, "{base}") })
}

// expand replaces the placeholders {client_id}, {client_secret} and {base} in URLs and parameters.
func (o *oauthClient) expand() {
	id, secret := o.ClientID, string(o.ClientSecret)
	plain := strings.NewReplacer("{client_id}", id, "{client_secret}", secret, "{base}", o.BaseURL)
	inURL := strings.NewReplacer(
		"{client_id}", url.QueryEscape(id), "{client_secret}", url.QueryEscape(secret), "{base}", o.BaseURL)
	o.Issuer = inURL.Replace(o.Issuer)
	for _, e := range []*Endpoint{&o.Authorization, &o.Token, &o.Userinfo} {
		e.URL = inURL.Replace(e.URL)
		if e.Params == nil {
			continue
		}
		params := make(url.Values, len(e.Params)) // a copy: the caller's map must not change
		for name, values := range e.Params {
			for _, v := range values {
				params.Add(name, plain.Replace(v))
			}
		}
		e.Params = params
	}
}

// oauth1Account returns an account with the OAuth 1.0a access token and its secret.
func oauth1Account(t *TokenSet) *Account {
	return &Account{Extra: Members{
		"oauth_token": t.Extra["oauth_token"], "oauth_token_secret": t.Extra["oauth_token_secret"],
	}}
}

// clientKey sets the key of private_key_jwt from the environment: AUTH_<ID>_PRIVATE_KEY contains it, or
// AUTH_<ID>_PRIVATE_KEY_FILE is the path of its file.
func (o *oauthClient) clientKey(c *Config, faults *ConfigError) {
	if o.ClientAuth != PrivateKeyJWT || o.ClientKey != nil {
		return
	}
	var key crypto.Signer
	var keyID string
	var err error
	if text := c.Getenv(EnvName(o.ID, "PRIVATE_KEY")); text != "" {
		key, keyID, err = ParseClientKey(Secret(text))
	} else if path := c.Getenv(EnvName(o.ID, "PRIVATE_KEY_FILE")); path != "" {
		key, keyID, err = loadClientKey(path)
	}
	if err != nil {
		faults.add(ErrInvalidConfig, "provider %q: %w", o.ID, err)
		return
	}
	if key != nil {
		o.ClientKey, o.ClientKeyID = key, or(o.ClientKeyID, keyID)
	}
}

// loadClientKey reads a file and parses it with [ParseClientKey].
func loadClientKey(path string) (key crypto.Signer, keyID string, err error) {
	file, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, "", fmt.Errorf("core: client key: %w", err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, 64<<10))
	if err != nil {
		return nil, "", fmt.Errorf("core: client key: %w", err)
	}
	return ParseClientKey(Secret(text))
}

// check reports the configuration errors of a completed provider.
func (o *oauthClient) check(faults *ConfigError) {
	switch o.Type {
	case TypeOAuth:
		o.checkEndpoints(faults)
	case TypeOIDC:
		if o.Issuer == "" {
			faults.add(ErrInvalidEndpoints, "provider %q has no Issuer: set it, or %s in the environment, to the issuer's URL",
				o.ID, EnvName(o.ID, "ISSUER"))
		}
	default:
		faults.add(ErrInvalidConfig, "provider %q has the Type %q: use TypeOAuth or TypeOIDC", o.ID, o.Type)
	}
	if o.ClientID == "" {
		faults.add(ErrInvalidConfig, "provider %q has no ClientID: set it, or %s in the environment",
			o.ID, EnvName(o.ID, "ID"))
	}
	o.checkCredentials(faults)
	if o.Logout == True && o.Type != TypeOIDC && o.SignOutURL == nil {
		faults.add(ErrInvalidConfig, "provider %q has Logout On and the Type %q: only OpenID Connect (TypeOIDC) says where "+
			"to sign out, leave Logout out or set SignOutURL", o.ID, o.Type)
	}
	o.checkResponse(faults)
	for _, at := range []struct{ field, url string }{
		{"Issuer", o.Issuer}, {"Authorization.URL", o.Authorization.URL}, {"Token.URL", o.Token.URL},
		{"Userinfo.URL", o.Userinfo.URL}, {"RequestToken.URL", o.RequestToken.URL}, {"RedirectProxyURL", o.RedirectProxyURL},
	} {
		if at.url == "" {
			continue
		}
		if err := checkEndpoint(at.url, o.AllowInsecureHTTP == True && at.field != "RedirectProxyURL"); err != nil {
			faults.add(ErrInvalidEndpoints, "provider %q: %s: %v", o.ID, at.field, err)
		}
	}
	o.checkClientAuth(faults)
	for _, k := range o.Checks {
		if k != CheckPKCE && k != CheckState && k != CheckNonce {
			faults.add(ErrInvalidConfig, "provider %q: unknown check %q", o.ID, k)
		}
	}
}

// checkCredentials rejects a client ID or secret with a line break or surrounding spaces. No service issues one: the
// cause is a file or a Kubernetes secret with a trailing line break, and the service would only report an unknown
// client.
func (o *oauthClient) checkCredentials(faults *ConfigError) {
	for _, each := range []struct{ field, value string }{
		{"ClientID", o.ClientID}, {"ClientSecret", string(o.ClientSecret)}, {"ClientKeyID", o.ClientKeyID},
	} {
		if each.value == strings.TrimSpace(each.value) && exactjson.IsClean(each.value) &&
			!strings.Contains(each.value, byteOrderMark) {
			continue
		}
		variable := EnvName(o.ID, strings.ToUpper(strings.TrimPrefix(each.field, "Client")))
		if each.field == "ClientKeyID" {
			variable = EnvName(o.ID, "PRIVATE_KEY")
		}
		faults.add(ErrInvalidConfig, "provider %q: %s (%s in the environment) has a line break, a control character or "+
			"blanks around it: remove them (printf and echo -n write none at the end)", o.ID, each.field, variable)
	}
}

// byteOrderMark starts some text files and is not visible.
const byteOrderMark = "\ufeff"

// checkEndpoints reports missing endpoints of an OAuth provider without discovery.
func (o *oauthClient) checkEndpoints(faults *ConfigError) {
	missing := ""
	switch {
	case o.Issuer != "": // they are discovered
	case o.Authorization.URL == "":
		missing = "Authorization"
	case o.Token.URL == "":
		missing = "Token"
	case o.Userinfo.URL == "" && o.FetchUserinfo == nil:
		missing = "Userinfo"
	}
	if o.RequestToken.URL != "" && (o.Authorization.URL == "" || o.Token.URL == "") {
		faults.add(ErrInvalidEndpoints,
			"provider %q uses OAuth 1.0a, where nothing is discovered: set Authorization.URL and Token.URL", o.ID)
	}
	if missing != "" {
		faults.add(ErrInvalidEndpoints, "provider %q has neither an Issuer nor %s.URL: set one of them", o.ID, missing)
	}
}

// checkClientAuth reports missing client credentials.
func (o *oauthClient) checkClientAuth(faults *ConfigError) {
	switch o.ClientAuth {
	case ClientSecretBasic, ClientSecretPost, ClientSecretJWT:
		if o.ClientSecret == "" && o.MakeClientSecret == nil {
			faults.add(ErrInvalidConfig, "provider %q has no ClientSecret: set it, or %s in the environment, "+
				"or ClientAuth to ClientAuthNone for a public client", o.ID, EnvName(o.ID, "SECRET"))
		}
	case PrivateKeyJWT:
		if o.ClientKey == nil {
			faults.add(ErrInvalidConfig, "provider %q uses private_key_jwt without ClientKey: set it "+
				"(ParseClientKey reads PEM and JWK), or %s or %s in the environment",
				o.ID, EnvName(o.ID, "PRIVATE_KEY"), EnvName(o.ID, "PRIVATE_KEY_FILE"))
		}
	case ClientAuthNone:
	default:
		faults.add(ErrInvalidConfig, "provider %q: unknown ClientAuth %q", o.ID, o.ClientAuth)
	}
}

// checkResponse rejects response modes and types that core does not support. Otherwise each sign-in would fail at the
// callback.
func (o *oauthClient) checkResponse(faults *ConfigError) {
	asked := map[string][]string{}
	if u, err := url.Parse(o.Authorization.URL); err == nil {
		asked = u.Query()
	}
	for _, each := range []struct {
		name  string
		known []string
		why   string
	}{
		{
			"response_mode", []string{"query", "form_post"},
			`use "query", the default, or "form_post" (a fragment never reaches a server, ` +
				`and signed responses, JARM, are not read)`,
		},
		{
			"response_type", []string{"code", "Assertion"}, // Azure DevOps uses the name Assertion for a code
			`use "code", the default (tokens come from the token endpoint alone: no implicit and no hybrid flow)`,
		},
	} {
		for _, value := range slices.Concat(asked[each.name], o.Authorization.Params[each.name]) {
			if !slices.Contains(each.known, value) {
				faults.add(ErrInvalidConfig, "provider %q: Authorization has the %s %.60q: %s", o.ID, each.name, value, each.why)
			}
		}
	}
}
