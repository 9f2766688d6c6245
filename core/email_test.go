package core_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

// TestMailerOfAProvider creates Mailers of providers that are complete, configure themselves, or lack an option.
func TestMailerOfAProvider(t *testing.T) {
	t.Parallel()
	send := func(context.Context, core.Email) error { return nil }
	for _, row := range []struct {
		name  string
		p     core.EmailProvider
		fault string
	}{
		{"complete", core.EmailProvider{Send: send}, ""},
		{"completes itself", core.EmailProvider{Configure: func(p *core.EmailProvider, env func(string) string) error {
			if p.ID != "email" || env("KEY") != "k" {
				return errors.New("neither id nor environment")
			}
			p.Send = send
			return nil
		}}, ""},

		{"sends nothing", core.EmailProvider{ID: "own"}, `mailer "own" has no Send`},
		{"not to be completed", core.EmailProvider{Configure: func(*core.EmailProvider, func(string) string) error {
			return errors.New("no Key")
		}}, `mailer "email": no Key`},
	} {
		t.Run(row.name, func(t *testing.T) {
			mailer := row.p.Mailer()
			if err := mailer.Send(t.Context(), core.Email{}); err == nil || !strings.Contains(err.Error(), "Configure") {
				t.Errorf("sent before it was configured: %v", err)
			}
			err := mailer.Configure(func(string) string { return "k" })
			if row.fault != "" {
				if err == nil || !strings.Contains(err.Error(), row.fault) {
					t.Errorf("error %v, want %s", err, row.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := mailer.Send(t.Context(), core.Email{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMailerIsConfiguredOnce checks that plugins may share a Mailer, also while emails are being sent.
func TestMailerIsConfiguredOnce(t *testing.T) {
	t.Parallel()
	configured := 0
	p := &core.EmailProvider{Configure: func(p *core.EmailProvider, _ func(string) string) error {
		configured++
		p.Send = func(context.Context, core.Email) error { return nil }
		return nil
	}}
	mailer := p.Mailer()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := mailer.Configure(func(string) string { return "" }); err != nil {
				t.Error(err)
			}
			if err := mailer.Send(context.Background(), core.Email{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if configured != 1 {
		t.Errorf("configured %d times", configured)
	}
	if p.Send != nil {
		t.Error("the provider itself was written to")
	}
}

// TestEmailOfALink checks the facts in the email with a sign-in link.
func TestEmailOfALink(t *testing.T) {
	t.Parallel()
	var got []core.Email
	a := newApp(t, core.Config{
		Store: &tokenStore{}, Session: core.SessionConfig{Strategy: core.StrategyJWT},
		Providers: []core.Provider{&core.EmailProvider{Send: func(_ context.Context, l core.Email) error {
			got = append(got, l)
			return nil
		}}},
	})
	r := visit(t, a).submit("/auth/signin/email", url.Values{"email": {"Ada@bücher.example"}})
	if len(got) != 1 || !strings.Contains(r.Redirect, "verify-request") {
		t.Fatalf("%d emails, sent to %s", len(got), r.Redirect)
	}
	l := got[0]
	if l.To != "ada@bücher.example" || l.Recipient() != "ada@xn--bcher-kva.example" || l.Kind != mailkind.SignIn ||
		l.Host != "app.test" || !strings.Contains(string(l.URL), "/auth/callback/email?") || l.Expires.IsZero() {
		t.Errorf("kind %s for host %s", l.Kind, l.Host)
	}
}
