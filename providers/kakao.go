package providers

import "github.com/latchkey-go/latchkey/core"

// Kakao signs in with Kakao accounts.
//
// Register the application at https://developers.kakao.com/console/app with the callback URL
// {origin}/auth/callback/kakao. Environment: AUTH_KAKAO_ID, AUTH_KAKAO_SECRET.
func Kakao(options ...Options) *core.OAuthProvider {
	return withCommas(&core.OAuthProvider{
		ID: "kakao", Name: "Kakao", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://kauth.kakao.com/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://kauth.kakao.com/oauth/token"},
		Userinfo:      core.Endpoint{URL: "https://kapi.kakao.com/v2/user/me"},
		Scope:         core.NoScope,
		ClientAuth:    core.ClientSecretPost,
		Profile: mapping{
			id: "id", name: "kakao_account.profile.nickname",
			email: "kakao_account.email", image: "kakao_account.profile.profile_image_url",
		}.person(),
		Style: core.Style{Background: "#fee500", Text: "#191600", Mark: markKakao()},
	}, options)
}
