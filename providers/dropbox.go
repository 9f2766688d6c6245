package providers

import (
	"context"
	"net/http"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// Dropbox signs in with Dropbox accounts.
//
// Register the application at https://www.dropbox.com/developers/apps with the callback URL
// {origin}/auth/callback/dropbox. Environment: AUTH_DROPBOX_ID, AUTH_DROPBOX_SECRET.
func Dropbox(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "dropbox", Name: "Dropbox", Type: core.TypeOAuth,
		Authorization: core.Endpoint{
			URL:    "https://www.dropbox.com/oauth2/authorize",
			Params: url.Values{"token_access_type": {"offline"}},
		},
		Token:    core.Endpoint{URL: "https://api.dropboxapi.com/oauth2/token"},
		Userinfo: core.Endpoint{URL: "https://api.dropboxapi.com/2/users/get_current_account"},
		Scope:    "account_info.read",
		FetchUserinfo: func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, nil) // the body is empty
			if err != nil {
				return nil, err
			}
			request.Header.Set("Authorization", "Bearer "+string(r.Tokens.AccessToken))
			return r.Do(request)
		},
		Profile: mapping{id: "account_id", name: "name.display_name", email: "email", image: "profile_photo_url"}.person(),
		Style:   core.Style{Mark: markDropbox()},
	}, options)
}
