package tokens

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Options configures [New]. Only Apps is required.
type Options struct {
	// Apps are the programs that can sign users in.
	Apps []App
	// AccessTTL is the lifetime of an access token. The default is 15 minutes.
	AccessTTL time.Duration
	// IdleTimeout ends the sign-in of an app that has not refreshed its tokens for this long. The default is 30 days.
	IdleTimeout time.Duration
	// MaxAge is the longest lifetime of a sign-in, however often the app refreshes its tokens. The default is 365 days.
	MaxAge time.Duration
	// MaxGrants is the maximum number of sign-ins of a user, over all apps. A further one ends the least recently used
	// one. The default is 50.
	MaxGrants int
	// Fresh is the maximum time since the last sign-in of a user who lets an app sign in. The default is 15 minutes.
	Fresh time.Duration
	// AccessTokens issues the signed access tokens for App.Resources: the *accesstoken.Tokens in Config.Plugins of the
	// same Auth. It is required if an app has resources.
	AccessTokens AccessTokenIssuer
}

// Tokens is the plugin. Create it with [New], and add it to Config.Plugins of one Auth. It is safe for concurrent use.
type Tokens struct {
	options Options
	host    *core.PluginHost
	records store.RecordStore
}

// New returns the plugin. [core.New] reports configuration errors in the options.
func New(o Options) *Tokens {
	o.AccessTTL = cmp.Or(o.AccessTTL, 15*time.Minute)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 30*24*time.Hour)
	o.MaxAge = cmp.Or(o.MaxAge, 365*24*time.Hour)
	o.MaxGrants = cmp.Or(o.MaxGrants, 50)
	o.Fresh = cmp.Or(o.Fresh, 15*time.Minute)
	o.Apps = slices.Clone(o.Apps)
	for i := range o.Apps {
		o.Apps[i] = o.Apps[i].clone()
	}
	return &Tokens{options: o}
}

// Attach implements [core.Plugin].
func (t *Tokens) Attach(h *core.PluginHost) error {
	if t.host != nil {
		return errors.New("already attached to an Auth: call tokens.New for each Auth")
	}
	t.host, t.records = h, h.Records()
	t.check(h)
	h.TrackAuthentication() // for Options.Fresh
	h.OnEndSessions(t.endAll)
	h.AddUserData(core.UserData{
		Name: "apps", Heading: textApps,
		Read: func(ctx context.Context, userID string) (any, error) { return t.Of(ctx, userID) },
	})
	h.AddCredential(core.Credential{
		Matches: func(text string) bool { return strings.HasPrefix(text, accessPrefix) },
		Verify:  t.verify,
	})
	for _, provider := range t.idTokenProviders() {
		h.AcceptIDTokens(provider)
	}
	h.AddWellKnown("oauth-authorization-server", t.metadata)
	for _, a := range t.actions() {
		h.AddAction(a)
	}
	return nil
}

// longIdle is the longest IdleTimeout that Advise accepts.
const longIdle = 90 * 24 * time.Hour

// Advise calls report for each weakness of the configuration, with its fix. Package doctor calls it after New.
func (t *Tokens) Advise(report func(what, fix string)) {
	h := t.host
	account := slices.ContainsFunc(h.Auth.Routes(), func(r core.Route) bool {
		return r.Path == h.Auth.BasePath()+"/account"
	})
	if !account {
		report("apps can sign users in, and there is no account page on which users find them",
			"add account.New(account.Options{}) to Plugins, or link to "+h.Auth.BasePath()+"/apps")
	}
	if t.options.IdleTimeout > longIdle {
		report("apps that nobody uses stay signed in for more than 90 days",
			"set tokens.Options.IdleTimeout to 30 days, or leave it at zero")
	}
}

// check reports configuration errors.
func (t *Tokens) check(h *core.PluginHost) {
	o := &t.options
	if len(o.Apps) == 0 {
		h.AddConfigError("Options.Apps is empty: list the programs that can sign users in")
	}
	for i := range o.Apps {
		for _, problem := range o.Apps[i].check() {
			h.AddConfigError(fmt.Sprintf("Options.Apps[%d]%s", i, problem))
		}
		for j, resource := range o.Apps[i].Resources {
			if o.AccessTokens == nil {
				h.AddConfigError(fmt.Sprintf("Options.Apps[%d].Resources needs Options.AccessTokens: set it to the plugin "+
					"accesstoken", i))
				break
			}
			if _, ok := o.AccessTokens.AudienceScopes(resource); !ok {
				h.AddConfigError(fmt.Sprintf("Options.Apps[%d].Resources[%d] is %q: add it to Options.Audiences of the plugin "+
					"accesstoken", i, j, resource))
			}
		}
		same := func(before App) bool { return before.ID == o.Apps[i].ID }
		if slices.ContainsFunc(o.Apps[:i], same) {
			h.AddConfigError(fmt.Sprintf("Options.Apps[%d].ID is %q, as in another entry: choose another one", i, o.Apps[i].ID))
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"AccessTTL", o.AccessTTL}, {"IdleTimeout", o.IdleTimeout}, {"MaxAge", o.MaxAge}, {"Fresh", o.Fresh},
	} {
		if d.value < time.Second {
			h.AddConfigError(fmt.Sprintf("Options.%s is %v: it must be at least a second", d.name, d.value))
		}
	}
	if o.MaxGrants < 0 {
		h.AddConfigError(fmt.Sprintf("Options.MaxGrants is %d: it must not be negative", o.MaxGrants))
	}
}

// verify returns the principal of an access token, or nil if it is not valid.
func (t *Tokens) verify(ctx context.Context, text string, _ netip.Prefix) (*core.Principal, error) {
	var token accessToken
	if t.host.Decrypt(purposeAccess, strings.TrimPrefix(text, accessPrefix), &token) != nil {
		return nil, nil
	}
	found, err := t.find(ctx, token.Grant)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	app := t.app(found.App)
	if app == nil || !found.accepts(token.Hash) {
		return nil, nil
	}
	return &core.Principal{
		UserID: found.UserID, Credential: credentialPrefix + found.ID, Name: app.Name, Scopes: t.allowed(app, found.Scopes),
	}, nil
}

// credentialPrefix is the beginning of the Principal.Credential of an access token, and of the claim sid of a signed
// one. The ID of the grant follows.
const credentialPrefix = "app:"

// CredentialActive reports whether a sign-in of an app still exists. credential is the Principal.Credential of one of
// its access tokens, or the claim sid of a signed one; for any other text known is false. The introspection of
// plugins/accesstoken calls it.
func (t *Tokens) CredentialActive(ctx context.Context, credential string) (known, active bool, err error) {
	id, known := strings.CutPrefix(credential, credentialPrefix)
	if !known {
		return false, false, nil
	}
	g, err := t.find(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		return true, false, nil
	}
	return true, err == nil && t.app(g.App) != nil && g.record.Expires.After(t.host.Now()), err
}
