package core

import (
	"reflect"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/configcheck"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/tokensource"
)

// checkConfig reads the environment and checks the fields that can be checked independently. chosen is the configured
// Strategy.
func checkConfig(c *Config, chosen Strategy, faults *ConfigError) []warnings.Code {
	codes := readEnvironment(c, faults)
	codes = append(codes, checkStrategy(chosen, c, faults)...)
	configcheck.Secrets(c.Secrets, c.InsecureShortSecrets, faults.report)
	checkSession(c, faults)
	for _, problem := range c.Theme.Validate() {
		faults.add(ErrInvalidConfig, "Theme: %s", problem)
	}
	if c.Callbacks.Challenge != nil {
		for _, problem := range c.Callbacks.Challenge.Validate() {
			faults.add(ErrInvalidConfig, "Callbacks.Challenge: %s", problem)
		}
	}
	configcheck.Pages([][2]string{
		{"SignIn", c.Pages.SignIn}, {"SignOut", c.Pages.SignOut}, {"Error", c.Pages.Error},
		{"VerifyRequest", c.Pages.VerifyRequest}, {"NewUser", c.Pages.NewUser},
	}, faults.report)
	return codes
}

// report adds a problem of package configcheck.
func (e *ConfigError) report(kind configcheck.Kind, format string, args ...any) {
	e.add(ErrorType(kind), format, args...)
}

func checkSession(c *Config, faults *ConfigError) {
	s := &c.Session
	(&configcheck.Session{
		MaxAge: s.MaxAge, ShortMaxAge: s.ShortMaxAge, AbsoluteMaxAge: s.AbsoluteMaxAge, UpdateAge: s.UpdateAge,
		RevocationEvery: s.Revocation.Every, JWTMaxAge: c.JWT.MaxAge, RememberMe: s.RememberMe,
		Encodes: c.JWT.Encode != nil, Decodes: c.JWT.Decode != nil,
	}).Check(faults.report)
	switch s.Strategy {
	case StrategyJWT, StrategyDatabase:
	default:
		faults.add(ErrInvalidConfig, "Session.Strategy is %q: use StrategyJWT or StrategyDatabase", s.Strategy)
	}
}

// checkStrategy checks for a JWT callback that is never called. chosen is the configured Strategy. If it is empty and
// StrategyDatabase is the default because of the Store, the callback is a configuration error. If StrategyDatabase was
// configured explicitly, it is only a warning.
func checkStrategy(chosen Strategy, c *Config, faults *ConfigError) []warnings.Code {
	switch {
	case c.Callbacks.JWT == nil || c.Session.Strategy != StrategyDatabase:
	case chosen == "":
		faults.add(ErrInvalidConfig, "Callbacks.JWT would never run: with this Store, Session.Strategy is "+
			"StrategyDatabase, whose sessions have no token. Set Session.Strategy to StrategyJWT, or use Callbacks.Session")
	default:
		return []warnings.Code{warnings.UnusedJWTCallback}
	}
	return nil
}

// checkNeeds checks what the providers, the Strategy and the plugins require of the Store and of other fields.
func checkNeeds(c *Config, a *Auth, faults *ConfigError) {
	providers, kept := a.providers, a.store
	if v := reflect.ValueOf(c.Store); v.Kind() == reflect.Pointer && v.IsNil() {
		faults.add(ErrMissingStore, "Store is a nil %T: open it first, and check the returned error", c.Store)
	}
	conditional := ""
	for _, p := range providers {
		p.checkNeeds(c, faults)
		if p.webauthn == nil || p.webauthn.ConditionalUI == False {
			continue
		}
		if conditional != "" {
			faults.add(autherr.DuplicateConditionalUI, "providers %q and %q both have ConditionalUI: a page can offer one, "+
				"switch it off for the other", conditional, p.id)
		}
		conditional = p.id
	}
	has := func(kind ProviderType) bool {
		return slices.ContainsFunc(providers, func(p *provider) bool { return p.kind == kind })
	}
	needs := configcheck.Needs{
		Store:     c.Store,
		HasTokens: kept.Tokens != nil, HasPasskeys: kept.Passkeys != nil, HasSessions: kept.Sessions != nil,
		HasLister: kept.SessionLister != nil, HasRecords: kept.Records != nil, Email: has(TypeEmail), Passkeys: has(TypeWebAuthn),
		Database: c.Session.Strategy == StrategyDatabase, CleanUp: c.CleanUp == True, MaxPerUser: c.Session.MaxPerUser,
	}
	needs.Check(faults.report)
	checkRevocation(c, &a.plugins, kept, faults)
	needs.Limits(c.Limits.Shared, c.InsecureNoLimits, c.Limits.Rates, faults.report)
	proxied := slices.ContainsFunc(providers, func(p *provider) bool {
		return p.oauth != nil && p.oauth.flow.ProxyURL != ""
	})
	configcheck.RedirectProxy(c.RedirectProxyURL, c.RedirectProxyTargets, proxied,
		a.site.pinned || len(c.TrustedHosts) > 0, faults.report)
}

