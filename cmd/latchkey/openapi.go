package main

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/admin"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/forwardauth"
	"github.com/latchkey-go/latchkey/plugins/guest"
	"github.com/latchkey-go/latchkey/plugins/multisession"
	"github.com/latchkey-go/latchkey/plugins/onetap"
	"github.com/latchkey-go/latchkey/plugins/openapi"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/plugins/organization/orgkeys"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
	"github.com/latchkey-go/latchkey/plugins/tokens"
	"github.com/latchkey-go/latchkey/plugins/webhooks"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// describe prints the OpenAPI document of a site with all plugins and a provider of each type.
func describe(out io.Writer) error {
	auth, err := everything()
	if err != nil {
		return err
	}
	document, err := openapi.Document(auth, openapi.Options{Version: built()})
	if err != nil {
		return err
	}
	_, err = out.Write(append(document, '\n'))
	return err
}

// everything returns an Auth with all plugins. It only lists its routes.
func everything() (*core.Auth, error) {
	const url, key = "https://app.example", "a-key-that-encrypts-nothing-and-is-not-secret"
	mail := noMail{}
	signed := accesstoken.New(accesstoken.Options{
		Audiences: []accesstoken.Audience{{ID: url + "/api", Scopes: []string{"orders:read"}}},
	})
	login := password.New(password.Options{
		Mail: mail, Usernames: password.Usernames{On: true, Alone: true}, Breached: password.HIBP, BreachedAtSignIn: true,
	})
	keys := apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "orders:read", Label: "Read orders"}}, Mail: mail})
	secret := providers.Options{ClientID: "id", ClientSecret: "secret"}
	return core.New(core.Config{
		URL: url, Secrets: []core.Secret{key}, Store: memory.New(), Getenv: func(string) string { return "" },
		Logger:         slog.New(slog.DiscardHandler),
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, EnableWebAuthn: true,
		Cookies: core.CookiesConfig{SessionToken: core.CookieOptions{Domain: "app.example"}},
		Providers: []core.Provider{
			providers.GitHub(secret), providers.Google(secret), login,
			providers.Email("auth@app.example", mail.Send),
			webauthn.WithSignUp(nil, webauthn.SignUpOptions{Mail: mail, Code: true}),
		},
		Plugins: []core.Plugin{
			account.New(account.Options{
				Mail: mail, Delete: func(context.Context, *core.User) error { return nil }, DeleteAfter: 30 * 24 * time.Hour,
			}),
			secondfactor.New(secondfactor.Options{}),
			keys,
			signed,
			tokens.New(tokens.Options{AccessTokens: signed, Apps: []tokens.App{{
				ID: "cli", Name: "CLI", Device: true, RedirectURIs: []string{"http://127.0.0.1/"},
				Scopes:    []tokens.Scope{{Name: "orders:read", Label: "Read orders"}},
				Resources: []string{url + "/api"}, IDTokens: map[string][]string{"google": {"app"}},
			}}}),
			forwardauth.New(forwardauth.Options{Sites: []forwardauth.Site{{Origin: "https://wiki.app.example"}}}),
			organization.New(organization.Options{Mail: mail, Keys: orgkeys.Of(keys)}),
			admin.New(admin.Options{
				Guard: signedIn, SendReset: byID, ResetFactors: byID, Invite: byID, VerifyEmail: true,
				Delete: func(context.Context, *core.User) error { return nil },
			}),
			guest.New(guest.Options{}),
			multisession.New(),
			onetap.New(onetap.Options{}),
			webhooks.New(webhooks.Options{Managers: []core.Guard{signedIn}}),
			openapi.New(openapi.Options{}),
		},
	})
}

func signedIn(context.Context, *core.Session) error { return nil }

func byID(context.Context, string) error { return nil }

// noMail accepts all emails.
type noMail struct{}

// Send implements [core.Mailer].
func (noMail) Send(context.Context, core.Email) error { return nil }
