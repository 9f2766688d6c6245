package providers

import (
	"context"
	"fmt"

	"github.com/latchkey-go/latchkey/core"
)

// Eventbrite signs in with Eventbrite accounts.
//
// Register the application at https://www.eventbrite.com/account-settings/apps/new with the callback URL
// {origin}/auth/callback/eventbrite. Environment: AUTH_EVENTBRITE_ID, AUTH_EVENTBRITE_SECRET.
func Eventbrite(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "eventbrite", Name: "Eventbrite", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://www.eventbrite.com/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://www.eventbrite.com/oauth/token"},
		Userinfo:      core.Endpoint{URL: "https://www.eventbriteapi.com/v3/users/me/"},
		Scope:         "user.profile",
		ClientAuth:    core.ClientSecretPost,
		Profile:       eventbritePerson,
	}, options)
}

// eventbritePerson uses the primary address, or the first of several primary addresses.
func eventbritePerson(_ context.Context, p core.Profile, _ *core.TokenSet) (*core.Person, error) {
	person := &core.Person{AccountID: p.Text("id"), Name: p.Text("name")}
	for _, each := range p.List("emails") {
		address, _ := each.(map[string]any)
		if core.Profile(address).Bool("primary") {
			person.Email = core.Profile(address).Text("email")
			break
		}
	}
	if image := p.Text("image_id"); image != "" {
		person.Image = fmt.Sprintf(
			"https://img.evbuc.com/https%%3A%%2F%%2Fcdn.evbuc.com%%2Fimages%%2F%s%%2F1%%2Foriginal.jpg", image)
	}
	return person, nil
}
