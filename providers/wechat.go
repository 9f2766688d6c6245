package providers

import (
	"context"
	"net/http"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// WeChat signs in with WeChat accounts inside the WeChat app, for pages of an official account. For other browsers use
// [WeChatWebsite].
//
// Register an official account at https://mp.weixin.qq.com with the callback domain of your origin. Environment:
// AUTH_WECHAT_ID, AUTH_WECHAT_SECRET.
//
// The account is identified by its unionid, which applications of one open platform share, or else by its openid. The
// profile has no email address.
func WeChat(options ...Options) *core.OAuthProvider {
	return wechat("https://open.weixin.qq.com/connect/oauth2/authorize", "snsapi_userinfo", options)
}

// WeChatWebsite is like [WeChat], with a QR code that users scan with their phone. Register a website application at
// https://open.weixin.qq.com.
func WeChatWebsite(options ...Options) *core.OAuthProvider {
	return wechat("https://open.weixin.qq.com/connect/qrconnect", "snsapi_login", options)
}

func wechat(authorization, scope string, options []Options) *core.OAuthProvider {
	return withCommas(&core.OAuthProvider{
		ID: "wechat", Name: "WeChat", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: authorization + "#wechat_redirect", Params: url.Values{"appid": {"{client_id}"}}},
		Token: core.Endpoint{
			URL: "https://api.weixin.qq.com/sns/oauth2/access_token?appid={client_id}&secret={client_secret}",
		},
		Userinfo: core.Endpoint{URL: "https://api.weixin.qq.com/sns/userinfo"},
		Scope:    scope,
		Checks:   []core.Check{core.CheckState},
		FetchUserinfo: func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
			query := url.Values{
				"access_token": {string(r.Tokens.AccessToken)}, "openid": {r.Tokens.Extra.Text("openid")},
				"lang": {"zh_CN"},
			}
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL+"?"+query.Encode(), nil)
			if err != nil {
				return nil, err
			}
			return r.Do(request)
		},
		Profile: mapping{id: "unionid ?? openid", name: "nickname", image: "headimgurl"}.person(),
		Style:   core.Style{Mark: markWechat()},
	}, options)
}
