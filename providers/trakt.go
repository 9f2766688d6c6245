package providers

import (
	"context"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// Trakt signs in with Trakt accounts.
//
// Register the application at https://trakt.tv/oauth/applications with the callback URL {origin}/auth/callback/trakt.
// Environment: AUTH_TRAKT_ID, AUTH_TRAKT_SECRET.
//
// The service's pictures cannot be shown on other sites. The profile has no email address.
func Trakt(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "trakt", Name: "Trakt", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://trakt.tv/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://api.trakt.tv/oauth/token"},
		Userinfo:      core.Endpoint{URL: "https://api.trakt.tv/users/me", Params: url.Values{"extended": {"full"}}},
		Scope:         core.NoScope,
		FetchUserinfo: func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
			return r.Get(ctx, r.URL, "trakt-api-version", "2", "trakt-api-key", r.Tokens.Provider.ClientID)
		},
		Profile: mapping{id: "ids.slug", name: "name", image: "images.avatar.full"}.person(),
		Style:   core.Style{Mark: markTrakt()},
	}, options)
}
