package providers

import (
	"context"
	"errors"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// VK signs in with VK accounts, with the older API of the service.
//
// Register the application at https://vk.com/apps?act=manage with the callback URL {origin}/auth/callback/vk.
// Environment: AUTH_VK_ID, AUTH_VK_SECRET.
//
// New applications must use VK ID, which requires an additional parameter in the token request and is not supported.
func VK(options ...Options) *core.OAuthProvider {
	const version = "5.131"
	return withCommas(&core.OAuthProvider{
		ID: "vk", Name: "VK", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://oauth.vk.com/authorize", Params: url.Values{"v": {version}}},
		Token:         core.Endpoint{URL: "https://oauth.vk.com/access_token?v=" + version},
		Userinfo: core.Endpoint{
			URL:    "https://api.vk.com/method/users.get",
			Params: url.Values{"fields": {"photo_100"}, "v": {version}},
		},
		Scope:      "email",
		Checks:     []core.Check{core.CheckState}, // these endpoints reject PKCE
		ClientAuth: core.ClientSecretPost,
		FetchUserinfo: func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
			answer, err := r.Get(ctx, r.URL, "User-Agent", "latchkey")
			if err != nil {
				return nil, err
			}
			list := answer.List("response")
			if len(list) == 0 {
				return nil, errors.New("the body has no member response")
			}
			person, _ := list[0].(map[string]any)
			if person != nil { // the token response contains the address
				person["email"] = nil
				if email := r.Tokens.Extra.Text("email"); email != "" {
					person["email"] = email
				}
			}
			return person, nil
		},
		Profile: mapping{id: "id", name: "first_name + last_name", email: "email", image: "photo_100"}.person(),
		Style:   core.Style{Mark: markVk()},
	}, options)
}