// checkRevocation decides whether Session.Revocation is on if it is Default, and checks what it needs of the store.
func checkRevocation(c *Config, ps *plugins, kept stores, faults *ConfigError) {
	r := configcheck.Revocation{
		On: c.Session.Revocation.On.choice(), Database: c.Session.Strategy == StrategyDatabase, Records: kept.Records != nil,
		Store: c.Store, Ends: ps.ends, Impersonates: ps.impersonation != nil,
		Named: slices.ContainsFunc(faults.Problems, func(p *Error) bool {
			return p.Type == ErrMissingStore && strings.HasPrefix(p.Cause.Error(), ps.ends)
		}),
	}
	if r.Check(faults.report) {
		c.Session.Revocation.On = True
	}
	guests := ""
	if ps.provisional != nil {
		guests = ps.provisional.plugin
	}
	r.Guests(guests, c.Callbacks.Merge != nil, faults.report)
}

// checkNeeds checks that the functions which a provider requires are set.
func (p *provider) checkNeeds(c *Config, faults *ConfigError) {
	if p.credentials != nil && p.credentials.Admit == nil {
		faults.add(autherr.MissingAuthorize, "provider %q has no Authorize function: it checks the fields of the form", p.id)
	}
	if p.email != nil && p.email.Code && c.Store != nil {
		if _, ok := c.Store.(store.RecordStore); !ok {
			faults.add(ErrMissingStoreMethods, "provider %q has Code, which needs a Store that implements store.RecordStore "+
				"(package core/store): %T does not", p.id, c.Store)
		}
	}
	if p.email != nil && p.email.GenerateToken != nil && c.Callbacks.Limit == nil && c.InsecureNoLimits {
		faults.add(ErrInvalidConfig, "provider %q has a GenerateToken, whose tokens may be short enough to guess, "+
			"and InsecureNoLimits leaves guessing unlimited: set Callbacks.Limit, or leave InsecureNoLimits off", p.id)
	}
}

// linkables describes what sign-ins with the configured providers can mean for account linking.
type linkables struct {
	// prove reports whether a sign-in can be the first to verify an email address. open reports whether a user can sign
	// in with an account or a passkey.
	prove, open bool
}

// readEnvironment sets empty fields from environment variables and returns the warnings to log.
func readEnvironment(c *Config, faults *ConfigError) (codes []warnings.Code) {
	if len(c.Secrets) == 0 {
		c.Secrets = tokensource.Secrets[Secret](c.Getenv)
	}
	e := configcheck.Environment{
		URL: c.URL, BasePath: c.BasePath, PublicPath: c.PublicPath, RedirectProxyURL: c.RedirectProxyURL,
		TrustHost: c.TrustHost.choice(),
	}
	codes = e.Read(c.Getenv, faults.report)
	c.URL, c.BasePath, c.RedirectProxyURL = e.URL, e.BasePath, e.RedirectProxyURL
	if e.TrustHost != nil && *e.TrustHost {
		c.TrustHost = True
	}
	short := func(s Secret) bool { return len(s) < configcheck.MinSecret }
	if c.InsecureShortSecrets && slices.ContainsFunc(c.Secrets, short) {
		codes = append(codes, warnings.ShortSecret)
	}
	return codes
}
