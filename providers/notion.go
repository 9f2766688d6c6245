package providers

import (
	"context"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// Notion signs in with Notion accounts.
//
// Register a public integration at https://www.notion.so/my-integrations with the callback URL
// {origin}/auth/callback/notion. Environment: AUTH_NOTION_ID, AUTH_NOTION_SECRET.
//
// The email address requires the integration's capability to read it. An integration that a workspace owns cannot be
// used for sign-in.
func Notion(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "notion", Name: "Notion", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://api.notion.com/v1/oauth/authorize", Params: url.Values{"owner": {"user"}}},
		Token:         core.Endpoint{URL: "https://api.notion.com/v1/oauth/token"},
		Userinfo:      core.Endpoint{URL: "https://api.notion.com/v1/users/me"},
		FetchUserinfo: func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
			answer, err := r.Get(ctx, r.URL, "Notion-Version", "2022-06-28")
			if err != nil {
				return nil, err
			}
			return answer.Object("bot").Object("owner").Object("user"), nil
		},
		Profile: mapping{id: "id", name: "name", email: "person.email", image: "avatar_url"}.person(),
		Style:   core.Style{Mark: markNotion()},
	}, options)
}
