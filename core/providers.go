package core

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/oidc"
	"github.com/latchkey-go/latchkey/core/internal/upstream"
	"github.com/latchkey-go/latchkey/ui"
)

// provider is a configured provider with everything decided. Exactly one of the four is set.
type provider struct {
	id, name string
	kind     ProviderType

	oauth       *oauthClient
	email       *EmailProvider
	credentials *CredentialsProvider
	webauthn    *webAuthn
}

// oauthClient is this application as a client of one OAuth provider.
type oauthClient struct {
	OAuthProvider
	scope    string
	formPost bool
	proxyURL string
	maxAge   time.Duration    // of the authentication, as the authorization request demands it
	own      *upstream.Client // the provider's own HTTP client, nil: the Auth's
	ownDocs  *oidc.Discovery
}

func (o *oauthClient) checks(k Check) bool { return slices.Contains(o.Checks, k) }

// addProviders copies, completes and checks the providers.
func (a *Auth) addProviders(c *Config, faults *ConfigError) {
	a.byID = make(map[string]*provider, len(c.Providers))
	for i, declared := range c.Providers {
		p := &provider{}
		switch d := declared.(type) {
		case *OAuthProvider:
			p.oauth = newOAuthClient(c, d, faults)
		case *EmailProvider:
			p.email = newEmail(c, d, faults)
		case *CredentialsProvider:
			own := *d
			p.credentials = &own
		case *WebAuthnProvider:
			p.webauthn = newWebAuthn(c, d, faults)
		default:
			faults.add(InvalidConfig, "Providers[%d] is %T: use the constructors of the providers module, or a core provider", i, declared)
			continue
		}
		p.id, p.name, p.kind = declared.Describe()
		p.name = or(p.name, p.id)
		switch {
		case !providerID.MatchString(p.id):
			faults.add(InvalidConfig, "Providers[%d] has the ID %q: letters, digits, '-', '_' and '.', 64 at most", i, p.id)
		case a.byID[p.id] != nil:
			faults.add(InvalidConfig, "two providers have the ID %q: give one of them another", p.id)
		}
		a.byID[p.id] = p
		a.providers = append(a.providers, p)
		view := p.view(declared)
		for _, problem := range view.Validate() {
			faults.add(InvalidConfig, "%s", problem)
		}
		a.uiProviders = append(a.uiProviders, view)
	}
}

// envName is the middle of a provider's environment variables.
func envName(id string) string { return strings.ToUpper(strings.ReplaceAll(id, "-", "_")) }

// EnvName is the name of a provider's environment variable (WIRE 2): EnvName("my-op", "KEY") is AUTH_MY_OP_KEY.
func EnvName(id, what string) string { return "AUTH_" + envName(id) + "_" + what }

func newOAuthClient(c *Config, declared *OAuthProvider, faults *ConfigError) *oauthClient {
	o := &oauthClient{OAuthProvider: *declared}
	if o.Fault != nil {
		faults.add(InvalidConfig, "provider %q: %w", o.ID, o.Fault)
		return o
	}
	name := "AUTH_" + envName(o.ID)
	o.ClientID = or(o.ClientID, c.Getenv(name+"_ID"))
	if o.ClientSecret == "" {
		o.ClientSecret = Secret(c.Getenv(name + "_SECRET"))
	}
	if o.Checks == nil {
		o.Checks = []Check{CheckPKCE, CheckState}
	}
	if o.ClientAuth == "" {
		o.ClientAuth = ClientSecretBasic
	}
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	if o.usesBase() {
		o.BaseURL = strings.TrimRight(or(o.BaseURL, or(c.Getenv(name+"_ISSUER"), o.DefaultIssuer)), "/")
		if o.BaseURL == "" {
			faults.add(InvalidEndpoints, "provider %q has no BaseURL: set it, or AUTH_%s_ISSUER in the environment, to the address of the service", o.ID, envName(o.ID))
		}
	} else {
		o.Issuer = or(o.Issuer, or(c.Getenv(name+"_ISSUER"), o.DefaultIssuer))
	}
	o.expand()
	o.clientKey(c, faults)
	o.formPost = o.Authorization.Params.Get("response_mode") == "form_post"
	if u, err := url.Parse(o.Authorization.URL); err == nil && u.Query().Get("response_mode") == "form_post" {
		o.formPost = true
	}
	o.maxAge = o.sentMaxAge(faults)
	if !o.formPost {
		o.proxyURL = strings.TrimRight(or(o.RedirectProxyURL, c.RedirectProxyURL), "/")
	}
	if o.proxyURL != "" && !o.checks(CheckState) {
		o.Checks = append(slices.Clone(o.Checks), CheckState) // the state carries the origin to return to
	}
	switch o.Scope {
	case "":
		o.scope = "openid profile email"
	case NoScope:
	default:
		o.scope = o.Scope
	}
	if o.RequestToken.URL != "" {
		o.Checks, o.proxyURL, o.ClientAuth = nil, "", ClientSecretBasic
		if o.Account == nil {
			o.Account = oauth1Account
		}
	}
	o.check(faults)
	if o.HTTPClient != nil {
		o.own = upstream.New(upstream.Options{HTTP: o.HTTPClient})
		o.ownDocs = oidc.New(oidc.Options{Client: o.own, Now: c.Now, Logger: c.Logger})
	}
	return o
}

