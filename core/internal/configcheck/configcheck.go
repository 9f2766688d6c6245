// Package configcheck checks the fields of a configuration that can be checked as plain values. The texts name the
// field and the fix.
package configcheck

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// Report receives a problem.
type Report func(kind autherr.Type, format string, args ...any)

// MinSecret is the minimum length of a secret in bytes.
const MinSecret = 32

// Secrets checks Config.Secrets. short is InsecureShortSecrets.
func Secrets[S ~string](secrets []S, short bool, report Report) {
	const how = "32 random bytes (openssl rand -base64 33)"
	if len(secrets) == 0 {
		report(autherr.MissingSecret, "Secrets is empty: set it, or AUTH_SECRET in the environment, to "+how)
	}
	seen := map[S]bool{}
	for i, s := range secrets {
		switch {
		case s == "":
			report(autherr.MissingSecret, "Secrets[%d] is empty: remove it or set it to "+how, i)
		case seen[s]:
			report(autherr.InvalidConfig, "Secrets[%d] repeats an earlier one: list each secret once", i)
		case len(s) < MinSecret && !short:
			report(autherr.InvalidConfig, "Secrets[%d] has %d bytes: use %d random bytes or more (openssl rand -base64 33), "+
				"or set InsecureShortSecrets while you migrate", i, len(s), MinSecret)
		}
		seen[s] = true
	}
}

// Page returns an error unless page is a path that begins with a slash, or an http or https URL.
func Page(page string) error {
	if _, err := weburl.AddQuery(page); err != nil {
		return errors.New("write a path such as /login, or an http(s) URL")
	}
	return nil
}

// Pages checks Config.Pages, by the name of the field.
func Pages(pages [][2]string, report Report) {
	for _, page := range pages {
		if page[1] == "" {
			continue
		}
		if err := Page(page[1]); err != nil {
			report(autherr.InvalidConfig, "Pages.%s: %v", page[0], err)
		}
	}
}

// Session has fields of Config.Session and Config.JWT.
type Session struct {
	MaxAge, ShortMaxAge, AbsoluteMaxAge, UpdateAge, RevocationEvery, JWTMaxAge time.Duration
	RememberMe                                                                 bool
	Encodes, Decodes                                                           bool // JWT.Encode and JWT.Decode are set
	// Strategy is the configured strategy, or the default if Unset is true. JWTCallback reports that Callbacks.JWT is set.
	Strategy           string
	Unset, JWTCallback bool
}

// Check checks the fields and returns the warnings to log. A JWT callback that is never called is a configuration error
// if the strategy is the default because of the Store, and only a warning if it was configured explicitly.
func (s *Session) Check(report Report) (codes []warnings.Code) {
	switch {
	case s.Strategy != "jwt" && s.Strategy != "database":
		report(autherr.InvalidConfig, "Session.Strategy is %q: use StrategyJWT or StrategyDatabase", s.Strategy)
	case s.Strategy == "jwt" || !s.JWTCallback:
	case s.Unset:
		report(autherr.InvalidConfig, "Callbacks.JWT would never run: with this Store, Session.Strategy is "+
			"StrategyDatabase, whose sessions have no token. Set Session.Strategy to StrategyJWT, or use Callbacks.Session")
	default:
		codes = []warnings.Code{warnings.UnusedJWTCallback}
	}
	if s.MaxAge < 0 || s.MaxAge%time.Second != 0 {
		report(autherr.InvalidConfig, "Session.MaxAge is %v: set a positive number of whole seconds", s.MaxAge)
	}
	const century = 100 * 365 * 24 * time.Hour
	if s.MaxAge > century || s.JWTMaxAge > century {
		report(autherr.InvalidConfig, "Session.MaxAge or JWT.MaxAge is longer than a hundred years")
	}
	switch short := s.ShortMaxAge; {
	case short != 0 && !s.RememberMe:
		report(autherr.InvalidConfig, "Session.ShortMaxAge has no effect: set Session.RememberMe too")
	case short < 0 || short%time.Second != 0 || short > s.MaxAge:
		report(autherr.InvalidConfig, "Session.ShortMaxAge is %v: set a positive number of whole seconds, at most "+
			"Session.MaxAge (%v)", short, s.MaxAge)
	}
	if s.AbsoluteMaxAge < 0 || s.AbsoluteMaxAge%time.Second != 0 {
		report(autherr.InvalidConfig, "Session.AbsoluteMaxAge is %v: set a positive number of whole seconds, or zero for "+
			"no maximum", s.AbsoluteMaxAge)
	}
	if s.UpdateAge < 0 {
		report(autherr.InvalidConfig, "Session.UpdateAge is %v: set a positive duration, or core.UpdateAlways", s.UpdateAge)
	}
	if s.JWTMaxAge < 0 {
		report(autherr.InvalidConfig, "JWT.MaxAge is %v: set a positive duration", s.JWTMaxAge)
	}
	if s.RevocationEvery < 0 || s.RevocationEvery > time.Hour {
		report(autherr.InvalidConfig, "Session.Revocation.Every is %v: set at most an hour, or zero for the default "+
			"of 5 seconds", s.RevocationEvery)
	}
	if s.Encodes != s.Decodes {
		report(autherr.InvalidConfig, "set both JWT.Encode and JWT.Decode, or neither")
	}
	return codes
}

