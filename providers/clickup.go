package providers

import (
	"context"

	"github.com/latchkey-go/latchkey/core"
)

// ClickUp signs in with ClickUp accounts.
//
// Register the application at https://app.clickup.com/settings/team/apps with the callback URL
// {origin}/auth/callback/click-up. Environment: AUTH_CLICK_UP_ID, AUTH_CLICK_UP_SECRET.
//
// The user has the additional members profilePicture and color.
func ClickUp(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "click-up", Name: "ClickUp", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://app.clickup.com/api"},
		Token:         core.Endpoint{URL: "https://api.clickup.com/api/v2/oauth/token"},
		Userinfo:      core.Endpoint{URL: "https://api.clickup.com/api/v2/user"},
		Checks:        []core.Check{core.CheckState},
		Profile:       clickUpPerson,
		Style:         core.Style{Mark: markClickUp()},
	}, options)
}

func clickUpPerson(_ context.Context, p core.Profile, _ *core.TokenSet) (*core.Person, error) {
	user := p.Object("user")
	person := &core.Person{AccountID: user.Text("id"), Name: user.Text("username")}
	return person, keep(person, user, "profilePicture", "color")
}
