package core

import (
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/upstream"
	"github.com/latchkey-go/latchkey/ui"
)

// provider is a configured provider with everything decided. Exactly one of the four is set.
type provider struct {
	id, name string
	kind     ProviderType

	oauth       *oauthClient
	email       *EmailProvider
	credentials *CredentialsProvider
	webauthn    *webAuthn
}

// addProviders copies, completes and checks the providers.
func (a *Auth) addProviders(c *Config, faults *ConfigError) {
	a.byID = make(map[string]*provider, len(c.Providers))
	shared := newOutward(c, upstream.New(upstream.Options{HTTP: c.HTTPClient}))
	for i, declared := range c.Providers {
		p := &provider{}
		switch d := declared.(type) {
		case *OAuthProvider:
			p.oauth = newOAuthClient(c, d, shared, faults)
		case *EmailProvider:
			p.email = newEmail(c, d, faults)
		case *CredentialsProvider:
			own := *d
			p.credentials = &own
		case *WebAuthnProvider:
			p.webauthn = newWebAuthn(c, d, faults)
		default:
			faults.add(InvalidConfig, "Providers[%d] is %T: use the constructors of the providers module, or a core provider",
				i, declared)
			continue
		}
		p.id, p.name, p.kind = declared.Describe()
		p.name = or(p.name, p.id)
		switch {
		case !providerID.MatchString(p.id):
			faults.add(InvalidConfig, "Providers[%d] has the ID %q: letters, digits, '-', '_' and '.', 64 at most", i, p.id)
		case a.byID[p.id] != nil:
			faults.add(InvalidConfig, "two providers have the ID %q: give one of them another", p.id)
		}
		a.byID[p.id] = p
		a.providers = append(a.providers, p)
		view := p.view(declared)
		for _, problem := range view.Validate() {
			faults.add(InvalidConfig, "%s", problem)
		}
		a.uiProviders = append(a.uiProviders, view)
	}
}

// envName is the middle of a provider's environment variables.
func envName(id string) string { return strings.ToUpper(strings.ReplaceAll(id, "-", "_")) }

// EnvName is the name of a provider's environment variable: EnvName("my-op", "KEY") is AUTH_MY_OP_KEY.
func EnvName(id, what string) string { return "AUTH_" + envName(id) + "_" + what }

func newEmail(c *Config, declared *EmailProvider, faults *ConfigError) *EmailProvider {
	e := *declared
	e.ID, e.Name, _ = declared.Describe()
	if e.Configure != nil {
		if err := e.Configure(&e, c.Getenv); err != nil {
			faults.add(InvalidConfig, "provider %q: %w", e.ID, err)
			return &e
		}
	}
	if e.MaxAge == 0 {
		e.MaxAge = 24 * time.Hour
	}
	if e.MaxAge < 0 {
		faults.add(InvalidConfig, "provider %q: MaxAge is %v: more than zero", e.ID, e.MaxAge)
	}
	if e.Send == nil {
		faults.add(InvalidConfig, "provider %q has no Send function: it delivers the mail", e.ID)
	}
	return &e
}

// view is what pages know of a provider.
func (p *provider) view(declared Provider) ui.Provider {
	v := ui.Provider{ID: p.id, Name: p.name, Type: string(p.kind)}
	var style Style
	switch d := declared.(type) {
	case *OAuthProvider:
		style = d.Style
	case *EmailProvider:
		style = d.Style
	case *CredentialsProvider:
		style, v.Fields = d.Style, fieldViews(d.Fields)
	case *WebAuthnProvider:
		style = d.Style
		p.webauthn.view(&v)
	}
	v.Style = ui.Style{Background: style.Background, Text: style.Text, Logo: style.Logo}
	return v
}

func fieldViews(fields []Field) []ui.Field {
	views := make([]ui.Field, len(fields))
	for i, f := range fields {
		views[i] = ui.Field{
			Name: f.Name, Label: f.Label, Type: or(f.Type, "text"), Placeholder: f.Placeholder, Value: f.Value,
			Autocomplete: f.Autocomplete, Required: f.Required,
		}
		for _, pair := range f.Attributes {
			views[i].Attributes = append(views[i].Attributes, ui.Attribute{Name: pair[0], Value: pair[1]})
		}
	}
	return views
}
