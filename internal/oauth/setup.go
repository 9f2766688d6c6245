package oauth

import (
	"crypto"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// NoScope as a Setup's Scope means that authorization requests have no scope parameter.
const NoScope = "-"

// Setup is the configuration of a provider as the application declares it. Fields may be empty, and URLs and parameters
// may contain the placeholders {client_id}, {client_secret} and {base}. [Setup.Complete] completes Config for [New].
type Setup struct {
	Config
	// Type is "oauth" or "oidc".
	Type string
	// BaseURL is the address of a self-hosted service. It replaces {base}.
	BaseURL string
	// DefaultIssuer is the Issuer, or the BaseURL of a provider that uses {base}, if neither the declaration nor the
	// environment sets one.
	DefaultIssuer string
	// Insecure allows plain http to the provider.
	Insecure bool
	// ProxyURL is the redirect proxy of this provider, without a trailing slash. The default is DefaultProxyURL, which is
	// not checked. It is empty for OAuth 1.0a, and if the callback is a POST.
	ProxyURL, DefaultProxyURL string
	// Checks are the checks of the flow. If it is nil, they are PKCE and state. With a redirect proxy, state is added,
	// which contains the URL for forwarding. There are none for OAuth 1.0a.
	Checks []string
	// FormPost is set by Complete: the callback is a cross-site POST.
	FormPost bool
	// Logout means that a sign-out also signs out at the provider. HasSignOutURL means that the application makes its URL.
	Logout, HasSignOutURL bool
}

// The checks of a flow.
const (
	CheckPKCE  = "pkce"
	CheckState = "state"
	CheckNonce = "nonce"
)

// Problem is a configuration error of a provider.
type Problem struct {
	Err error
	// Endpoint reports that an endpoint, the issuer or a base URL is missing or invalid.
	Endpoint bool
}

// Complete sets empty fields from the environment and with defaults, replaces the placeholders, and returns the
// configuration errors. It does not change maps of the declaration.
func (s *Setup) Complete(getenv func(name string) string) []Problem {
	c := completion{Setup: s, getenv: getenv}
	s.OpenID = s.Type == "oidc"
	c.readEnvironment()
	c.expand()
	c.readKey()
	c.setDefaults()
	c.check()
	c.completeFlow()
	return c.problems
}

// completeFlow sets the checks, the response mode and the redirect proxy, and reports their errors.
func (c *completion) completeFlow() {
	if c.Logout && !c.OpenID && !c.HasSignOutURL {
		c.fault("provider %q has Logout On and the Type %q: only OpenID Connect (TypeOIDC) says where "+
			"to sign out, leave Logout out or set SignOutURL", c.ID, c.Type)
	}
	proxyURL := strings.TrimRight(or(c.ProxyURL, c.DefaultProxyURL), "/")
	c.ProxyURL = ""
	if c.RequestToken.URL != "" {
		c.Checks = nil
		return
	}
	if c.Checks == nil {
		c.Checks = []string{CheckPKCE, CheckState}
	}
	if c.FormPost = c.Authorization.Param("response_mode") == "form_post"; !c.FormPost {
		c.ProxyURL = proxyURL
	}
	if c.ProxyURL != "" && !slices.Contains(c.Checks, CheckState) {
		c.Checks = append(slices.Clone(c.Checks), CheckState)
	}
	for _, check := range c.Checks {
		if check != CheckPKCE && check != CheckState && check != CheckNonce {
			c.fault("provider %q: unknown check %q", c.ID, check)
		}
	}
}

// InsecureHosts returns the configured hosts that may be reached with plain http: none, unless Insecure is set.
func (s *Setup) InsecureHosts() (hosts []string) {
	if !s.Insecure {
		return nil
	}
	for _, address := range []string{s.Issuer, s.BaseURL, s.Authorization.URL, s.Token.URL, s.Userinfo.URL} {
		if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}

// completion is a Setup that is being completed.
type completion struct {
	*Setup
	getenv   func(name string) string
	problems []Problem
}

// variable returns the value of the provider's environment variable for a field.
func (c *completion) variable(field string) string { return c.getenv(c.Variable(field)) }

// fault adds a configuration error about anything but an endpoint.
func (c *completion) fault(format string, args ...any) {
	c.problems = append(c.problems, Problem{Err: fmt.Errorf(format, args...)})
}

// endpointFault adds a configuration error about an endpoint.
func (c *completion) endpointFault(format string, args ...any) {
	c.problems = append(c.problems, Problem{Err: fmt.Errorf(format, args...), Endpoint: true})
}

// readEnvironment sets the client ID, the client secret, and the address of the issuer or service.
func (c *completion) readEnvironment() {
	c.ClientID = or(c.ClientID, c.variable("ID"))
	c.ClientSecret = or(c.ClientSecret, c.variable("SECRET"))
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	issuer := or(c.variable("ISSUER"), c.DefaultIssuer)
	if !c.usesBase() {
		c.Issuer = or(c.Issuer, issuer)
		return
	}
	c.BaseURL = strings.TrimRight(or(c.BaseURL, issuer), "/")
	if c.BaseURL == "" {
		const format = "provider %q has no BaseURL: set it, or %s in the environment, to the address of the service"
		c.endpointFault(format, c.ID, c.Variable("ISSUER"))
	}
}

// usesBase reports whether a URL of the provider begins with the placeholder {base}.
func (c *completion) usesBase() bool {
	addresses := []string{c.Issuer, c.Authorization.URL, c.Token.URL, c.Userinfo.URL}
	return slices.ContainsFunc(addresses, func(u string) bool { return strings.HasPrefix(u, "{base}") })
}

// expand replaces the placeholders.
func (c *completion) expand() {
	id, secret := c.ClientID, c.ClientSecret
	plain := strings.NewReplacer("{client_id}", id, "{client_secret}", secret, "{base}", c.BaseURL)
	inURL := strings.NewReplacer(
		"{client_id}", url.QueryEscape(id), "{client_secret}", url.QueryEscape(secret), "{base}", c.BaseURL)
	c.Issuer = inURL.Replace(c.Issuer)
	for _, e := range []*Endpoint{&c.Authorization, &c.Token, &c.Userinfo} {
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

// readKey sets the key of private_key_jwt from the environment: AUTH_<ID>_PRIVATE_KEY contains it, or
// AUTH_<ID>_PRIVATE_KEY_FILE is the path of its file.
func (c *completion) readKey() {
	if c.ClientAuth != PrivateKeyJWT || c.ClientKey != nil {
		return
	}
	var key crypto.Signer
	var keyID string
	var err error
	if text := c.variable("PRIVATE_KEY"); text != "" {
		key, keyID, err = ParseKey(text)
	} else if path := c.variable("PRIVATE_KEY_FILE"); path != "" {
		key, keyID, err = loadKey(path)
	}
	if err != nil {
		c.fault("provider %q: client key: %w", c.ID, err)
		return
	}
	if key != nil {
		c.ClientKey, c.ClientKeyID = key, or(c.ClientKeyID, keyID)
	}
}

// loadKey reads a file and parses it with [ParseKey].
func loadKey(path string) (key crypto.Signer, keyID string, err error) {
	file, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, 64<<10))
	if err != nil {
		return nil, "", err
	}
	return ParseKey(string(text))
}

// setDefaults sets the max_age that ID tokens are checked against, the client authentication and the scope.
func (c *completion) setDefaults() {
	if text := c.Authorization.Param("max_age"); text != "" && c.OpenID {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			c.endpointFault("provider %q: max_age %q is not a number of seconds", c.ID, text)
		}
		// max_age=0 requires a new sign-in, but a zero MaxAge means that no max_age was sent.
		c.MaxAge = max(time.Duration(n)*time.Second, 1)
	}
	c.ClientAuth = or(c.ClientAuth, ClientSecretBasic)
	if c.RequestToken.URL != "" {
		c.ClientAuth = ClientSecretBasic
	}
	if c.Scope = or(c.Scope, "openid profile email"); c.Scope == NoScope {
		c.Scope = ""
	}
}

// Param returns the configured value of a request parameter.
func (e Endpoint) Param(name string) string {
	value := e.Params.Get(name)
	if u, err := url.Parse(e.URL); err == nil {
		value = or(value, u.Query().Get(name))
	}
	return value
}

// check reports the configuration errors of a completed provider.
func (c *completion) check() {
	switch c.Type {
	case "oauth":
		c.checkEndpoints()
	case "oidc":
		if c.Issuer == "" {
			c.endpointFault("provider %q has no Issuer: set it, or %s in the environment, to the issuer's URL",
				c.ID, c.Variable("ISSUER"))
		}
	default:
		c.fault("provider %q has the Type %q: use TypeOAuth or TypeOIDC", c.ID, c.Type)
	}
	if c.ClientID == "" {
		c.fault("provider %q has no ClientID: set it, or %s in the environment", c.ID, c.Variable("ID"))
	}
	c.checkCredentials()
	c.checkResponse()
	for _, at := range []struct{ field, url string }{
		{"Issuer", c.Issuer}, {"Authorization.URL", c.Authorization.URL}, {"Token.URL", c.Token.URL},
		{"Userinfo.URL", c.Userinfo.URL}, {"RequestToken.URL", c.RequestToken.URL}, {"RedirectProxyURL", c.ProxyURL},
	} {
		if at.url == "" {
			continue
		}
		if err := weburl.CheckEndpoint(at.url, c.Insecure && at.field != "RedirectProxyURL"); err != nil {
			c.endpointFault("provider %q: %s: %w", c.ID, at.field, err)
		}
	}
	c.checkClientAuth()
}

// checkCredentials rejects a client ID or secret with a line break or surrounding spaces. No service issues one: the
// cause is a file or a Kubernetes secret with a trailing line break, and the service would only report an unknown
// client.
func (c *completion) checkCredentials() {
	for _, each := range []struct{ field, value string }{
		{"ClientID", c.ClientID}, {"ClientSecret", c.ClientSecret}, {"ClientKeyID", c.ClientKeyID},
	} {
		if each.value == strings.TrimSpace(each.value) && exactjson.IsClean(each.value) &&
			!strings.Contains(each.value, byteOrderMark) {
			continue
		}
		variable := c.Variable(strings.ToUpper(strings.TrimPrefix(each.field, "Client")))
		if each.field == "ClientKeyID" {
			variable = c.Variable("PRIVATE_KEY")
		}
		c.fault("provider %q: %s (%s in the environment) has a line break, a control character or "+
			"blanks around it: remove them (printf and echo -n write none at the end)", c.ID, each.field, variable)
	}
}

// byteOrderMark starts some text files and is not visible.
const byteOrderMark = "\ufeff"

// checkEndpoints reports missing endpoints of an OAuth provider without discovery.
func (c *completion) checkEndpoints() {
	missing := ""
	switch {
	case c.Issuer != "": // they are discovered
	case c.Authorization.URL == "":
		missing = "Authorization"
	case c.Token.URL == "":
		missing = "Token"
	case c.Userinfo.URL == "" && !c.NoUserinfo:
		missing = "Userinfo"
	}
	if c.RequestToken.URL != "" && (c.Authorization.URL == "" || c.Token.URL == "") {
		c.endpointFault("provider %q uses OAuth 1.0a, where nothing is discovered: set Authorization.URL and Token.URL", c.ID)
	}
	if missing != "" {
		c.endpointFault("provider %q has neither an Issuer nor %s.URL: set one of them", c.ID, missing)
	}
}

// checkClientAuth reports missing client credentials.
func (c *completion) checkClientAuth() {
	switch c.ClientAuth {
	case ClientSecretBasic, ClientSecretPost, ClientSecretJWT:
		if c.ClientSecret == "" && c.MakeClientSecret == nil {
			c.fault("provider %q has no ClientSecret: set it, or %s in the environment, "+
				"or ClientAuth to ClientAuthNone for a public client", c.ID, c.Variable("SECRET"))
		}
	case PrivateKeyJWT:
		if c.ClientKey == nil {
			c.fault("provider %q uses private_key_jwt without ClientKey: set it "+
				"(ParseClientKey reads PEM and JWK), or %s or %s in the environment",
				c.ID, c.Variable("PRIVATE_KEY"), c.Variable("PRIVATE_KEY_FILE"))
		}
	case ClientAuthNone:
	default:
		c.fault("provider %q: unknown ClientAuth %q", c.ID, c.ClientAuth)
	}
}

// checkResponse rejects response modes and types that are not supported. Otherwise each sign-in would fail at the
// callback.
func (c *completion) checkResponse() {
	asked := map[string][]string{}
	if u, err := url.Parse(c.Authorization.URL); err == nil {
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
		for _, value := range slices.Concat(asked[each.name], c.Authorization.Params[each.name]) {
			if !slices.Contains(each.known, value) {
				c.fault("provider %q: Authorization has the %s %.60q: %s", c.ID, each.name, value, each.why)
			}
		}
	}
}
