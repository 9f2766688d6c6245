package core

import (
	"github.com/latchkey-go/latchkey/core/internal/auditor"
	"github.com/latchkey-go/latchkey/core/internal/configcheck"
	"github.com/latchkey-go/latchkey/core/internal/locales"
	"github.com/latchkey-go/latchkey/internal/csrf"
	"github.com/latchkey-go/latchkey/internal/reference"
	"github.com/latchkey-go/latchkey/internal/tokensource"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// newSite validates the settings for paths, origins and hosts.
func newSite(c *Config, log *reporter, faults *ConfigError) *site {
	s := &site{
		failures: reference.New(c.Now), redirect: c.Callbacks.Redirect, rand: c.Rand, log: log,
		bearers: c.Session.Bearer,
	}
	for _, secret := range c.Secrets {
		s.secrets = append(s.secrets, tokensource.BindSecret(c.Audience, string(secret)))
	}
	s.cors.Trusted = configcheck.TrustedOrigins(c.TrustedOrigins, faults.add)
	s.cors.Expose = "Retry-After, " + renewedField + ", WWW-Authenticate"
	s.appSchemes = configcheck.AppSchemes(c.AppSchemes, faults.add)
	if c.Audit != nil && len(s.secrets) > 0 {
		s.audit = &auditor.Auditor{
			Sink: auditSink(log, c.Audit), Now: c.Now, Secret: s.secrets[0], Tenant: c.Audience,
		}
	}
	s.decideLocale = c.Callbacks.Locale
	switch {
	case len(c.Locales) > 0:
		s.locales = locales.New(c.Locales, func(format string, args ...any) {
			faults.add(ErrInvalidConfig, "Locales"+format, args...)
		})
	case c.Callbacks.Locale != nil:
		faults.add(ErrInvalidConfig, "Callbacks.Locale selects from Config.Locales, which is empty: "+
			"list the languages there, for example locales.All()")
	}
	s.csrf = csrf.Guard{SameOrigin: c.CSRF.sameOrigin, Skip: c.CSRF.skip, Secrets: s.secrets, Rand: c.Rand}
	s.basePath, s.publicPath = configcheck.Paths(c.BasePath, c.PublicPath, faults.add)
	s.publicBase = s.publicPath + s.basePath
	s.origins.TrustHost = c.TrustHost == True || len(c.TrustedHosts) > 0
	s.origins.Proxies, s.origins.Derive = c.TrustedProxies, s.placeOf
	s.origins.TrustedHosts = configcheck.Hosts(c.TrustedHosts, faults.add)
	if origin, _, err := weburl.ParseOrigin(c.URL); c.URL != "" && err == nil { // readEnvironment has reported the error
		s.pinned, s.pinnedOrigin, s.origins.Pinned, s.origins.TrustHost = true, origin.String(), origin, true
	}
	s.unknownPlace = s.placeOf(weburl.Origin{})
	return s
}
