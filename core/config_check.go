package core

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/configcheck"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/tokensource"
	"github.com/latchkey-go/latchkey/internal/weburl"
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
			faults.add(errDuplicateConditionalUI, "providers %q and %q both have ConditionalUI: a page can offer one, "+
				"switch it off for the other", conditional, p.id)
		}
		conditional = p.id
	}
	has := func(kind ProviderType) bool {
		return slices.ContainsFunc(providers, func(p *provider) bool { return p.kind == kind })
	}
	needs := configcheck.Needs{
		HasTokens: kept.tokens != nil, HasPasskeys: kept.passkeys != nil, HasSessions: kept.sessions != nil,
		HasLister: kept.lister != nil, HasRecords: kept.records != nil, Email: has(TypeEmail), Passkeys: has(TypeWebAuthn),
		Database: c.Session.Strategy == StrategyDatabase, CleanUp: c.CleanUp == True, MaxPerUser: c.Session.MaxPerUser,
	}
	if c.Store != nil {
		needs.Store = c.Store
	}
	needs.Check(faults.report)
	checkRevocation(c, &a.plugins, kept, faults)
	checkProvisional(c, &a.plugins, faults)
	needs.Limits(c.Limits.Shared, c.InsecureNoLimits, c.Limits.Rates, faults.report)
	proxied := slices.ContainsFunc(providers, func(p *provider) bool { return p.oauth != nil && p.oauth.flow.ProxyURL != "" })
	configcheck.RedirectProxy(c.RedirectProxyURL, c.RedirectProxyTargets, proxied,
		a.site.pinned || len(c.TrustedHosts) > 0, faults.report)
}

// checkRevocation decides whether Session.Revocation is on if it is Default, and checks what it needs of the store.
func checkRevocation(c *Config, ps *plugins, kept stores, faults *ConfigError) {
	on := &c.Session.Revocation.On
	switch {
	case *on == False && ps.impersonation != nil && c.Session.Strategy == StrategyJWT:
		faults.add(ErrInvalidConfig, "a plugin allows impersonation, which must be revocable, and Session.Revocation is "+
			"off: remove Session.Revocation.On: core.False, or set Strategy to StrategyDatabase")
	case *on == False:
	case c.Session.Strategy == StrategyDatabase:
		if *on == True {
			faults.add(ErrInvalidConfig, "Session.Revocation is for StrategyJWT, and Session.Strategy is StrategyDatabase, "+
				"whose sessions end with their record: switch Revocation off, or set Strategy to StrategyJWT")
		}
	case *on == True && c.Store == nil:
		faults.add(ErrMissingStore, "Session.Revocation needs a Store that keeps records: set Store")
	case *on == True && kept.records == nil:
		faults.add(ErrMissingStoreMethods, "Session.Revocation needs a Store that is a store.RecordStore too "+
			"(package core/store): %T is not", c.Store)
	case *on == Default && ps.ends != "" && kept.records == nil:
		kind := ErrMissingStoreMethods
		if c.Store == nil {
			if kind = ErrMissingStore; faults.names(kind, ps.ends) {
				return // the plugin does not work without a store
			}
		}
		faults.add(kind, "%s ends sessions, and Session.Strategy keeps them in cookies, which end before they expire only "+
			"if the Store is a store.RecordStore (package core/store): set such a Store, or set Session.Revocation.On to "+
			"core.False if sessions may continue after a password reset", ps.ends)
	case *on == Default && ps.ends != "":
		*on = True
	}
}

// names reports whether the text of a problem of this type starts with text, the name of a plugin.
func (e *ConfigError) names(t ErrorType, text string) bool {
	return slices.ContainsFunc(e.Problems, func(p *Error) bool {
		return p.Type == t && strings.HasPrefix(p.Cause.Error(), text)
	})
}

// checkNeeds checks that the functions which a provider requires are set.
func (p *provider) checkNeeds(c *Config, faults *ConfigError) {
	if p.credentials != nil && p.credentials.Admit == nil {
		faults.add(errMissingAuthorize, "provider %q has no Authorize function: it checks the fields of the form", p.id)
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
	codes = readURL(c, faults)
	readTrustHost(c, faults)
	if v := c.Getenv("AUTH_REDIRECT_PROXY_URL"); c.RedirectProxyURL == "" && v != "" {
		if _, _, err := weburl.ParseOrigin(v); err != nil {
			faults.add(ErrInvalidConfig, "%s: %s: "+configcheck.HowToSetProxy,
				configcheck.Named("RedirectProxyURL", v, "AUTH_REDIRECT_PROXY_URL"), configcheck.Reason(err))
		} else {
			c.RedirectProxyURL = v
		}
	}
	for _, s := range c.Secrets {
		if len(s) < configcheck.MinSecret && c.InsecureShortSecrets {
			return append(codes, warnings.ShortSecret)
		}
	}
	return codes
}

// readURL sets URL, and BasePath from its path.
func readURL(c *Config, faults *ConfigError) (codes []warnings.Code) {
	variable := ""
	for _, name := range []string{"AUTH_URL", "NEXTAUTH_URL"} {
		if v := c.Getenv(name); c.URL == "" && v != "" {
			c.URL, variable = v, name
		}
	}
	if c.URL == "" {
		return nil
	}
	_, spelt, err := weburl.ParseOrigin(c.URL)
	path := strings.TrimRight(spelt, "/")
	switch {
	case err != nil:
		faults.add(ErrInvalidConfig, "%s: %s: write https://app.example, or http://localhost:3000 while you develop, "+
			"followed by the base path if it is not /auth", configcheck.Named("URL", c.URL, variable), configcheck.Reason(err))
	case c.BasePath == "":
		c.BasePath = strings.TrimPrefix(path, strings.TrimRight(c.PublicPath, "/"))
	case path != "":
		codes = append(codes, warnings.URLBasePathRedundant)
		full := strings.TrimRight(c.PublicPath, "/") + c.BasePath
		if spelt != full && c.BasePath != "/" { // compared exactly, as in Auth.js
			codes = append(codes, warnings.URLBasePathMismatch)
		}
	}
	return codes
}

func readTrustHost(c *Config, faults *ConfigError) {
	if c.TrustHost != Default {
		return
	}
	v := c.Getenv("AUTH_TRUST_HOST")
	if v == "" {
		if c.Getenv("VERCEL") != "" || c.Getenv("CF_PAGES") != "" { // these platforms set the headers themselves
			c.TrustHost = True
		}
		return
	}
	on, err := strconv.ParseBool(v)
	if err != nil {
		faults.add(ErrInvalidConfig, "AUTH_TRUST_HOST is not a boolean: write true or false")
	} else if on {
		c.TrustHost = True
	}
}
