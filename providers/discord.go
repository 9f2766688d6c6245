package providers

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Discord signs in with Discord accounts.
//
// Register the application at https://discord.com/developers/applications with the callback URL
// {origin}/auth/callback/discord. Environment: AUTH_DISCORD_ID, AUTH_DISCORD_SECRET.
//
// The URL of the picture is computed. In the profile that callbacks receive, it is the member image_url.
func Discord(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "discord", Name: "Discord", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://discord.com/api/oauth2/authorize"},
		Token:         core.Endpoint{URL: "https://discord.com/api/oauth2/token"},
		Userinfo:      core.Endpoint{URL: "https://discord.com/api/users/@me"},
		FetchUserinfo: func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
			profile, err := r.Get(ctx, r.URL)
			if err == nil {
				profile["image_url"] = discordPicture(profile)
			}
			return profile, err
		},
		Scope:         "identify email",
		Profile:       discordPerson,
		EmailVerified: func(p core.Profile) bool { return p.Bool("verified") },
		Style:         core.Style{Mark: markDiscord()},
	}, options)
}

func discordPerson(_ context.Context, p core.Profile, _ *core.TokenSet) (*core.Person, error) {
	id := p.Text("id")
	name, there := at(p, []string{"global_name"})
	if !there {
		name = p.Text("username")
	}
	return &core.Person{AccountID: id, Name: name, Email: p.Text("email"), Image: discordPicture(p)}, nil
}

// discordPicture returns the URL of the user's avatar, or of the service's default avatar.
func discordPicture(p core.Profile) string {
	id := p.Text("id")
	if avatar := p.Text("avatar"); avatar != "" {
		format := "png"
		if strings.HasPrefix(avatar, "a_") {
			format = "gif"
		}
		return fmt.Sprintf("https://cdn.discordapp.com/avatars/%s/%s.%s", id, avatar, format)
	}
	if discriminator, err := strconv.ParseUint(p.Text("discriminator"), 10, 64); err == nil && discriminator != 0 {
		return fmt.Sprintf("https://cdn.discordapp.com/embed/avatars/%d.png", discriminator%5)
	}
	number, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("https://cdn.discordapp.com/embed/avatars/%d.png", number>>22%6)
}
