package core

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// checkConfig reads the environment and checks the fields that can be checked independently. chosen is the configured
// Strategy.
func checkConfig(c *Config, chosen Strategy, faults *ConfigError) []warning {
	warnings := readEnvironment(c, faults)
	warnings = append(warnings, checkStrategy(chosen, c, faults)...)
	checkSecrets(c, faults)
	checkSession(c, faults)
	for _, problem := range c.Theme.Validate() {
		faults.add(ErrInvalidConfig, "Theme: %s", problem)
	}
	if c.Callbacks.Challenge != nil {
		for _, problem := range c.Callbacks.Challenge.Validate() {
			faults.add(ErrInvalidConfig, "Callbacks.Challenge: %s", problem)
		}
	}
	for _, page := range []struct{ field, url string }{
		{"SignIn", c.Pages.SignIn}, {"SignOut", c.Pages.SignOut}, {"Error", c.Pages.Error},
		{"VerifyRequest", c.Pages.VerifyRequest}, {"NewUser", c.Pages.NewUser},
	} {
		if page.url == "" {
			continue
		}
		if err := checkPage(page.url); err != nil {
			faults.add(ErrInvalidConfig, "Pages.%s: %v", page.field, err)
		}
	}
	return warnings
}

// checkPage returns an error unless page is a path that begins with a slash, or an http or https URL.
func checkPage(page string) error {
	if _, err := weburl.AddQuery(page); err != nil {
		return errors.New("write a path such as /login, or an http(s) URL")
	}
	return nil
}

func checkSecrets(c *Config, faults *ConfigError) {
	const how = "32 random bytes (openssl rand -base64 33)"
	if len(c.Secrets) == 0 {
		faults.add(ErrMissingSecret, "Secrets is empty: set it, or AUTH_SECRET in the environment, to "+how)
	}
	seen := map[Secret]bool{}
	for i, s := range c.Secrets {
		switch {
		case s == "":
			faults.add(ErrMissingSecret, "Secrets[%d] is empty: remove it or set it to "+how, i)
		case seen[s]:
			faults.add(ErrInvalidConfig, "Secrets[%d] repeats an earlier one: list each secret once", i)
		case len(s) < minSecret && !c.InsecureShortSecrets:
			faults.add(ErrInvalidConfig, "Secrets[%d] has %d bytes: use %d random bytes or more (openssl rand -base64 33), "+
				"or set InsecureShortSecrets while you migrate", i, len(s), minSecret)
		}
		seen[s] = true
	}
}

func checkSession(c *Config, faults *ConfigError) {
	if c.Session.MaxAge < 0 || c.Session.MaxAge%time.Second != 0 {
		faults.add(ErrInvalidConfig, "Session.MaxAge is %v: set a positive number of whole seconds", c.Session.MaxAge)
	}
	const century = 100 * 365 * 24 * time.Hour
	if c.Session.MaxAge > century || c.JWT.MaxAge > century {
		faults.add(ErrInvalidConfig, "Session.MaxAge or JWT.MaxAge is longer than a hundred years")
	}
	switch short := c.Session.ShortMaxAge; {
	case short != 0 && !c.Session.RememberMe:
		faults.add(ErrInvalidConfig, "Session.ShortMaxAge has no effect: set Session.RememberMe too")
	case short < 0 || short%time.Second != 0 || short > c.Session.MaxAge:
		faults.add(ErrInvalidConfig, "Session.ShortMaxAge is %v: set a positive number of whole seconds, at most "+
			"Session.MaxAge (%v)", short, c.Session.MaxAge)
	}
	if limit := c.Session.AbsoluteMaxAge; limit < 0 || limit%time.Second != 0 {
		faults.add(ErrInvalidConfig, "Session.AbsoluteMaxAge is %v: set a positive number of whole seconds, or zero for "+
			"no maximum", limit)
	}
	if c.Session.UpdateAge < 0 {
		faults.add(ErrInvalidConfig, "Session.UpdateAge is %v: set a positive duration, or core.UpdateAlways",
			c.Session.UpdateAge)
	}
	if c.JWT.MaxAge < 0 {
		faults.add(ErrInvalidConfig, "JWT.MaxAge is %v: set a positive duration", c.JWT.MaxAge)
	}
	if every := c.Session.Revocation.Every; every < 0 || every > time.Hour {
		faults.add(ErrInvalidConfig, "Session.Revocation.Every is %v: set at most an hour, or zero for the default "+
			"of 5 seconds", every)
	}
	if (c.JWT.Encode == nil) != (c.JWT.Decode == nil) {
		faults.add(ErrInvalidConfig, "set both JWT.Encode and JWT.Decode, or neither")
	}
	switch c.Session.Strategy {
	case StrategyJWT, StrategyDatabase:
	default:
		faults.add(ErrInvalidConfig, "Session.Strategy is %q: use StrategyJWT or StrategyDatabase", c.Session.Strategy)
	}
}

