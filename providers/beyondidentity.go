package providers

import (
	"context"

	"github.com/latchkey-go/latchkey/core"
)

// BeyondIdentity signs in with Beyond Identity accounts.
//
// Register the application at the admin console of your tenant with the callback URL
// {origin}/auth/callback/beyondidentity. Environment: AUTH_BEYONDIDENTITY_ID, AUTH_BEYONDIDENTITY_SECRET,
// AUTH_BEYONDIDENTITY_ISSUER.
//
// The user has the additional member preferred_username.
func BeyondIdentity(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "beyondidentity", Name: "Beyond Identity", Type: core.TypeOIDC,
		Profile: beyondIdentityPerson,
	}, options)
}

func beyondIdentityPerson(ctx context.Context, p core.Profile, tokens *core.TokenSet) (*core.Person, error) {
	person, err := mapping{id: "sub", name: "name", email: "email"}.person()(ctx, p, tokens)
	if err != nil {
		return nil, err
	}
	return person, keep(person, p, "preferred_username")
}
