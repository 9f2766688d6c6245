package providers

import "github.com/latchkey-go/latchkey/core"

// GitLab signs in with GitLab accounts.
//
// Register the application at https://gitlab.com/-/user_settings/applications with the callback URL
// {origin}/auth/callback/gitlab. Environment: AUTH_GITLAB_ID, AUTH_GITLAB_SECRET, AUTH_GITLAB_ISSUER.
//
// BaseURL is the URL of a self-managed installation.
func GitLab(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "gitlab", Name: "GitLab", Type: core.TypeOAuth,
		DefaultIssuer: "https://gitlab.com",
		Authorization: core.Endpoint{URL: "{base}/oauth/authorize"},
		Token:         core.Endpoint{URL: "{base}/oauth/token"},
		Userinfo:      core.Endpoint{URL: "{base}/api/v4/user"},
		Scope:         "read_user",
		Profile:       mapping{id: "sub ?? id", name: "name ?? username", email: "email", image: "avatar_url"}.person(),
		Style:         core.Style{Mark: markGitlab()},
	}, options)
}
