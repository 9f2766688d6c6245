package core

import (
	"cmp"
	"context"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/observed"
	"github.com/latchkey-go/latchkey/core/internal/verdict"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/internal/ascii"
	"github.com/latchkey-go/latchkey/internal/oidc"
	"github.com/latchkey-go/latchkey/internal/upstream"
	"github.com/latchkey-go/latchkey/ui"
)

// newProviders copies, completes and validates the providers. Their flows are set later.
func newProviders(c *Config, faults *ConfigError) (all []*provider) {
	client := upstream.New(upstream.Options{HTTP: c.HTTPClient, OnDate: clockCheck(c)})
	shared := oidc.New(oidc.Options{Client: client, Now: c.Now, Logger: c.Logger})
	ids := map[string]bool{}
	for i, declared := range c.Providers {
		if declared == nil || reflect.ValueOf(declared.declaration()).IsNil() {
			faults.add(ErrInvalidConfig, "Providers[%d] is nil: leave it out, or use the constructors of the "+
				"providers module", i)
			continue
		}
		p := newProvider(c, declared.declaration(), shared, faults)
		switch {
		case !isProviderID(p.id):
			faults.add(ErrInvalidConfig, "Providers[%d] has the ID %q: letters, digits, '-', '_' and '.', 64 at most", i, p.id)
		case ids[p.id]:
			faults.add(ErrInvalidConfig, "two providers have the ID %q: give one of them another", p.id)
		}
		ids[p.id] = true
		for _, problem := range p.view.Validate() {
			faults.add(ErrInvalidConfig, "%s", problem)
		}
		all = append(all, p)
	}
	return all
}

// newProvider completes one provider.
func newProvider(c *Config, declared Provider, shared *oidc.Discovery, faults *ConfigError) *provider {
	p := &provider{}
	p.id, p.name, p.kind = declared.Describe()
	p.name = cmp.Or(p.name, p.id)
	p.view = ui.Provider{ID: p.id, Name: p.name, Type: string(p.kind)}
	switch d := declared.(type) {
	case *OAuthProvider:
		p.oauth, p.view.Style = newOAuthClient(c, d, shared, faults), d.Style
	case *EmailProvider:
		p.email, p.view.Style = newEmail(c, d, faults), d.Style
	case *CredentialsProvider:
		p.credentials, p.view.Style, p.view.Links = d.completed(), d.Style, d.Links
		p.view.Fields = p.credentials.Fields
	case *WebAuthnProvider:
		p.webauthn, p.view.Style = newWebAuthn(c, d, faults), d.Style
		p.view.Fields = p.webauthn.Fields
		p.view.ConditionalUI = p.webauthn.ConditionalUI != False && p.webauthn.fillsPasskeys()
		p.view.SignUp = d.SignUp
	}
	return p
}

// completed returns a copy with Identifier and Admit.
func (p *CredentialsProvider) completed() *CredentialsProvider {
	own := *p
	own.Fields = ownFields(p.Fields)
	for _, f := range own.Fields {
		if own.Identifier == "" && slices.Contains([]string{"text", "email", "tel"}, f.Type) {
			own.Identifier = f.Name
		}
	}
	if given := own; given.Admit != nil || given.Authorize != nil {
		own.Admit = given.admit
	}
	return &own
}

func newEmail(c *Config, declared *EmailProvider, faults *ConfigError) *EmailProvider {
	e := *declared
	e.ID, e.Name, _ = declared.Describe()
	if e.Configure != nil {
		if err := e.Configure(&e, c.Getenv); err != nil {
			faults.add(ErrInvalidConfig, "provider %q: %w", e.ID, err)
			return &e
		}
	}
	if e.MaxAge == 0 {
		e.MaxAge = 24 * time.Hour
	}
	if e.MaxAge < 0 {
		faults.add(ErrInvalidConfig, "provider %q: MaxAge is %v: it must be positive", e.ID, e.MaxAge)
	}
	if e.Send == nil {
		faults.add(ErrInvalidConfig, "provider %q has no Send function: set one that sends the email", e.ID)
	}
	return &e
}

// provider is a configured provider with all defaults. Exactly one of its last four fields is set.
type provider struct {
	id, name string
	kind     ProviderType
	flow     flow
	view     ui.Provider // the data for pages

	oauth       *oauthClient
	email       *EmailProvider
	credentials *CredentialsProvider
	webauthn    *webAuthn
}

// isProviderID reports whether id is valid as a provider ID.
func isProviderID(id string) bool {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	return id != "" && len(id) <= 64 && ascii.IsAlnum(id[0]) && strings.Trim(id, alphabet) == ""
}

// clockCheck returns a function that logs the first large difference between the clock and the Date of a response. It
// is safe for concurrent use.
func clockCheck(c *Config) func(host string, date time.Time) {
	log := &reporter{logger: c.Logger}
	return upstream.ClockCheck(c.Now, func(host string, behind time.Duration) {
		log.warn(context.Background(), warnings.ClockSkew, slog.String("provider_host", host),
			slog.Duration("clock_behind", behind),
			slog.String("hint", "the clock of this machine, or Config.Now, differs from the provider's: sign-ins may fail "+
				"as expired or not yet valid. Synchronize it with NTP"))
	})
}

// watchedBy makes w observe the requests of the client and of FetchUserinfo.
func (o *oauthClient) watchedBy(w observed.Calls) {
	asked := func(operation string) observe.Call {
		return observe.Call{Target: observe.Provider, Name: operation, Provider: o.ID}
	}
	observer := func(ctx context.Context, operation string) (context.Context, func(error)) {
		ctx, end := w.Begin(ctx, asked(operation))
		return ctx, func(err error) { end(verdict.OfCall(ctx, err)) }
	}
	o.client.Observer, o.client1.Observer = observer, observer
	if fetch := o.FetchUserinfo; fetch != nil {
		o.FetchUserinfo = func(ctx context.Context, r *UserinfoRequest) (Profile, error) {
			return observed.Call(ctx, w, asked("userinfo"), func(ctx context.Context) (Profile, error) { return fetch(ctx, r) })
		}
	}
}

// watchProviders makes Config.Observe receive the calls to providers and to the providers' functions.
func watchProviders(all []*provider, w observed.Calls) {
	if !w.On() {
		return
	}
	for _, p := range all {
		switch {
		case p.oauth != nil:
			p.oauth.watchedBy(w)
		case p.credentials != nil && p.credentials.Admit != nil:
			admit, told := p.credentials.Admit, observe.Call{Target: observe.Provider, Name: "authorize", Provider: p.id}
			p.credentials.Admit = func(ctx context.Context, fields map[string]string, r *Request) (
				user *User, still func(ctx context.Context) error, err error,
			) {
				err = w.Do(ctx, told, func(ctx context.Context) (err error) {
					user, still, err = admit(ctx, fields, r)
					return err
				})
				return user, still, err
			}
		case p.email != nil && p.email.Send != nil:
			send, told := p.email.Send, observe.Call{Target: observe.Provider, Name: "mail", Provider: p.id}
			p.email.Send = func(ctx context.Context, m Email) error {
				return w.Do(ctx, told, func(ctx context.Context) error { return send(ctx, m) })
			}
		}
	}
}
