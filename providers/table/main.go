// Command table prints the providers as a table for the documentation.
package main

import (
	"fmt"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

func main() {
	fmt.Print(`<!-- Made by make providers: do not edit. -->

# Providers

Each is a function of the module providers: ` + "`providers.GitHub()`" + `. With the environment variables set that is all; register the
application with the callback URL ` + "`{origin}/auth/callback/<id>`" + `. The comment of the function says where, and what is peculiar.
Any other OpenID provider is ` + "`providers.OIDC(id, issuer)`" + `, any OAuth 2 service a ` + "`core.OAuthProvider`" + `.

| ID | Name | Type | Checks | Client authentication | Variables |
|---|---|---|---|---|---|
`)
	for _, e := range providers.All() {
		p := e.New()
		checks := "pkce"
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
		fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", p.ID, p.Name, p.Type, checks, auth, strings.Join(providers.Variables(p), ", "))
	}
}