// sentMaxAge is the max_age of authorization requests (OpenID Connect Core section 3.1.2.1), zero when there is none. ID tokens are
// held to it.
func (o *oauthClient) sentMaxAge(faults *ConfigError) time.Duration {
	text := o.Authorization.Params.Get("max_age")
	if u, err := url.Parse(o.Authorization.URL); err == nil {
		text = or(text, u.Query().Get("max_age"))
	}
	if text == "" || o.Type != TypeOIDC {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		faults.add(InvalidEndpoints, "provider %q: max_age %q is no number of seconds", o.ID, text)
	}
	return max(time.Duration(n)*time.Second, 1) // 0 demands a fresh sign-in, and to oidc it is none sent
}

// usesBase tells whether an address of the provider begins with its BaseURL.
func (o *oauthClient) usesBase() bool {
	return slices.ContainsFunc([]string{o.Issuer, o.Authorization.URL, o.Token.URL, o.Userinfo.URL}, func(u string) bool { return strings.HasPrefix(u, "{base}") })
}

// expand puts client id, secret and base into the addresses that name them.
func (o *oauthClient) expand() {
	inURL := strings.NewReplacer("{client_id}", url.QueryEscape(o.ClientID), "{client_secret}", url.QueryEscape(string(o.ClientSecret)), "{base}", o.BaseURL)
	plain := strings.NewReplacer("{client_id}", o.ClientID, "{client_secret}", string(o.ClientSecret), "{base}", o.BaseURL)
	o.Issuer = inURL.Replace(o.Issuer)
	for _, e := range []*Endpoint{&o.Authorization, &o.Token, &o.Userinfo} {
		e.URL = inURL.Replace(e.URL)
		if e.Params == nil {
			continue
		}
		params := make(url.Values, len(e.Params)) // the caller keeps theirs
		for name, values := range e.Params {
			for _, v := range values {
				params.Add(name, plain.Replace(v))
			}
		}
		e.Params = params
	}
}

