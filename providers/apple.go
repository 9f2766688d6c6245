package providers

import (
	"fmt"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// Apple signs in with Apple accounts.
//
// Register a services ID at https://developer.apple.com/account/resources/identifiers/list/serviceId with the callback
// URL {origin}/auth/callback/apple, which must use https and not localhost. Environment: AUTH_APPLE_ID,
// AUTH_APPLE_SECRET.
//
// The secret is a JWT that is signed with your key and expires within six months. [AppleWithKey] creates it. Apple
// sends the user's name only at the first sign-in; at later ones the name is the email address. Apple does not work
// with a redirect proxy.
func Apple(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "apple", Name: "Apple", Type: core.TypeOIDC,
		Issuer:        "https://appleid.apple.com",
		Authorization: core.Endpoint{Params: url.Values{"response_mode": {"form_post"}}},
		Scope:         "name email",
		Checks:        []core.Check{core.CheckNonce, core.CheckState},
		ClientAuth:    core.ClientSecretPost,
		Profile:       mapping{id: "sub", name: "user.name.firstName + user.name.lastName || email", email: "email"}.person(),
		EmailVerified: func(p core.Profile) bool { return p.Bool("email_verified") || p.Text("email_verified") == "true" },
		Style:         core.Style{Mark: markApple()},
	}, options)
}

// AppleKey contains the key that signs client secrets.
type AppleKey struct {
	// TeamID and KeyID are shown next to the key at https://developer.apple.com/account/resources/authkeys/list.
	TeamID, KeyID string
	// Key is the content of Apple's .p8 file: a P-256 private key in PEM.
	Key core.Secret
}

// AppleWithKey is like [Apple], with a new client secret for each token request. Environment: AUTH_APPLE_ID. [core.New]
// reports errors in the key.
func AppleWithKey(key AppleKey, options ...Options) *core.OAuthProvider {
	p := Apple(options...)
	secretOf, err := core.SignedSecret{
		Key: key.Key, KeyID: key.KeyID, Alg: "ES256", Issuer: key.TeamID, Audience: "https://appleid.apple.com",
	}.Maker()
	if err != nil && p.Fault == nil {
		p.Fault = fmt.Errorf("AppleKey needs TeamID, KeyID and the text of the .p8 file as Key: %w", err)
	}
	p.MakeClientSecret = secretOf
	return p
}
