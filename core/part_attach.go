package core

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// parts are what the parts of a configuration have added.
type parts struct {
	actions []*partAction
	gates   []partGate
	facts   bool // Host.Facts was called
	proves  bool // Host.ProvesEmail was called
	knows   bool // Host.KnownBrowsers was called
	// ends is the plugin that called Host.EndsSessions first, as configuration errors name it; empty if none did.
	ends    string
	notices notices
	// reset is that of Host.ResetStarter; nil: no plugin keeps passwords.
	reset func(ctx context.Context, c *Call, userID string) (url string, err error)
	// freshLinks is that of Host.FreshLinks; zero: nobody asked.
	freshLinks time.Duration
	hosts      []*Host
	seals      partSeals
	now        func() time.Time
	entry      *signIns
	limits     *limits
	auth       *Auth
}

// partAction is an action and the part that it is of.
type partAction struct {
	*Action
	part string
}

// attach attaches the parts of a configuration, and puts the providers that they add among its own.
func (ps *parts) attach(a *Auth, c *Config, faults *ConfigError) {
	ps.now = c.Now
	ps.seals.secrets, ps.seals.rand, ps.seals.now = a.site.secrets, c.Rand, c.Now
	var providers []Provider
	for i, declared := range c.Providers {
		part, ok := declared.(Part)
		if !ok || nilPointer(declared) {
			providers = append(providers, declared)
			continue
		}
		before := len(faults.Problems)
		provided := ps.attachOne(a, c, faults, part, fmt.Sprintf("Providers[%d] (%T)", i, part))
		// A provider that could not attach is incomplete. Its further problems have the same cause.
		if len(faults.Problems) == before && !slices.ContainsFunc(provided, sameID(declared)) {
			provided = append([]Provider{declared}, provided...)
		}
		providers = append(providers, provided...)
	}
	for i, part := range c.Parts {
		if part == nil || nilPointer(part) {
			faults.add(ErrInvalidConfig, "Parts[%d] is nil: leave it out", i)
			continue
		}
		if _, ok := part.(Provider); ok {
			faults.add(ErrInvalidConfig, "Parts[%d] is a provider (%T): put it into Providers, where its button stands", i, part)
			continue
		}
		providers = append(providers, ps.attachOne(a, c, faults, part, fmt.Sprintf("Parts[%d] (%T)", i, part))...)
	}
	if len(ps.hosts) == 0 {
		return
	}
	c.Providers = providers
	if len(ps.actions) > 0 {
		a.site.parts = ps.paths()
	}
}

func sameID(declared Provider) func(Provider) bool {
	id, _, _ := declared.Describe()
	return func(p Provider) bool {
		if p == nil || nilPointer(p) {
			return false
		}
		other, _, _ := p.Describe()
		return other == id
	}
}

func nilPointer(v any) bool {
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

func (ps *parts) attachOne(a *Auth, c *Config, faults *ConfigError, part Part, name string) []Provider {
	h := newHost(a, c, faults, name)
	ps.hosts = append(ps.hosts, h)
	if err := guard("Attach of "+name, func() error { return part.Attach(h) }); err != nil {
		h.fault("%w", err)
	}
	h.attached = true
	return h.provided
}

// newHost is the Auth as the part that faults call name sees it.
func newHost(a *Auth, c *Config, faults *ConfigError, name string) *Host {
	h := &Host{
		Auth: a, BasePath: a.site.basePath, Strategy: c.Session.Strategy, Theme: c.Theme,
		Now: c.Now, Rand: c.Rand, Getenv: c.Getenv, Logger: c.Logger, HTTPClient: c.HTTPClient,
		Store: a.store.Store, Accounts: a.store.accounts, Authenticators: a.store.passkeys,
		AuthenticatorDeleter: a.store.unkey, Transactor: a.store.tx, UserDeleter: a.store.deleter,
		SessionLister: a.store.lister,
		faults:        faults, parts: &a.parts, part: name,
	}
	if len(c.Locales) > 0 {
		h.Locale = c.Locales[0]
	}
	return h
}

// isActionName reports whether a text can be the name or verb of an action, or the name of a part's cookie.
func isActionName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return name != "" && len(name) <= 32 && strings.IndexByte(letters, name[0]) >= 0 &&
		strings.Trim(name, letters+"0123456789-") == ""
}

// add adds an action that nothing is wrong with.
func (ps *parts) add(h *Host, a *Action) {
	says := func(format string, args ...any) {
		h.fault("action %q: %w", a.Method+" "+a.path(), fmt.Errorf(format, args...))
	}
	fine := true
	for _, c := range []struct {
		wrong  bool
		reason string
	}{
		{!isActionName(a.Name), "its Name is none: lower-case letters, digits and hyphens, 32 at most"},
		{a.Verb != "" && !isActionName(a.Verb), "its Verb is none: lower-case letters, digits and hyphens, 32 at " +
			"most, or empty"},
		{weburl.Reserved(a.Name), "core has actions of this Name: give it another"},
		{a.Method != http.MethodGet && a.Method != http.MethodPost, "its Method has to be GET or POST"},
		{a.Handle == nil, "it has no Handle"},
		{slices.ContainsFunc(a.Require, func(g Guard) bool { return g == nil }), "one of its Require is nil: leave it out"},
	} {
		if c.wrong {
			fine = false
			says("%s", c.reason)
		}
	}
	for _, other := range ps.actions {
		switch {
		case other.Name == a.Name && other.part != h.part:
			says("%s has actions of this Name: a Name is of one part", other.part)
			return
		case other.path() == a.path() && other.Method == a.Method:
			says("it is added twice")
			return
		}
	}
	if fine {
		own := *a
		own.Require = slices.Clone(a.Require)
		ps.actions = append(ps.actions, &partAction{&own, h.part})
	}
}

// paths are those of all actions.
func (ps *parts) paths() *partPaths {
	all := &partPaths{names: map[string]bool{}, methods: map[string][]string{}}
	for _, a := range ps.actions {
		all.names[a.Name] = true
		all.methods[a.path()] = append(all.methods[a.path()], a.Method)
	}
	return all
}