func (o *oauthClient) check(faults *ConfigError) {
	switch o.Type {
	case TypeOAuth:
		missing := ""
		switch {
		case o.Authorization.URL == "" && o.Issuer == "":
			missing = "Authorization"
		case o.Token.URL == "" && o.Issuer == "":
			missing = "Token"
		case o.Userinfo.URL == "" && o.FetchUserinfo == nil && o.Issuer == "":
			missing = "Userinfo"
		}
		if o.RequestToken.URL != "" && (o.Authorization.URL == "" || o.Token.URL == "") {
			faults.add(InvalidEndpoints, "provider %q uses OAuth 1.0a, where nothing is discovered: set Authorization.URL and Token.URL", o.ID)
		}
		if missing != "" {
			faults.add(InvalidEndpoints, "provider %q has neither an Issuer nor %s.URL: set one of them", o.ID, missing)
		}
	case TypeOIDC:
		if o.Issuer == "" {
			faults.add(InvalidEndpoints, "provider %q has no Issuer: set it, or AUTH_%s_ISSUER in the environment, to the issuer's URL", o.ID, envName(o.ID))
		}
	default:
		faults.add(InvalidConfig, "provider %q has the Type %q: use TypeOAuth or TypeOIDC", o.ID, o.Type)
	}
	if o.ClientID == "" {
		faults.add(InvalidConfig, "provider %q has no ClientID: set it, or AUTH_%s_ID in the environment", o.ID, envName(o.ID))
	}
	o.checkResponse(faults)
	for _, at := range []struct{ field, url string }{
		{"Issuer", o.Issuer}, {"Authorization.URL", o.Authorization.URL}, {"Token.URL", o.Token.URL}, {"Userinfo.URL", o.Userinfo.URL},
		{"RequestToken.URL", o.RequestToken.URL}, {"RedirectProxyURL", o.RedirectProxyURL},
	} {
		if at.url == "" {
			continue
		}
		if err := checkEndpoint(at.url); err != nil {
			faults.add(InvalidEndpoints, "provider %q: %s: %v", o.ID, at.field, err)
		}
	}
	switch o.ClientAuth {
	case ClientSecretBasic, ClientSecretPost, ClientSecretJWT:
		if o.ClientSecret == "" && o.MakeClientSecret == nil {
			faults.add(InvalidConfig, "provider %q has no ClientSecret: set it, or AUTH_%s_SECRET in the environment, or ClientAuth to ClientAuthNone for a public client", o.ID, envName(o.ID))
		}
	case PrivateKeyJWT:
		if o.ClientKey == nil {
			faults.add(InvalidConfig, "provider %q uses private_key_jwt without ClientKey: set it (ParseClientKey reads PEM and JWK), or %s or %s in the environment", o.ID, EnvName(o.ID, "PRIVATE_KEY"), EnvName(o.ID, "PRIVATE_KEY_FILE"))
		}
	case ClientAuthNone:
	default:
		faults.add(InvalidConfig, "provider %q: unknown ClientAuth %q", o.ID, o.ClientAuth)
	}
	for _, k := range o.Checks {
		if k != CheckPKCE && k != CheckState && k != CheckNonce {
			faults.add(InvalidConfig, "provider %q: unknown check %q", o.ID, k)
		}
	}
}

// checkResponse refuses forms of the authorization response that we do not read: without this the sign-in would fail when the visitor
// comes back.
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
		{"response_mode", []string{"query", "form_post"}, `use "query", the default, or "form_post" (a fragment never reaches a server, and signed responses, JARM, are not read)`},
		{"response_type", []string{"code", "Assertion"}, `use "code", the default (tokens come from the token endpoint alone: no implicit and no hybrid flow)`}, // Assertion is what Azure DevOps calls its code
	} {
		for _, value := range slices.Concat(asked[each.name], o.Authorization.Params[each.name]) {
			if !slices.Contains(each.known, value) {
				faults.add(InvalidConfig, "provider %q: Authorization has the %s %.60q: %s", o.ID, each.name, value, each.why)
			}
		}
	}
}

func newEmail(c *Config, declared *EmailProvider, faults *ConfigError) *EmailProvider {
	e := *declared
	e.ID, e.Name, _ = declared.Describe()
	if e.Configure != nil {
		if err := e.Configure(&e, c.Getenv); err != nil {
			faults.add(InvalidConfig, "provider %q: %w", e.ID, err)
			return &e
		}
	}
	if e.MaxAge == 0 {
		e.MaxAge = 24 * time.Hour
	}
	if e.MaxAge < 0 {
		faults.add(InvalidConfig, "provider %q: MaxAge is %v: more than zero", e.ID, e.MaxAge)
	}
	if e.Send == nil {
		faults.add(InvalidConfig, "provider %q has no Send function: it delivers the mail", e.ID)
	}
	return &e
}

// view is what pages know of a provider.
func (p *provider) view(declared Provider) ui.Provider {
	v := ui.Provider{ID: p.id, Name: p.name, Type: string(p.kind)}
	var style Style
	switch d := declared.(type) {
	case *OAuthProvider:
		style = d.Style
	case *EmailProvider:
		style = d.Style
	case *CredentialsProvider:
		style, v.Fields = d.Style, fieldViews(d.Fields)
	case *WebAuthnProvider:
		style = d.Style
		p.webauthn.view(&v)
	}
	v.Style = ui.Style{Background: style.Background, Text: style.Text, Logo: style.Logo}
	return v
}

func fieldViews(fields []Field) []ui.Field {
	views := make([]ui.Field, len(fields))
	for i, f := range fields {
		views[i] = ui.Field{Name: f.Name, Label: f.Label, Type: or(f.Type, "text"), Placeholder: f.Placeholder, Value: f.Value, Autocomplete: f.Autocomplete, Required: f.Required}
		for _, pair := range f.Attributes {
			views[i].Attributes = append(views[i].Attributes, ui.Attribute{Name: pair[0], Value: pair[1]})
		}
	}
	return views
}
