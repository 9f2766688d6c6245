package core

import (
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// ConfigError lists everything that is wrong with a configuration. errors.Is finds the type of each problem.
type ConfigError struct {
	// Problems has one entry per fault, each naming the field and the fix.
	Problems []*Error

	basePath string
	pages    PagesConfig
	theme    Theme
	views    ui.Pages
	logger   *slog.Logger
}

// Error lists the problems, one a line.
func (e *ConfigError) Error() string {
	var b strings.Builder
	b.WriteString("core: the configuration has " + strconv.Itoa(len(e.Problems)) + " problem")
	if len(e.Problems) != 1 {
		b.WriteByte('s')
	}
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n\t%s: %v", p.Type, p.Cause)
	}
	return b.String()
}

// Unwrap returns the problems.
func (e *ConfigError) Unwrap() []error {
	all := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		all[i] = p
	}
	return all
}

func (e *ConfigError) add(t ErrorType, format string, args ...any) {
	e.Problems = append(e.Problems, errorf(t, format, args...))
}

// minSecret is the least number of bytes of a secret (SPEC 8).
const minSecret = 32

// checkConfig checks what can be judged field by field.
func checkConfig(c *Config, faults *ConfigError) {
	if len(c.Secrets) == 0 {
		faults.add(MissingSecret, "Secrets is empty: set it, or AUTH_SECRET in the environment, to 32 random bytes (openssl rand -base64 33)")
	}
	seen := map[Secret]bool{}
	for i, s := range c.Secrets {
		switch {
		case s == "":
			faults.add(MissingSecret, "Secrets[%d] is empty: remove it or set it to 32 random bytes (openssl rand -base64 33)", i)
		case seen[s]:
			faults.add(InvalidConfig, "Secrets[%d] repeats an earlier one: list each secret once", i)
		case len(s) < minSecret && !c.InsecureShortSecrets:
			faults.add(InvalidConfig, "Secrets[%d] has %d bytes: use %d random bytes or more (openssl rand -base64 33), or set InsecureShortSecrets while you migrate", i, len(s), minSecret)
		}
		seen[s] = true
	}
	if c.Session.MaxAge < 0 || c.Session.MaxAge%time.Second != 0 {
		faults.add(InvalidConfig, "Session.MaxAge is %v: whole seconds, more than zero", c.Session.MaxAge)
	}
	const century = 100 * 365 * 24 * time.Hour
	if c.Session.MaxAge > century || c.JWT.MaxAge > century {
		faults.add(InvalidConfig, "Session.MaxAge or JWT.MaxAge is longer than a hundred years")
	}
	if c.Session.AbsoluteMaxAge < 0 || c.Session.AbsoluteMaxAge%time.Second != 0 {
		faults.add(InvalidConfig, "Session.AbsoluteMaxAge is %v: whole seconds, more than zero, or zero for none", c.Session.AbsoluteMaxAge)
	}
	if c.Session.UpdateAge < 0 {
		faults.add(InvalidConfig, "Session.UpdateAge is %v: more than zero, or core.Always", c.Session.UpdateAge)
	}
	if c.JWT.MaxAge < 0 {
		faults.add(InvalidConfig, "JWT.MaxAge is %v: more than zero", c.JWT.MaxAge)
	}
	if (c.JWT.Encode == nil) != (c.JWT.Decode == nil) {
		faults.add(InvalidConfig, "JWT.Encode and JWT.Decode go together: set both or none")
	}
	switch c.Session.Strategy {
	case StrategyJWT, StrategyDatabase:
	default:
		faults.add(InvalidConfig, "Session.Strategy is %q: use StrategyJWT or StrategyDatabase", c.Session.Strategy)
	}
	for _, problem := range c.Theme.Validate() {
		faults.add(InvalidConfig, "Theme: %s", problem)
	}
	for _, page := range []struct{ field, url string }{
		{"SignIn", c.Pages.SignIn}, {"SignOut", c.Pages.SignOut}, {"Error", c.Pages.Error},
		{"VerifyRequest", c.Pages.VerifyRequest}, {"NewUser", c.Pages.NewUser},
	} {
		if page.url == "" {
			continue
		}
		if err := checkPage(page.url); err != nil {
			faults.add(InvalidConfig, "Pages.%s: %v", page.field, err)
		}
	}
}

// checkStrategy looks for a jwt callback that never runs. chosen is the strategy as the configuration has it: one that came from the
// Store alone is a surprise, and a fault; a database strategy that was asked for is taken at its word, with a warning.
func checkStrategy(chosen Strategy, c *Config, faults *ConfigError) []Warning {
	switch {
	case c.Callbacks.JWT == nil || c.Session.Strategy != StrategyDatabase:
	case chosen == "":
		faults.add(InvalidConfig, "Callbacks.JWT would never run: with a Store that keeps sessions Session.Strategy is StrategyDatabase, whose sessions have no token. Set Session.Strategy to StrategyJWT, or shape sessions in Callbacks.Session, whose User is the stored one")
	default:
		return []Warning{WarnUnusedJWTCallback}
	}
	return nil
}

