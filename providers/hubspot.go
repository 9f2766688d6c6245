package providers

import (
	"context"
	"net/http"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// HubSpot signs in with HubSpot accounts.
//
// Register the application at https://developers.hubspot.com with the callback URL {origin}/auth/callback/hubspot.
// Environment: AUTH_HUBSPOT_ID, AUTH_HUBSPOT_SECRET.
//
// The service has announced that these endpoints end in February 2027.
func HubSpot(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "hubspot", Name: "HubSpot", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://app.hubspot.com/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://api.hubapi.com/oauth/v1/token"},
		Userinfo:      core.Endpoint{URL: "https://api.hubapi.com/oauth/v1/access-tokens"},
		Scope:         "oauth",
		ClientAuth:    core.ClientSecretPost,
		FetchUserinfo: func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
			// The token is part of the path.
			address := r.URL + "/" + url.PathEscape(string(r.Tokens.AccessToken))
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
			if err != nil {
				return nil, err
			}
			request.Header.Set("Content-Type", "application/json")
			return r.Do(request)
		},
		Profile: mapping{id: "user_id", name: "user", email: "user"}.person(),
		Style:   core.Style{Mark: markHubspot()},
	}, options)
}
