package providers_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/providers"
)

// TestOneOptions: New reports two values of options as its only error, because their precedence would be unclear.
func TestOneOptions(t *testing.T) {
	t.Parallel()
	o := providers.Options{ClientID: "id", ClientSecret: "secret", Issuer: "https://op.example"}
	mail := providers.EmailOptions{Key: "key"}
	for name, row := range map[string]struct {
		one, two core.Provider
	}{
		"OAuth":       {providers.GitHub(o), providers.GitHub(o, o)},
		"any issuer":  {providers.OIDC("op", "", o), providers.OIDC("op", "", o, o)},
		"catalogue":   {provider(t, "twitter", o), provider(t, "twitter", o, o)},
		"and tenants": {provider(t, "fusionauth", o), provider(t, "fusionauth", o, o)},
		"Twitter": {
			providers.Twitter(providers.TwitterOptions{Options: o}),
			providers.Twitter(providers.TwitterOptions{Options: o}, providers.TwitterOptions{Version: "1.0a"}),
		},
		"FusionAuth": {
			providers.FusionAuth(providers.FusionAuthOptions{Options: o}),
			providers.FusionAuth(providers.FusionAuthOptions{Options: o}, providers.FusionAuthOptions{TenantID: "t"}),
		},
		"mail": {providers.Resend(mail), providers.Resend(mail, mail)},
		"Mailgun": {
			providers.Mailgun(providers.MailgunOptions{EmailOptions: mail}),
			providers.Mailgun(providers.MailgunOptions{EmailOptions: mail}, providers.MailgunOptions{Region: "EU"}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := problems(row.one); len(err) > 0 {
				t.Errorf("one value: %v", err)
			}
			if err := problems(row.two); len(err) != 1 || !strings.Contains(err[0].Error(), "2 values of") {
				t.Errorf("two values: %v", err)
			}
		})
	}
}

func provider(t *testing.T, id string, options ...providers.Options) core.Provider {
	p, known := providers.ByID(id, options...)
	if !known {
		t.Fatalf("no provider %q", id)
	}
	return p
}

// problems returns the errors that New reports for a provider. Its store stores nothing.
func problems(p core.Provider) []*core.Error {
	_, err := core.New(core.Config{
		Providers: []core.Provider{p}, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Store: tokens{}, URL: "https://app.example", Getenv: func(string) string { return "" },
		HTTPClient: http.DefaultClient,
	})
	var faults *core.ConfigError
	if errors.As(err, &faults) {
		return faults.Problems
	}
	return nil
}

// tokens is an unused store for sign-in links.
type tokens struct {
	core.Store
	store.VerificationTokenStore
}