// locate settles origin rule and base path.
func (a *Auth) locate(c *Config, faults *ConfigError) {
	base, err := weburl.CleanBasePath(or(c.BasePath, "/auth"))
	if err != nil {
		faults.add(InvalidConfig, "BasePath: %v", err)
	}
	a.basePath, a.publicBase = base, base
	if c.PublicPath != "" {
		if a.publicPath, err = weburl.CleanBasePath(c.PublicPath); err != nil {
			faults.add(InvalidConfig, "PublicPath: %v", err)
		}
		a.publicBase = a.publicPath + base
	}
	a.origins = weburl.Options{TrustHost: c.TrustHost == On || len(c.TrustedHosts) > 0, ForwardedTrusted: true}
	for i, host := range c.TrustedHosts {
		pattern, err := weburl.ParsePattern(host)
		if err != nil {
			faults.add(InvalidConfig, "TrustedHosts[%d] is %q: write app.example or *.preview.app.example", i, host)
			continue
		}
		a.origins.TrustedHosts = append(a.origins.TrustedHosts, pattern)
	}
	if c.URL == "" {
		return
	}
	origin, _, err := weburl.ParseOrigin(c.URL)
	if err != nil {
		return // readEnvironment has told it
	}
	a.pinned, a.pinnedOrigin, a.origins.Pinned, a.origins.TrustHost = true, origin.String(), origin, true
}

// checkNeeds checks what the providers and the strategy ask of the store.
func (a *Auth) checkNeeds(c *Config, faults *ConfigError) {
	if v := reflect.ValueOf(c.Store); v.Kind() == reflect.Pointer && v.IsNil() {
		faults.add(MissingAdapter, "Store is a nil %T: open it first, and look at the error that opening returned", c.Store)
	}
	database := c.Session.Strategy == StrategyDatabase
	hasEmail, conditional, hasPasskeys := false, "", false
	for _, p := range a.providers {
		hasEmail = hasEmail || p.kind == TypeEmail
		if p.webauthn != nil {
			hasPasskeys = true
			if p.webauthn.ConditionalUI != Off {
				if conditional != "" {
					faults.add(DuplicateConditionalUI, "providers %q and %q both have ConditionalUI: a page can offer one, switch it off for the other", conditional, p.id)
				}
				conditional = p.id
			}
		}
		if p.kind == TypeCredentials && p.credentials.Authorize == nil {
			faults.add(MissingAuthorize, "provider %q has no Authorize function: it checks the fields of the form", p.id)
		}
		if p.kind == TypeEmail && p.email.GenerateToken != nil && a.callbacks.Limit == nil {
			faults.add(InvalidConfig, "provider %q has a GenerateToken, whose tokens may be short enough to guess, and InsecureNoLimits leaves guessing unlimited: set Callbacks.Limit, or leave InsecureNoLimits off", p.id)
		}
	}
	switch {
	case hasEmail && c.Store == nil:
		faults.add(MissingAdapter, "an e-mail provider needs a Store for its tokens: set Store")
	case hasEmail && a.store.tokens == nil:
		faults.add(MissingAdapterMethods, "an e-mail provider needs a Store that is a core.VerificationTokenStore too: %T is not", c.Store)
	}
	switch {
	case hasPasskeys && c.Store == nil:
		faults.add(MissingAdapter, "a passkey provider needs a Store: set Store")
	case hasPasskeys && a.store.passkeys == nil:
		faults.add(MissingAdapterMethods, "a passkey provider needs a Store that is a core.AuthenticatorStore too: %T is not", c.Store)
	}
	switch {
	case database && c.Store == nil:
		faults.add(MissingAdapter, "Session.Strategy database needs a Store: set Store, or use StrategyJWT")
	case database && a.store.sessions == nil:
		faults.add(MissingAdapterMethods, "Session.Strategy database needs a Store that is a core.SessionStore too: %T is not", c.Store)
	}
}

// linkingWarnings tells what the store lacks for the rules of linking, which then take the way that is safe without it.
func (a *Auth) linkingWarnings() (warnings []Warning) {
	if a.store.Store == nil || !a.provesAddresses() {
		return nil
	}
	if a.store.accounts == nil && a.opensByAccount() {
		warnings = append(warnings, WarnAccountsNotListed)
	}
	if a.store.lister == nil && a.session.Strategy == StrategyDatabase {
		warnings = append(warnings, WarnSessionsNotEnded)
	}
	return warnings
}

