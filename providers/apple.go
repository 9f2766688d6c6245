package providers

import (
	"fmt"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// Apple signs in with Apple accounts.
//
// Register a services ID at https://developer.apple.com/account/resources/identifiers/list/serviceId with the callback
// URL {origin}/auth/callback/apple, which has to be https and not localhost. Environment: AUTH_APPLE_ID,
// AUTH_APPLE_SECRET.
//
// The secret is a JWT signed with a key of yours and good for half a year at most; [AppleWithKey] makes it. The
// visitor's name comes with their first sign-in alone; at later ones the user is named by the e-mail address. A
// redirect proxy is not possible.
func Apple(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "apple", Name: "Apple", Type: core.TypeOIDC,
		Issuer:        "https://appleid.apple.com",
		Authorization: core.Endpoint{Params: url.Values{"response_mode": {"form_post"}}},
		Scope:         "name email",
		Checks:        []core.Check{core.CheckNonce, core.CheckState},
		ClientAuth:    core.ClientSecretPost,
		Profile:       mapping{id: "sub", name: "user.name.firstName + user.name.lastName || email", email: "email"}.person(),
		EmailProved:   func(p core.Profile) bool { return p.Bool("email_verified") || p.Text("email_verified") == "true" },
		Style:         core.Style{Mark: markApple()},
	}, options)
}

// AppleKey signs client secrets.
type AppleKey struct {
	// TeamID and KeyID are shown beside the key at https://developer.apple.com/account/resources/authkeys/list.
	TeamID, KeyID string
	// Key is the text of the .p8 file that Apple hands out: a private key on P-256, in PEM.
	Key core.Secret
}

// AppleWithKey is [Apple] with a client secret that is made for each token request. Environment: AUTH_APPLE_ID. What is
// wrong with the key [core.New] reports.
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
