package providers_test

import (
	"fmt"
	"log"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/ui"
)

// Client IDs and secrets are environment variables that contain the provider's ID.
func Example() {
	env := map[string]string{
		"AUTH_SECRET": "a secret of the example, 32 bytes or more", "AUTH_URL": "https://app.example",
		"AUTH_GITHUB_ID": "id", "AUTH_GITHUB_SECRET": "secret",
		"AUTH_ACME_ID": "id", "AUTH_ACME_SECRET": "secret",
	}
	auth, err := core.New(core.Config{
		Getenv: func(name string) string { return env[name] },
		Providers: []core.Provider{
			providers.GitHub(providers.Options{AddScope: "repo"}),
			providers.OIDC("acme", "https://login.acme.example"), // any OpenID Connect issuer
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(auth.BasePath())
	// Output: /auth
}

// One email in one language is replaced. All others have the default content.
func ExampleWriteEmail() {
	write := func(m core.Email) (providers.EmailContent, error) { // EmailOptions.Content, mailbox.NewWith
		if m.Kind == mailkind.Invite && m.Locale.Tag == "de" {
			return providers.EmailContent{Subject: "Willkommen bei Acme", Text: "Los geht es: " + string(m.URL)}, nil
		}
		return providers.WriteEmail(m)
	}
	for _, tag := range []string{"de", "en"} {
		invite, err := write(core.Email{Kind: mailkind.Invite, Host: "acme.example", Locale: ui.Locale{Tag: tag}})
		fmt.Println(invite.Subject, err)
	}
	// Output:
	// Willkommen bei Acme <nil>
	// You've been invited to acme.example <nil>
}
