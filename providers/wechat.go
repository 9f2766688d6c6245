package providers

import (
	"context"
	"net/http"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// WeChat signs in with WeChat accounts, within the WeChat application: an official account's pages. [WeChatWebsite] is
// for other browsers.
//
// Register an official account at https://mp.weixin.qq.com with the callback domain of your origin. Environment:
// AUTH_WECHAT_ID, AUTH_WECHAT_SECRET.
//
// The account is known by its unionid, which accounts of one open platform share, else by its openid. The service tells
// no e-mail.
func WeChat(options ...Options) *core.OAuthProvider {
	return wechat("https://open.weixin.qq.com/connect/oauth2/authorize", "snsapi_userinfo", options)
}

// WeChatWebsite is [WeChat] with a code that people scan with their telephone. Register a website application at
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
