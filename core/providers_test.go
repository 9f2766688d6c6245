package core_test

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// TestProviderIsSealed checks that a type of another package cannot implement Provider without embedding, so that the
// compiler reports it.
func TestProviderIsSealed(t *testing.T) {
	t.Parallel()
	methods := reflect.TypeFor[core.Provider]()
	if !slices.ContainsFunc(slices.Collect(methods.Methods()), func(m reflect.Method) bool { return !m.IsExported() }) {
		t.Error("Provider has exported methods alone: any type can implement it")
	}
}

// TestNilProviders checks that New reports the index of a nil provider and still checks the others.
func TestNilProviders(t *testing.T) {
	t.Parallel()
	for name, entry := range map[string]core.Provider{
		"nothing": nil, "no OAuth provider": (*core.OAuthProvider)(nil), "no e-mail provider": (*core.EmailProvider)(nil),
		"no credentials": (*core.CredentialsProvider)(nil), "no passkeys": (*core.WebAuthnProvider)(nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := core.New(core.Config{
				Providers: []core.Provider{entry, &core.CredentialsProvider{}},
				Secrets:   []core.Secret{testSecret}, Logger: slog.New(slog.DiscardHandler),
				Getenv: func(string) string { return "" },
			})
			var faults *core.ConfigError
			if !errors.As(err, &faults) || len(faults.Problems) != 2 ||
				!strings.Contains(err.Error(), "Providers[0] is nil") || !strings.Contains(err.Error(), "Authorize") {
				t.Errorf("New returned %v", err)
			}
		})
	}
}

// TestEmbeddedProvider checks that a type that embeds a provider signs users in as that provider does.
func TestEmbeddedProvider(t *testing.T) {
	t.Parallel()
	type named struct {
		*core.CredentialsProvider
		note string
	}
	authorize := func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil }
	own := named{&core.CredentialsProvider{Name: "House", Authorize: authorize}, "ours"}
	b := visit(t, newApp(t, core.Config{Providers: []core.Provider{own}}))
	if body := string(b.get("/auth/providers").Body); !strings.Contains(body, `"name":"House"`) {
		t.Errorf("%s: the providers are\n%s", own.note, body)
	}
}

// TestProvidersAreCopied checks that changes to a provider after New have no effect.
func TestProvidersAreCopied(t *testing.T) {
	t.Parallel()
	declared := &core.CredentialsProvider{
		Fields:    []core.Field{{Name: "realm", Attributes: []ui.Attribute{{Name: "title", Value: "before"}}}},
		Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
	}
	b := visit(t, newApp(t, core.Config{Providers: []core.Provider{declared}}))
	declared.Fields[0].Name, declared.Fields[0].Attributes[0].Value = "after", "after"
	body := string(b.get("/auth/signin").Body)
	if !strings.Contains(body, `name="realm"`) || !strings.Contains(body, `title="before"`) ||
		strings.Contains(body, `"after"`) {
		t.Errorf("the page has\n%s", body)
	}
	if declared.Fields[0].Type != "" {
		t.Error("New wrote to the provider it was given")
	}
}
