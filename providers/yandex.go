package providers

import (
	"context"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// Yandex signs in with Yandex accounts.
//
// Register the application at https://oauth.yandex.com/client/new with the callback URL {origin}/auth/callback/yandex.
// Environment: AUTH_YANDEX_ID, AUTH_YANDEX_SECRET.
func Yandex(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "yandex", Name: "Yandex", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://oauth.yandex.ru/authorize"},
		Token:         core.Endpoint{URL: "https://oauth.yandex.ru/token"},
		Userinfo:      core.Endpoint{URL: "https://login.yandex.ru/info", Params: url.Values{"format": {"json"}}},
		Scope:         "login:info login:email login:avatar",
		Profile:       yandexPerson,
		Style:         core.Style{Mark: markYandex()},
	}, options)
}

var yandexFields = mapping{
	id: "id", name: "display_name ?? real_name ?? first_name", email: "default_email ?? emails.0",
}.person()

func yandexPerson(ctx context.Context, p core.Profile, tokens *core.TokenSet) (*core.Person, error) {
	person, err := yandexFields(ctx, p, tokens)
	if avatar := p.Text("default_avatar_id"); err == nil && avatar != "" && !p.Bool("is_avatar_empty") {
		person.Image = "https://avatars.yandex.net/get-yapic/" + avatar + "/islands-200"
	}
	return person, err
}
