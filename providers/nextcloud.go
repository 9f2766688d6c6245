package providers

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Nextcloud signs in with the accounts of the Nextcloud installation at BaseURL.
//
// Register the client in its settings under Security with the callback URL {origin}/auth/callback/nextcloud.
// Environment: AUTH_NEXTCLOUD_ID, AUTH_NEXTCLOUD_SECRET, AUTH_NEXTCLOUD_ISSUER.
func Nextcloud(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "nextcloud", Name: "Nextcloud", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "{base}/apps/oauth2/authorize"},
		Token:         core.Endpoint{URL: "{base}/apps/oauth2/api/v1/token"},
		Userinfo:      core.Endpoint{URL: "{base}/ocs/v1.php/cloud/users"},
		FetchUserinfo: func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
			id := r.Tokens.Extra.Text("user_id")
			if id == "" {
				return nil, errors.New("the token response has no user_id")
			}
			answer, err := r.Get(ctx, r.URL+"/"+url.PathEscape(id), "OCS-APIRequest", "true")
			if err != nil {
				return nil, err
			}
			return answer.Object("ocs").Object("data"), nil
		},
		Profile: nextcloudPerson,
		Style:   core.Style{Mark: markNextcloud()},
	}, options)
}

func nextcloudPerson(_ context.Context, p core.Profile, tokens *core.TokenSet) (*core.Person, error) {
	person := &core.Person{AccountID: p.Text("id"), Name: p.Text("displayname"), Email: p.Text("email")}
	if person.AccountID != "" && tokens.Provider != nil {
		base := strings.TrimRight(tokens.Provider.BaseURL, "/")
		person.Image = base + "/avatar/" + url.PathEscape(person.AccountID) + "/512"
	}
	return person, nil
}
