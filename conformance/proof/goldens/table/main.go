// Command table prints the table of providers for docs/providers.md.
package main

import (
	"fmt"
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

Providers use the checks pkce and state, and client_secret_basic. The tables have the exceptions.
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

// printGroup prints the providers of a type: those without exceptions, those that need only an issuer, and a table of
// the others.
func printGroup(all []providers.Entry, kind core.ProviderType) {
	var plain, issuer, rows []string
	for _, e := range all {
		p := e.New()
		if p.Type != kind {
			continue
		}
		switch differs := exceptions(p); differs {
		case "":
			plain = append(plain, p.ID)
		case "issuer":
			issuer = append(issuer, p.ID)
		default:
			rows = append(rows, fmt.Sprintf("| %s | %s |", p.ID, differs))
		}
	}
	fmt.Printf("\nWithout exceptions: %s.\n", strings.Join(plain, ", "))
	fmt.Printf("\nWith *issuer*: %s.\n", strings.Join(issuer, ", "))
	fmt.Printf("\n| ID | Exceptions |\n|---|---|\n%s\n", strings.Join(rows, "\n"))
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

// mailRows prints the rows of email providers.
func mailRows() {
	fmt.Print(`
## Email

They need a store. A link is valid once, for 24 hours.

| ID | Function | Variables |
|---|---|---|
`)
	for _, m := range mails {
		id, _, _ := m.provider.Describe()
		key := core.EnvName(id, "KEY")
		if strings.HasPrefix(m.function, "smtp.") {
			key = "EMAIL_SERVER"
		}
		fmt.Printf("| %s | `%s` | %s, EMAIL_FROM |\n", id, m.function, key)
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
