// Command table prints the table of providers for docs/providers.md.
package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/smtp"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

func main() {
	all := providers.All()
	kinds := map[core.ProviderType]int{}
	for _, e := range all {
		kinds[e.New().Type]++
	}
	fmt.Printf(`<!-- Made by make generate: do not edit. -->

# Providers

%d services through OAuth 2, %d through OpenID Connect, %d ways to send email, credentials and passkeys.

Each service is a function of the module providers: `+"`providers.GitHub()`"+`. Register the application at the service
with the callback URL `+"`{origin}/auth/callback/<id>`"+`, and set `+"`AUTH_<ID>_ID`"+` and `+"`AUTH_<ID>_SECRET`"+`.
With *issuer*, also set `+"`AUTH_<ID>_ISSUER`"+`, unless the service has only one address. `+"`<ID>`"+` is the ID in
capitals, with `+"`_`"+` instead of `+"`-`"+`. The comment of the function says where to register. Any other OpenID
provider is `+"`providers.OIDC(id, issuer)`"+`, any OAuth 2 service a `+"`core.OAuthProvider`"+`.

Providers use the checks pkce and state, and client_secret_basic. The lists name other checks and methods.
`, kinds[core.TypeOAuth], kinds[core.TypeOIDC], len(mails))
	for _, group := range []struct {
		title string
		kind  core.ProviderType
	}{{"OAuth 2", core.TypeOAuth}, {"OpenID Connect", core.TypeOIDC}} {
		fmt.Printf("\n## %s\n", group.title)
		printGroup(all, group.kind)
	}
	mailRows()
	ownRows()
}

// printGroup prints the providers of a type, by what differs from the defaults.
func printGroup(all []providers.Entry, kind core.ProviderType) {
	by := map[string][]string{}
	for _, e := range all {
		if p := e.New(); p.Type == kind {
			differs := exceptions(p)
			by[differs] = append(by[differs], p.ID)
		}
	}
	fmt.Printf("\nWithout exceptions: %s.\n\n", strings.Join(by[""], ", "))
	for _, differs := range slices.Sorted(maps.Keys(by)) {
		if differs != "" {
			fmt.Printf("- *%s*: %s\n", differs, strings.Join(by[differs], ", "))
		}
	}
}

// exceptions returns what differs from the defaults of a provider, and whether it needs an issuer.
func exceptions(p *core.OAuthProvider) string {
	var differs []string
	var checks []string
	for _, c := range p.Checks {
		checks = append(checks, string(c))
	}
	if slices.Sort(checks); p.Checks != nil && !slices.Equal(checks, []string{"pkce", "state"}) {
		differs = append(differs, strings.Join(checks, ", "))
	}
	switch p.ClientAuth {
	case "", core.ClientSecretBasic:
	case core.ClientAuthNone:
		differs = append(differs, "no client authentication")
	default:
		differs = append(differs, string(p.ClientAuth))
	}
	if slices.Contains(providers.Variables(p), core.EnvName(p.ID, "ISSUER")) {
		differs = append(differs, "issuer")
	}
	return strings.Join(differs, "; ")
}

// mailRows prints the email providers by their variable.
func mailRows() {
	fmt.Print(`
## Email

They need a store. A link is valid once, for 24 hours. They read EMAIL_FROM, and:

`)
	by := map[string][]string{}
	for _, m := range mails {
		id, _, _ := m.provider.Describe()
		variable := "AUTH_<ID>_KEY"
		if strings.HasPrefix(m.function, "smtp.") {
			variable = "EMAIL_SERVER"
		}
		by[variable] = append(by[variable], id+" (`"+m.function+"`)")
	}
	for _, variable := range slices.Sorted(maps.Keys(by)) {
		fmt.Printf("- `%s`: %s\n", variable, strings.Join(by[variable], ", "))
	}
}

// ownRows prints the rows of providers without an external service.
func ownRows() {
	fmt.Print(`
## Others

| ID | Function | Type |
|---|---|---|
`)
	for _, own := range []struct {
		provider core.Provider
		function string
	}{
		{providers.Credentials(nil), "providers.Credentials"},
		{webauthn.Passkey(), "webauthn.Passkey"}, {webauthn.WebAuthn(), "webauthn.WebAuthn"},
	} {
		id, _, kind := own.provider.Describe()
		fmt.Printf("| %s | `%s` | %s |\n", id, own.function, kind)
	}
}

// mails are the email providers and their functions.
var mails = []struct {
	provider *core.EmailProvider
	function string
}{
	{providers.ForwardEmail(), "providers.ForwardEmail"}, {providers.Loops(""), "providers.Loops"},
	{providers.Mailgun(), "providers.Mailgun"}, {providers.Postmark(), "providers.Postmark"},
	{providers.Resend(), "providers.Resend"}, {providers.SendGrid(), "providers.SendGrid"},
	{smtp.New("nodemailer"), "smtp.Nodemailer"}, {smtp.New("email"), "smtp.Email"},
}
