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

// Options changes a provider. The zero value changes nothing. A constructor takes one or none; more are a fault that
// [core.New] reports.
type Options struct {
	// ID and Name replace the provider's own: two providers of one kind need two IDs. The ID is part of the callback URL
	// and of the names of the environment variables.
	ID, Name string
	// ClientID and ClientSecret are this application's credentials; empty: AUTH_<ID>_ID and AUTH_<ID>_SECRET.
	ClientID     string
	ClientSecret core.Secret
	// Issuer replaces the issuer; empty: the provider's, or AUTH_<ID>_ISSUER. Of services with a BaseURL it is that.
	Issuer string
	// BaseURL is the address of the installation, of services that people run themselves.
	BaseURL string
	// Scope replaces the requested scopes, and AddScope adds to them. Separate them by spaces; services that want commas
	// receive commas.
	Scope, AddScope string
	// Checks and ClientAuth replace the provider's.
	Checks     []core.Check
	ClientAuth core.ClientAuth
	// AuthorizationParams are added to the authorization request.
	AuthorizationParams url.Values
	// Profile replaces the mapping from the provider's answer to a person.
	Profile func(ctx context.Context, profile core.Profile, tokens *core.TokenSet) (*core.Person, error)
	// AllowDangerousEmailAccountLinking links by e-mail; see [core.OAuthProvider].
	AllowDangerousEmailAccountLinking bool
	// AllowInsecureHTTP allows plain http to the provider, and names that resolve to this machine, for a provider inside a
	// cluster; see [core.OAuthProvider] for the risk.
	AllowInsecureHTTP core.Toggle
	// RedirectProxyURL overrides the configuration's.
	RedirectProxyURL string
	// HTTPClient is used for requests to the provider.
	HTTPClient *http.Client
}

// one returns the options of a constructor, of which there are one or none. More are an error: which of two values
// holds nobody could tell.
func one[T any](options []T) (o T, err error) {
	if len(options) > 1 {
		return o, fmt.Errorf("%d values of %T: write them into one", len(options), o)
	}
	for _, o = range options {
	}
	return o, nil
}

// with applies the options, of which there are one or none.
func with(p *core.OAuthProvider, options []Options) *core.OAuthProvider {
	o, err := one(options)
	if err != nil {
		p.Fault = err
	}
	return o.apply(p)
}

// withCommas is with for a service that separates scopes by commas. RFC 6749 section 3.3 separates them by spaces,
// which such a service takes for a part of a name.
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
	if o.AllowInsecureHTTP != core.Auto {
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

// moreScope adds to the scopes of a provider, which may be none or the default ones.
func moreScope(scope, more string) string {
	switch scope {
	case core.NoScope:
		return more
	case "":
		return "openid profile email " + more
	}
	return scope + " " + more
}

// conformToken makes a token answer what RFC 6749 section 5.1 wants, where services differ: a missing token_type is
// bearer, a list of scopes is text, and null is nothing.
func conformToken(body []byte) ([]byte, error) {
	var answer core.Profile
	if err := answer.UnmarshalJSON(body); err != nil {
		return body, nil //nolint:nilerr // core says what is wrong with it
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

// usesBase reports whether the addresses of a provider begin with its BaseURL.
func usesBase(p *core.OAuthProvider) bool {
	return strings.HasPrefix(p.Token.URL, "{base}") || strings.HasPrefix(p.Issuer, "{base}")
}

func set[T ~string](field *T, value T) {
	if value != "" {
		*field = value
	}
}

// leagueRefreshTokenRevoked reports whether a service that uses league/oauth2-server refuses a refresh token. Versions
// before 9 use the error code invalid_request for it.
func leagueRefreshTokenRevoked(response core.Profile) bool {
	return response.Text("error") == "invalid_request" &&
		response.First("error_description", "message") == "The refresh token is invalid."
}
