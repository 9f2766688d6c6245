package providers

import (
	"context"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Todoist signs in with Todoist accounts.
//
// Register the application at https://developer.todoist.com/appconsole.html with the callback URL
// {origin}/auth/callback/todoist. Environment: AUTH_TODOIST_ID, AUTH_TODOIST_SECRET.
func Todoist(options ...Options) *core.OAuthProvider {
	return withCommas(&core.OAuthProvider{
		ID: "todoist", Name: "Todoist", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://todoist.com/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://todoist.com/oauth/access_token"},
		Userinfo:      core.Endpoint{URL: "https://api.todoist.com/api/v1/sync"},
		Scope:         "data:read",
		ClientAuth:    core.ClientSecretPost,
		FetchUserinfo: func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
			body := strings.NewReader(`{"sync_token":"*","resource_types":"[\"user\"]"}`)
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, body)
			if err != nil {
				return nil, err
			}
			request.Header.Set("Authorization", "Bearer "+string(r.Tokens.AccessToken))
			request.Header.Set("Content-Type", "application/json")
			answer, err := r.Do(request)
			if err != nil {
				return nil, err
			}
			return answer.Object("user"), nil
		},
		Profile: mapping{id: "id", name: "full_name", email: "email", image: "avatar_big"}.person(),
		Style:   core.Style{Mark: markTodoist()},
	}, options)
}
