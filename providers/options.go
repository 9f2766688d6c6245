package providers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Options changes a provider. The zero value changes nothing. Constructors accept at most one value; [core.New] reports
// more as a configuration error.
type Options struct {
	// ID and Name replace those of the provider. Two providers of the same service need two IDs. The ID is part of the
	// callback URL and of the environment variables.
	ID, Name string
	// ClientID and ClientSecret are the credentials of the application. The defaults are $AUTH_<ID>_ID and
	// $AUTH_<ID>_SECRET.
	ClientID     string
	ClientSecret core.Secret
	// Issuer replaces the provider's issuer. The default is the provider's, or $AUTH_<ID>_ISSUER. For services with a
	// BaseURL it is the BaseURL.
	Issuer string
	// BaseURL is the URL of the installation, for self-hosted services.
	BaseURL string
	// Scope replaces the requested scopes, AddScope adds to them. Separate them by spaces. They are sent with commas to
	// services that require commas.
	Scope, AddScope string
	// Checks and ClientAuth replace the values of the provider's preset.
	Checks     []core.Check
	ClientAuth core.ClientAuth
	// AuthorizationParams are additional parameters of the authorization request.
	AuthorizationParams url.Values
	// Profile replaces the mapping from the provider's profile to a person.
	Profile func(ctx context.Context, profile core.Profile, tokens *core.TokenSet) (*core.Person, error)
	// AllowDangerousEmailAccountLinking links accounts by email address. See [core.OAuthProvider].
	AllowDangerousEmailAccountLinking bool
	// AllowInsecureHTTP allows plain http, and names that resolve to this machine, for a provider inside a cluster. See
	// [core.OAuthProvider] for the risk.
	AllowInsecureHTTP core.OptionalBool
	// RedirectProxyURL replaces Config.RedirectProxyURL for this provider.
	RedirectProxyURL string
	// HTTPClient sends the requests to the provider.
	HTTPClient *http.Client
}

// one returns the only element of a constructor's options, or the zero value. More elements are an error, because their
// precedence would be unclear.
func one[T any](options []T) (o T, err error) {
	if len(options) > 1 {
		return o, fmt.Errorf("%d values of %T: merge them into one", len(options), o)
	}
	for _, o = range options {
	}
	return o, nil
}

// with applies the options to a provider.
func with(p *core.OAuthProvider, options []Options) *core.OAuthProvider {
	o, err := one(options)
	if err != nil {
		p.Fault = err
	}
	return o.apply(p)
}

// withCommas is like with for a service that separates scopes by commas. With the spaces of RFC 6749 section 3.3, such
// a service would read them as one scope.
func withCommas(p *core.OAuthProvider, options []Options) *core.OAuthProvider {
	p = with(p, options)
	if p.Scope != core.NoScope {
		isSeparator := func(r rune) bool { return r == ' ' || r == ',' }
		p.Scope = strings.Join(strings.FieldsFunc(p.Scope, isSeparator), ",")
	}
	return p
}

// apply changes a provider as the options say.
func (o Options) apply(p *core.OAuthProvider) *core.OAuthProvider {
	if p.ConformToken == nil {
		p.ConformToken = conformToken
	}
	set(&p.ID, o.ID)
	set(&p.Name, o.Name)
	set(&p.ClientID, o.ClientID)
	set(&p.ClientSecret, o.ClientSecret)
	set(&p.ClientAuth, o.ClientAuth)
	if usesBase(p) {
		set(&p.BaseURL, o.Issuer)
	} else {
		set(&p.Issuer, o.Issuer)
	}
	set(&p.BaseURL, o.BaseURL)
	if set(&p.Scope, o.Scope); o.AddScope != "" {
		p.Scope = moreScope(p.Scope, o.AddScope)
	}
	if o.AllowInsecureHTTP != core.Default {
		p.AllowInsecureHTTP = o.AllowInsecureHTTP
	}
	if o.Checks != nil {
		p.Checks = o.Checks
	}
	set(&p.RedirectProxyURL, o.RedirectProxyURL)
	for name, values := range o.AuthorizationParams {
		if p.Authorization.Params == nil {
			p.Authorization.Params = url.Values{}
		}
		p.Authorization.Params[name] = values
	}
	if o.Profile != nil {
		p.Profile = o.Profile
	}
	if o.HTTPClient != nil {
		p.HTTPClient = o.HTTPClient
	}
	p.AllowDangerousEmailAccountLinking = p.AllowDangerousEmailAccountLinking || o.AllowDangerousEmailAccountLinking
	return p
}

// moreScope adds to the scopes of a provider, or to the default scopes.
func moreScope(scope, more string) string {
	switch scope {
	case core.NoScope:
		return more
	case "":
		return "openid profile email " + more
	}
	return scope + " " + more
}

// conformToken converts a token response to RFC 6749 section 5.1: a missing token_type becomes bearer, a list of scopes
// becomes text, and null members are removed.
func conformToken(body []byte) ([]byte, error) {
	var answer core.Profile
	if err := answer.UnmarshalJSON(body); err != nil {
		return body, nil //nolint:nilerr // core reports the error
	}
	list, isList := answer["scope"].([]any)
	if answer["token_type"] != nil && !isList {
		return body, nil
	}
	if answer["token_type"] == nil {
		answer["token_type"] = "bearer"
	}
	if isList {
		var scopes []string
		for _, s := range list {
			if text, ok := s.(string); ok {
				scopes = append(scopes, text)
			}
		}
		answer["scope"] = strings.Join(scopes, " ")
	}
	return json.Marshal(answer)
}

// usesBase reports whether the URLs of a provider start with its BaseURL.
func usesBase(p *core.OAuthProvider) bool {
	return strings.HasPrefix(p.Token.URL, "{base}") || strings.HasPrefix(p.Issuer, "{base}")
}

func set[T ~string](field *T, value T) {
	if value != "" {
		*field = value
	}
}

// leagueRefreshTokenRevoked reports whether a service with league/oauth2-server has rejected a refresh token. Versions
// before 9 return the error code invalid_request for it.
func leagueRefreshTokenRevoked(response core.Profile) bool {
	return response.Text("error") == "invalid_request" &&
		response.First("error_description", "message") == "The refresh token is invalid."
}