// Needs describes what a configuration needs of its store.
type Needs struct {
	Store any // Config.Store, or nil
	// The interfaces that the store implements.
	HasTokens, HasPasskeys, HasSessions, HasLister, HasAccounts, HasRecords bool

	Providers  []Provider
	Verifies   bool // a plugin verifies email addresses
	Unrevoked  bool // a plugin ends sessions that cannot be ended
	Unlimited  bool // nothing limits attempts
	Database   bool // Session.Strategy is StrategyDatabase
	CleanUp    bool // CleanUp is True
	MaxPerUser int  // Session.MaxPerUser
}

// Check reports what the providers and the store lack.
func (n *Needs) Check(report Report) {
	if v := reflect.ValueOf(n.Store); v.Kind() == reflect.Pointer && v.IsNil() {
		report(autherr.MissingStore, "Store is a nil %T: open it first, and check the returned error", n.Store)
	}
	n.checkProviders(report)
	for _, row := range []struct {
		needed, there bool
		who, set, has string
	}{
		{
			n.has(store.TypeEmail), n.HasTokens, "an email provider needs a Store", " for its tokens: set Store",
			"store.VerificationTokenStore",
		},
		{
			n.has(store.TypeWebAuthn), n.HasPasskeys, "a passkey provider needs a Store", ": set Store",
			"store.AuthenticatorStore",
		},
		{
			n.Database, n.HasSessions, "Session.Strategy database needs a Store", ": set Store, or use StrategyJWT",
			"store.SessionStore",
		},
	} {
		switch {
		case !row.needed:
		case n.Store == nil:
			report(autherr.MissingStore, "%s%s", row.who, row.set)
		case !row.there:
			report(autherr.MissingStoreMethods, "%s that is a %s too (package core/store): %T is not", row.who, row.has, n.Store)
		}
	}
	if _, cleans := n.Store.(store.Cleaner); n.CleanUp && !cleans {
		report(autherr.MissingStoreMethods, "CleanUp is True and needs a Store that is a store.Cleaner too "+
			"(package core/store): %T is not", n.Store)
	}
	switch {
	case n.MaxPerUser == 0:
	case n.MaxPerUser < 0:
		report(autherr.InvalidConfig, "Session.MaxPerUser is %d: set a positive number, or zero for no maximum", n.MaxPerUser)
	case !n.Database:
		report(autherr.InvalidConfig, "Session.MaxPerUser counts sessions in the Store, and Session.Strategy keeps them in "+
			"cookies: set it to StrategyDatabase, or MaxPerUser to zero")
	case n.Store != nil && !n.HasLister:
		report(autherr.MissingStoreMethods, "Session.MaxPerUser needs a Store that is a store.SessionLister too "+
			"(package core/store): %T is not", n.Store)
	}
}

// Limits checks Config.Limits. unlimited is InsecureNoLimits.
func (n *Needs) Limits(shared, unlimited bool, all map[limit.Attempt]limit.Rates, report Report) {
	if unlimited && (shared || len(all) > 0) {
		report(autherr.InvalidConfig, "InsecureNoLimits leaves attempts unlimited, and Limits is set: choose one of them")
	}
	if shared && !n.HasRecords {
		report(autherr.MissingStoreMethods, "Limits.Shared needs a Store that is a store.RecordStore too "+
			"(package core/store): %T is not", n.Store)
	}
	for a := range all {
		checkRates(a, all[a].WithDefaults(a), report)
	}
}

func checkRates(a limit.Attempt, rates limit.Rates, report Report) {
	for _, rate := range []struct {
		name string
		limit.Rate
	}{
		{"Identifier", rates.Identifier}, {"Visitor", rates.Visitor}, {"Network", rates.Network}, {"Browser", rates.Browser},
	} {
		if (rate.Burst <= 0 || rate.Every <= 0) && rate.Rate != (limit.Rate{}) {
			report(autherr.InvalidConfig, "Limits.Rates[%q].%s is %d, every %v: both must be more than zero",
				a, rate.name, rate.Burst, rate.Every)
		}
	}
	one, all := rates.Visitor, rates.Identifier
	if all != (limit.Rate{}) && one != (limit.Rate{}) && (one.Burst >= all.Burst || one.Every < all.Every) {
		report(autherr.InvalidConfig, "Limits.Rates[%q]: Visitor (%d, every %v) is not less than Identifier (%d, every %v): "+
			"an attacker in one network could lock out the owner of a name", a, one.Burst, one.Every, all.Burst, all.Every)
	}
}

