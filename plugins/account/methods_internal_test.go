package account

import (
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// TestLastMethod: what counts as a sign-in method, and which ones can be removed.
func TestLastMethod(t *testing.T) {
	github := core.ProviderInfo{ID: "github", Name: "GitHub", Type: core.TypeOAuth}
	google := core.ProviderInfo{ID: "google", Name: "Google", Type: core.TypeOIDC}
	mail := core.ProviderInfo{ID: "email", Name: "Email", Type: core.TypeEmail}
	keys := core.ProviderInfo{ID: "passkey", Name: "Passkey", Type: core.TypeWebAuthn}
	password := core.ProviderInfo{ID: "password", Name: "Password", Type: core.TypeCredentials}
	other := core.ProviderInfo{ID: "credentials", Name: "Credentials", Type: core.TypeCredentials}

	hub := &core.Account{Provider: "github", ProviderAccountID: "1", Type: core.TypeOAuth}
	hub2 := &core.Account{Provider: "github", ProviderAccountID: "2", Type: core.TypeOAuth}
	oidc := &core.Account{Provider: "google", ProviderAccountID: "1", Type: core.TypeOIDC}
	key := &core.Account{Provider: "passkey", ProviderAccountID: "YQ==", Type: core.TypeWebAuthn}
	typed := &core.Account{Provider: "passkey", ProviderAccountID: "ada@example.com", Type: core.TypeWebAuthn}
	credential := &store.Authenticator{CredentialID: "YQ==", ProviderAccountID: "YQ=="}

	proved := core.User{Email: "ada@example.com", EmailVerified: time.Unix(1, 0)}
	claimed := core.User{Email: "ada@example.com"}
	type providers = []core.ProviderInfo
	for _, row := range []struct {
		name      string
		providers providers
		has       credentials
		methods   string
		gone      *core.Account
		last      bool
	}{
		{"nothing", providers{github}, credentials{}, "", hub, false},
		{"one account", providers{github}, credentials{accounts: []*core.Account{hub}}, "github", hub, true},
		{"two accounts of one provider", providers{github},
			credentials{accounts: []*core.Account{hub, hub2}}, "github github", hub, false},
		{"two providers", providers{github, google},
			credentials{accounts: []*core.Account{hub, oidc}}, "github google", oidc, false},
		{"the other provider is not configured", providers{github},
			credentials{accounts: []*core.Account{hub, oidc}}, "github", hub, true},
		{"an account of a provider that is not configured may go", providers{github},
			credentials{accounts: []*core.Account{hub, oidc}}, "github", oidc, false},

		{"a verified address with email links", providers{github, mail},
			credentials{user: &proved, accounts: []*core.Account{hub}}, "github email", hub, false},
		{"an address that is only claimed", providers{github, mail},
			credentials{user: &claimed, accounts: []*core.Account{hub}}, "github", hub, true},
		{"a verified address without email links", providers{github},
			credentials{user: &proved, accounts: []*core.Account{hub}}, "github", hub, true},
		{"nobody's address", providers{github, mail},
			credentials{user: &core.User{EmailVerified: time.Unix(1, 0)}, accounts: []*core.Account{hub}}, "github", hub, true},

		{"a password", providers{password, github},
			credentials{hasPassword: true, accounts: []*core.Account{hub}}, "password github", hub, false},
		{"a password that nothing asks for", providers{github},
			credentials{hasPassword: true, accounts: []*core.Account{hub}}, "github", hub, true},
		{"credentials of the application's own are not known", providers{other, github},
			credentials{hasPassword: true, accounts: []*core.Account{hub}}, "github", hub, true},

		{"a passkey", providers{keys, github},
			credentials{accounts: []*core.Account{hub, key}, passkeys: []*store.Authenticator{credential}},
			"passkey github", hub, false},
		{"the passkey goes", providers{keys, github},
			credentials{accounts: []*core.Account{hub, key}, passkeys: []*store.Authenticator{credential}},
			"passkey github", key, false},
		{"the last passkey", providers{keys},
			credentials{accounts: []*core.Account{key, typed}, passkeys: []*store.Authenticator{credential}},
			"passkey", key, true},
		{"a passkey without its account", providers{keys, github},
			credentials{accounts: []*core.Account{hub}, passkeys: []*store.Authenticator{credential}}, "github", hub, true},
		{"an account without its passkey", providers{keys, github},
			credentials{accounts: []*core.Account{hub, key}}, "github", hub, true},
		{"passkeys are switched off", providers{github},
			credentials{accounts: []*core.Account{hub, key}, passkeys: []*store.Authenticator{credential}},
			"github", hub, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.has.user == nil {
				row.has.user = &core.User{}
			}
			methods := signInMethods(row.providers, row.has)
			var names []string
			for _, w := range methods {
				names = append(names, w.provider.ID)
			}
			if got := strings.Join(names, " "); got != row.methods {
				t.Errorf("methods %q, want %q", got, row.methods)
			}
			if got := isLast(methods, row.gone); got != row.last {
				t.Errorf("last is %v, want %v", got, row.last)
			}
		})
	}
}
