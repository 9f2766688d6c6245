package providers

import "github.com/latchkey-go/latchkey/core"

// Naver signs in with Naver accounts.
//
// Register the application at https://developers.naver.com/apps/ with the callback URL {origin}/auth/callback/naver.
// Environment: AUTH_NAVER_ID, AUTH_NAVER_SECRET.
func Naver(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "naver", Name: "Naver", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://nid.naver.com/oauth2.0/authorize"},
		Token:         core.Endpoint{URL: "https://nid.naver.com/oauth2.0/token"},
		Userinfo:      core.Endpoint{URL: "https://openapi.naver.com/v1/nid/me"},
		Profile: mapping{
			id: "response.id", name: "response.nickname", email: "response.email", image: "response.profile_image",
		}.person(),
		Style: core.Style{Mark: markNaver()},
	}, options)
}