// HowToSetProxy is the fix for RedirectProxyURL.
const HowToSetProxy = "write the full URL of the auth routes, https://auth.example/auth"

// Named returns a configured address with its field and environment variable, which may be empty. It omits an address
// that may contain a password.
func Named(field, value, variable string) string {
	if variable != "" {
		field += " (from " + variable + ")"
	}
	if strings.Contains(value, "@") {
		return field
	}
	return fmt.Sprintf("%s is %.100q", field, value)
}

// Reason returns the text of an error about an address, without the package name.
func Reason(err error) string { return strings.TrimPrefix(err.Error(), "weburl: ") }

// RedirectProxy checks RedirectProxyURL and RedirectProxyTargets. A redirect proxy requires URL or TrustedHosts
// (knowsHosts). Otherwise a forged Host header could make the proxy send authorization codes to an attacker.
func (n *Needs) RedirectProxy(address string, targets []string, knowsHosts bool, report Report) {
	proxied := address != "" || slices.ContainsFunc(n.Providers, func(p Provider) bool { return p.Proxied })
	if proxied && !knowsHosts {
		report(autherr.InvalidConfig, "a redirect proxy needs to know the hosts of this deployment: set URL or "+
			"TrustedHosts, because a forged Host header could otherwise send authorization codes to an attacker")
	}
	if !proxied && len(targets) > 0 {
		report(autherr.InvalidConfig, "RedirectProxyTargets needs RedirectProxyURL: set it to the URL of the proxy's own "+
			"auth routes, for example \"https://auth.example/auth\", in the proxy and in the deployments that use it")
	}
	if address != "" {
		if _, _, err := weburl.ParseOrigin(address); err != nil {
			report(autherr.InvalidConfig, "%s: %s: "+HowToSetProxy, Named("RedirectProxyURL", address, ""), Reason(err))
			return
		}
	}
	for i, target := range targets {
		if _, _, err := weburl.ParseOrigin(strings.Replace(target, "*.", "", 1)); err != nil {
			report(autherr.InvalidConfig, "RedirectProxyTargets[%d]: %v: write an origin, https://app.example", i, err)
		}
	}
}

// Paths returns Config.BasePath and Config.PublicPath.
func Paths(base, public string, report Report) (basePath, publicPath string) {
	if base == "" {
		base = "/auth"
	}
	basePath, err := weburl.CleanBasePath(base)
	if err != nil {
		report(autherr.InvalidConfig, "BasePath: %v", err)
	}
	if public != "" {
		if publicPath, err = weburl.CleanBasePath(public); err != nil {
			report(autherr.InvalidConfig, "PublicPath: %v", err)
		}
	}
	return basePath, publicPath
}

// Hosts returns the valid patterns of Config.TrustedHosts.
func Hosts(all []string, report Report) (patterns []string) {
	for i, host := range all {
		pattern, err := weburl.ParsePattern(host)
		if err != nil {
			report(autherr.InvalidConfig, "TrustedHosts[%d] is %q: write app.example or *.preview.app.example", i, host)
			continue
		}
		patterns = append(patterns, pattern)
	}
	return patterns
}

// AppSchemes returns Config.AppSchemes in lower case.
func AppSchemes(all []string, report Report) (schemes []string) {
	for i, scheme := range all {
		if !weburl.IsAppScheme(scheme) {
			report(autherr.InvalidConfig, "AppSchemes[%d] is %q: write the scheme of an app without the colon, such as "+
				"com.example.app; schemes of browsers and of the system, such as javascript, data, file or intent, "+
				"are never allowed", i, scheme)
			continue
		}
		schemes = append(schemes, strings.ToLower(scheme))
	}
	return schemes
}

// TrustedOrigins returns the valid origins of Config.TrustedOrigins. Each origin must have the spelling that browsers
// send (RFC 6454 section 6.2), because the comparison is byte by byte.
func TrustedOrigins(all []string, report Report) (trusted []string) {
	for i, text := range all {
		origin, path, err := weburl.ParseOrigin(text)
		switch {
		case err != nil || path != "" || origin.String() != text:
			report(autherr.InvalidConfig, "TrustedOrigins[%d] is %q: write scheme and host as browsers do, "+
				"https://app.example or https://app.example:8443, without a path, a star or a default port", i, text)
		case origin.Scheme != "https" && !origin.Loopback():
			report(autherr.InvalidConfig, "TrustedOrigins[%d] is %q: an attacker in its users' network could send requests as "+
				"this origin: use https; http is for localhost", i, text)
		default:
			trusted = append(trusted, text)
		}
	}
	return trusted
}
