package providers

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// GitHub signs in with GitHub accounts.
//
// Register an OAuth app at https://github.com/settings/developers with the callback URL {origin}/auth/callback/github.
// Environment: AUTH_GITHUB_ID, AUTH_GITHUB_SECRET.
//
// If the profile shows no email address, the account's primary address is used if it is verified, and otherwise none.
// GitHub vouches for the address. BaseURL is the URL of an Enterprise Server, https://github.example.com, or of an
// Enterprise Cloud with data residency, https://octocorp.ghe.com.
func GitHub(options ...Options) *core.OAuthProvider {
	p := with(&core.OAuthProvider{
		ID: "github", Name: "GitHub", Type: core.TypeOAuth,
		Issuer:        "https://github.com/login/oauth", // the iss of its authorization responses (RFC 9207)
		Authorization: core.Endpoint{URL: "https://github.com/login/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://github.com/login/oauth/access_token"},
		Userinfo:      core.Endpoint{URL: "https://api.github.com/user"},
		Scope:         "read:user user:email",
		FetchUserinfo: githubUser,
		EmailVerified: func(p core.Profile) bool { return p.Text("email") != "" }, // profiles show only verified addresses
		Profile:       mapping{id: "id", name: "name ?? login", email: "email", image: "avatar_url"}.person(),
		Style:         core.Style{Mark: markGithub()},
	}, options)
	if p.BaseURL != "" {
		api := "{base}/api/v3"
		host := strings.TrimRight(strings.TrimPrefix(p.BaseURL, "https://"), "/")
		if strings.HasSuffix(strings.ToLower(host), ".ghe.com") && !strings.Contains(host, "/") {
			api = "https://api." + host
		}
		p.Issuer = "{base}/login/oauth"
		p.Authorization.URL = "{base}/login/oauth/authorize"
		p.Token.URL = "{base}/login/oauth/access_token"
		p.Userinfo.URL = api + "/user"
	}
	return p
}

// githubUser requests the list of addresses if the profile has none.
func githubUser(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
	profile, err := r.Get(ctx, r.URL, "Accept", "application/vnd.github+json", "User-Agent", "latchkey")
	if err != nil || profile.Text("email") != "" {
		return profile, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(r.URL, "/")+"/emails", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/vnd.github+json")
	request.Header.Set("Authorization", "Bearer "+string(r.Tokens.AccessToken))
	request.Header.Set("User-Agent", "latchkey")
	body, err := r.Tokens.Send(request)
	if err != nil {
		return profile, nil //nolint:nilerr // without the scope user:email there is no list and no address
	}
	var addresses []struct {
		Email    string `json:"email"`
		Primary  bool   `json:"primary"`
		Verified bool   `json:"verified"`
	}
	if err := json.Unmarshal(body, &addresses); err != nil {
		return profile, nil //nolint:nilerr // a response that is not a list contains no address
	}
	for _, a := range addresses {
		if a.Primary && a.Verified {
			profile["email"] = a.Email
		}
	}
	return profile, nil
}
