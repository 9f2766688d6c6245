package providers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
)

// GitHub signs in with GitHub accounts.
//
// Register an OAuth app at https://github.com/settings/developers with the callback URL {origin}/auth/callback/github.
// Environment: AUTH_GITHUB_ID, AUTH_GITHUB_SECRET.
//
// Where a profile shows no address, the primary verified one of the account's list is taken, and none if it is not verified.
func GitHub(options ...Options) *core.OAuthProvider {
	const api = "https://api.github.com"
	return with(&core.OAuthProvider{
		ID: "github", Name: "GitHub", Type: core.TypeOAuth,
		Issuer:        "https://github.com/login/oauth", // the iss of its authorization responses (RFC 9207)
		Authorization: core.Endpoint{URL: "https://github.com/login/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://github.com/login/oauth/access_token"},
		Userinfo:      core.Endpoint{URL: api + "/user"},
		Scope:         "read:user user:email",
		FetchUserinfo: func(ctx context.Context, client *http.Client, tokens *core.TokenSet) (core.Profile, error) {
			return githubUser(ctx, client, api, tokens)
		},
		Profile: githubProfile,
		Style:   core.Style{Background: "#24292f", Text: "#fff"},
	}, options)
}

func githubProfile(_ context.Context, p core.Profile, _ *core.TokenSet) (*core.User, error) {
	name := p.Text("name")
	if _, there := p["name"].(string); !there {
		name = p.Text("login")
	}
	return &core.User{ID: p.Text("id"), Name: name, Email: p.Text("email"), Image: p.Text("avatar_url")}, nil
}

func githubUser(ctx context.Context, client *http.Client, api string, tokens *core.TokenSet) (core.Profile, error) {
	var profile core.Profile
	if err := githubGet(ctx, client, api+"/user", tokens, &profile); err != nil {
		return nil, err
	}
	if profile.Text("email") != "" {
		return profile, nil
	}
	var addresses []struct {
		Email    string `json:"email"`
		Primary  bool   `json:"primary"`
		Verified bool   `json:"verified"`
	}
	if err := githubGet(ctx, client, api+"/user/emails", tokens, &addresses); err != nil {
		return profile, nil //nolint:nilerr // without the scope user:email there is no list, and no address
	}
	for _, a := range addresses {
		if a.Primary && a.Verified {
			profile["email"] = a.Email
		}
	}
	return profile, nil
}

func githubGet(ctx context.Context, client *http.Client, url string, tokens *core.TokenSet, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/vnd.github+json")
	request.Header.Set("Authorization", "Bearer "+string(tokens.AccessToken))
	request.Header.Set("User-Agent", "latchkey")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("github: status %d", response.StatusCode)
	}
	body, err := io.ReadAll(response.Body) // bounded by core's client
	if err != nil {
		return err
	}
	if profile, ok := into.(*core.Profile); ok {
		return profile.UnmarshalJSON(body)
	}
	return json.Unmarshal(body, into)
}
