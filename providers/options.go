package providers

import (
	"context"
	"net/http"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// Options changes a provider. The zero value changes nothing.
type Options struct {
	// ID and Name replace the provider's own: two providers of one kind need two IDs. The ID is part of the callback URL and of
	// the names of the environment variables.
	ID, Name string
	// ClientID and ClientSecret are this application's credentials; empty: AUTH_<ID>_ID and AUTH_<ID>_SECRET.
	ClientID     string
	ClientSecret core.Secret
	// Issuer replaces the issuer; empty: the provider's, or AUTH_<ID>_ISSUER.
	Issuer string
	// Scope replaces the scopes asked for, separated by blanks.
	Scope string
	// AuthorizationParams are added to the authorization request.
	AuthorizationParams url.Values
	// Profile replaces the mapping from the provider's answer to a user.
	Profile func(ctx context.Context, profile core.Profile, tokens *core.TokenSet) (*core.User, error)
	// AllowDangerousEmailAccountLinking links by e-mail; see [core.OAuthProvider].
	AllowDangerousEmailAccountLinking bool
	// RedirectProxyURL overrides the configuration's.
	RedirectProxyURL string
	// HTTPClient is used for requests to the provider.
	HTTPClient *http.Client
}

// with applies the options, of which there is one or none.
func with(p *core.OAuthProvider, options []Options) *core.OAuthProvider {
	for _, o := range options {
		set(&p.ID, o.ID)
		set(&p.Name, o.Name)
		set(&p.ClientID, o.ClientID)
		set(&p.ClientSecret, o.ClientSecret)
		set(&p.Issuer, o.Issuer)
		set(&p.Scope, o.Scope)
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
	}
	return p
}

func set[T ~string](field *T, value T) {
	if value != "" {
		*field = value
	}
}