// checkStrategy checks for a JWT callback that is never called. chosen is the configured Strategy. If it is empty and
// StrategyDatabase is the default because of the Store, the callback is a configuration error. If StrategyDatabase was
// configured explicitly, it is only a warning.
func checkStrategy(chosen Strategy, c *Config, faults *ConfigError) []warning {
	switch {
	case c.Callbacks.JWT == nil || c.Session.Strategy != StrategyDatabase:
	case chosen == "":
		faults.add(ErrInvalidConfig, "Callbacks.JWT would never run: with this Store, Session.Strategy is "+
			"StrategyDatabase, whose sessions have no token. Set Session.Strategy to StrategyJWT, or use Callbacks.Session")
	default:
		return []warning{warnUnusedJWTCallback}
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
	switch {
	case !has(TypeEmail):
	case c.Store == nil:
		faults.add(ErrMissingStore, "an email provider needs a Store for its tokens: set Store")
	case kept.tokens == nil:
		faults.add(ErrMissingStoreMethods, "an email provider needs a Store that is a "+
			"store.VerificationTokenStore too (package core/store): %T is not", c.Store)
	}
	switch {
	case !has(TypeWebAuthn):
	case c.Store == nil:
		faults.add(ErrMissingStore, "a passkey provider needs a Store: set Store")
	case kept.passkeys == nil:
		faults.add(ErrMissingStoreMethods, "a passkey provider needs a Store that is a "+
			"store.AuthenticatorStore too (package core/store): %T is not", c.Store)
	}
	checkUpkeep(c, kept, faults)
	checkRevocation(c, &a.plugins, kept, faults)
	checkProvisional(c, &a.plugins, faults)
	checkLimits(c, kept, faults)
	switch {
	case c.Session.Strategy != StrategyDatabase:
	case c.Store == nil:
		faults.add(ErrMissingStore, "Session.Strategy database needs a Store: set Store, or use StrategyJWT")
	case kept.sessions == nil:
		faults.add(ErrMissingStoreMethods, "Session.Strategy database needs a Store that is a "+
			"store.SessionStore too (package core/store): %T is not", c.Store)
	}
	checkRedirectProxy(c, providers, a.site.pinned, faults)
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

// storeWarnings returns a warning for each interface that account linking needs and the Store lacks, and for a plugin
// that promises to end sessions in a configuration that cannot end them. Linking uses a safe alternative.
func storeWarnings(c *Config, can linkables, a *Auth) (warnings []warning) {
	if a.store.Store != nil && can.prove {
		if a.store.accounts == nil && can.open {
			warnings = append(warnings, warnAccountsNotListed)
		}
		if a.store.lister == nil && c.Session.Strategy == StrategyDatabase {
			warnings = append(warnings, warnSessionsNotEnded)
		}
	}
	if a.plugins.ends != "" && c.Session.Strategy == StrategyJWT && c.Session.Revocation.On == False {
		warnings = append(warnings, warnSessionsNotRevoked)
	}
	return warnings
}

// checkRedirectProxy requires URL or TrustedHosts. Otherwise a forged Host header could make the proxy send
// authorization codes to an attacker.
func checkRedirectProxy(c *Config, providers []*provider, pinned bool, faults *ConfigError) {
	proxied := c.RedirectProxyURL != ""
	for _, p := range providers {
		proxied = proxied || p.oauth != nil && p.oauth.proxyURL != ""
	}
	if proxied && !pinned && len(c.TrustedHosts) == 0 {
		faults.add(ErrInvalidConfig, "a redirect proxy needs to know the hosts of this deployment: set URL or "+
			"TrustedHosts, because a forged Host header could otherwise send authorization codes to an attacker")
	}
	if !proxied && len(c.RedirectProxyTargets) > 0 {
		faults.add(ErrInvalidConfig,
			"RedirectProxyTargets needs RedirectProxyURL: set it to the URL of the proxy's own auth "+
				"routes, for example \"https://auth.example/auth\", in the proxy and in the deployments that use it")
	}
	if c.RedirectProxyURL != "" {
		if _, _, err := weburl.ParseOrigin(c.RedirectProxyURL); err != nil {
			faults.add(ErrInvalidConfig, "%s: %s: "+howToSetProxy,
				named("RedirectProxyURL", c.RedirectProxyURL, ""), reason(err))
			return
		}
	}
	for i, target := range c.RedirectProxyTargets {
		if _, _, err := weburl.ParseOrigin(strings.Replace(target, "*.", "", 1)); err != nil {
			faults.add(ErrInvalidConfig, "RedirectProxyTargets[%d]: %v: write an origin, https://app.example", i, err)
		}
	}
}

// checkUpkeep checks what CleanUp and Session.MaxPerUser require of the Store.
func checkUpkeep(c *Config, kept stores, faults *ConfigError) {
	if _, cleans := c.Store.(store.Cleaner); c.CleanUp == True && !cleans {
		faults.add(ErrMissingStoreMethods, "CleanUp is True and needs a Store that is a store.Cleaner too "+
			"(package core/store): %T is not", c.Store)
	}
	switch {
	case c.Session.MaxPerUser == 0:
	case c.Session.MaxPerUser < 0:
		faults.add(ErrInvalidConfig, "Session.MaxPerUser is %d: set a positive number, or zero for no maximum",
			c.Session.MaxPerUser)
	case c.Session.Strategy != StrategyDatabase:
		faults.add(ErrInvalidConfig, "Session.MaxPerUser counts sessions in the Store, and Session.Strategy keeps them in "+
			"cookies: set it to StrategyDatabase, or MaxPerUser to zero")
	case c.Store != nil && kept.lister == nil:
		faults.add(ErrMissingStoreMethods, "Session.MaxPerUser needs a Store that is a store.SessionLister too "+
			"(package core/store): %T is not", c.Store)
	}
}

// linkables describes what sign-ins with the configured providers can mean for account linking.
type linkables struct {
	// prove reports whether a sign-in can be the first to verify an email address. open reports whether a user can sign in
	// with an account or a passkey.
	prove, open bool
}

// checkLimits checks Config.Limits.
func checkLimits(c *Config, kept stores, faults *ConfigError) {
	if c.InsecureNoLimits && (c.Limits.Shared || len(c.Limits.Rates) > 0) {
		faults.add(ErrInvalidConfig, "InsecureNoLimits leaves attempts unlimited, and Limits is set: choose one of them")
	}
	if c.Limits.Shared && kept.records == nil {
		faults.add(ErrMissingStoreMethods, "Limits.Shared needs a Store that is a store.RecordStore too "+
			"(package core/store): %T is not", c.Store)
	}
	for a := range c.Limits.Rates {
		rates := c.Limits.Rates[a].WithDefaults(a)
		for _, rate := range []struct {
			name string
			limit.Rate
		}{
			{"Identifier", rates.Identifier}, {"Visitor", rates.Visitor}, {"Network", rates.Network}, {"Browser", rates.Browser},
		} {
			if (rate.Burst <= 0 || rate.Every <= 0) && rate.Rate != (limit.Rate{}) {
				faults.add(ErrInvalidConfig, "Limits.Rates[%q].%s is %d, every %v: both must be more than zero",
					a, rate.name, rate.Burst, rate.Every)
			}
		}
		one, all := rates.Visitor, rates.Identifier
		if all != (limit.Rate{}) && one != (limit.Rate{}) && (one.Burst >= all.Burst || one.Every < all.Every) {
			faults.add(ErrInvalidConfig, "Limits.Rates[%q]: Visitor (%d, every %v) is not less than Identifier (%d, every %v): "+
				"an attacker in one network could lock out the owner of a name", a, one.Burst, one.Every, all.Burst, all.Every)
		}
	}
}
