// Command table prints the table of providers for docs/providers.md.
package main

import (
	"fmt"
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

%d services through OAuth 2, %d through OpenID Connect, %d ways to send mail, credentials and passkeys.

## OAuth 2 and OpenID Connect

Each is a function of the module providers: `+"`providers.GitHub()`"+`. With the environment variables set `+
		`that is all; register the
application with the callback URL `+"`{origin}/auth/callback/<id>`"+`. The comment of the function says `+
		`where, and what is peculiar.
Any other OpenID provider is `+"`providers.OIDC(id, issuer)`"+`, any OAuth 2 service a `+"`core.OAuthProvider`"+`.

| ID | Name | Type | Checks | Client authentication | Variables |
|---|---|---|---|---|---|
`, kinds[core.TypeOAuth], kinds[core.TypeOIDC], len(mails))
	for _, e := range all {
		row(e.New())
	}
	mailRows()
	ownRows()
}

// row prints the row of a provider.
func row(p *core.OAuthProvider) {
	checks := "pkce, state"
	if p.Checks != nil {
		var names []string
		for _, c := range p.Checks {
			names = append(names, string(c))
		}
		checks = strings.Join(names, ", ")
	}
	auth := p.ClientAuth
	if auth == "" {
		auth = core.ClientSecretBasic
	}
	fmt.Printf("| %s | %s | %s | %s | %s | %s |\n",
		p.ID, p.Name, p.Type, checks, auth, strings.Join(providers.Variables(p), ", "))
}

// mailRows prints the rows of email providers.
func mailRows() {
	fmt.Print(`
## E-mail

They need a store. A link is good once, for 24 hours.

| ID | Name | Function | Variables |
|---|---|---|---|
`)
	for _, m := range mails {
		id, name, _ := m.provider.Describe()
		key := core.EnvName(id, "KEY")
		if strings.HasPrefix(m.function, "smtp.") {
			key = "EMAIL_SERVER"
		}
		fmt.Printf("| %s | %s | `%s` | %s, EMAIL_FROM |\n", id, name, m.function, key)
	}
}

// ownRows prints the rows of providers without an external service.
func ownRows() {
	fmt.Print(`
## On your own

| ID | Name | Function | Type |
|---|---|---|---|
`)
	for _, own := range []struct {
		provider core.Provider
		function string
	}{
		{providers.Credentials(nil), "providers.Credentials"},
		{webauthn.Passkey(), "webauthn.Passkey"}, {webauthn.WebAuthn(), "webauthn.WebAuthn"},
	} {
		id, name, kind := own.provider.Describe()
		fmt.Printf("| %s | %s | `%s` | %s |\n", id, name, own.function, kind)
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