// checkRedirectProxy refuses a proxy for an application whose origin a request could make up: it would receive codes for others.
func (a *Auth) checkRedirectProxy(c *Config, faults *ConfigError) {
	proxied := c.RedirectProxyURL != ""
	for _, p := range a.providers {
		proxied = proxied || p.oauth != nil && p.oauth.proxyURL != ""
	}
	if proxied && !a.pinned && len(c.TrustedHosts) == 0 {
		faults.add(InvalidConfig, "a redirect proxy needs to know the hosts of this deployment: set URL or TrustedHosts, as a made-up host would receive the answers for others")
	}
	if c.RedirectProxyURL != "" {
		if _, _, err := weburl.ParseOrigin(c.RedirectProxyURL); err != nil {
			faults.add(InvalidConfig, "%s: %s: write the full URL of the auth routes, https://auth.example/auth", named("RedirectProxyURL", c.RedirectProxyURL, ""), reason(err))
			return
		}
		a.proxyURL = strings.TrimRight(c.RedirectProxyURL, "/")
	}
	for i, target := range c.ProxyTargets {
		if _, _, err := weburl.ParseOrigin(strings.Replace(target, "*.", "", 1)); err != nil {
			faults.add(InvalidConfig, "ProxyTargets[%d]: %v: write an origin, https://app.example", i, err)
		}
	}
}

var providerID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// named shows an address of the configuration with its field and the variable that it came from, empty for none. One that may hold a
// password is not shown.
func named(field, value, variable string) string {
	if variable != "" {
		field += " (from " + variable + ")"
	}
	if strings.Contains(value, "@") {
		return field
	}
	return fmt.Sprintf("%s is %.100q", field, value)
}

// reason is the text of an error about an address, without the name of the package that found it.
func reason(err error) string { return strings.TrimPrefix(err.Error(), "weburl: ") }

// readEnvironment fills what the configuration left empty (WIRE 2) and returns the warnings to log.
func readEnvironment(c *Config, faults *ConfigError) (warnings []Warning) {
	if len(c.Secrets) == 0 {
		if s := c.Getenv("AUTH_SECRET"); s != "" {
			c.Secrets = []Secret{Secret(s)}
		}
		for _, n := range []string{"1", "2", "3"} {
			if s := c.Getenv("AUTH_SECRET_" + n); s != "" {
				c.Secrets = append([]Secret{Secret(s)}, c.Secrets...)
			}
		}
	}
	variable := ""
	for _, name := range []string{"AUTH_URL", "NEXTAUTH_URL"} {
		if v := c.Getenv(name); c.URL == "" && v != "" {
			c.URL, variable = v, name
		}
	}
	if c.URL != "" {
		_, spelt, err := weburl.ParseOrigin(c.URL)
		path := strings.TrimRight(spelt, "/")
		switch {
		case err != nil:
			faults.add(InvalidConfig, "%s: %s: write https://app.example, or http://localhost:3000 while you develop, with the base path behind it if it is not /auth", named("URL", c.URL, variable), reason(err))
		case c.BasePath == "":
			c.BasePath = strings.TrimPrefix(path, strings.TrimRight(c.PublicPath, "/"))
		case path != "":
			warnings = append(warnings, WarnURLBasePathRedundant)
			if full := strings.TrimRight(c.PublicPath, "/") + c.BasePath; spelt != full && c.BasePath != "/" { // to the letter, as the reference
				warnings = append(warnings, WarnURLBasePathMismatch)
			}
		}
	}
	if c.TrustHost == Auto {
		if v := c.Getenv("AUTH_TRUST_HOST"); v != "" {
			on, err := strconv.ParseBool(v)
			if err != nil {
				faults.add(InvalidConfig, "AUTH_TRUST_HOST is no boolean: write true or false")
			} else if on {
				c.TrustHost = On
			}
		} else if c.Getenv("VERCEL") != "" || c.Getenv("CF_PAGES") != "" { // platforms that set the headers themselves
			c.TrustHost = On
		}
	}
	if v := c.Getenv("AUTH_REDIRECT_PROXY_URL"); c.RedirectProxyURL == "" && v != "" {
		if _, _, err := weburl.ParseOrigin(v); err != nil {
			faults.add(InvalidConfig, "%s: %s: write the full URL of the auth routes, https://auth.example/auth", named("RedirectProxyURL", v, "AUTH_REDIRECT_PROXY_URL"), reason(err))
		} else {
			c.RedirectProxyURL = v
		}
	}
	for _, s := range c.Secrets {
		if len(s) < minSecret && c.InsecureShortSecrets {
			return append(warnings, WarnShortSecret)
		}
	}
	return warnings
}
