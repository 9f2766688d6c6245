package core

import (
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/configcheck"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/internal/tokensource"
)

// checkConfig reads the environment and checks the fields that can be checked independently. chosen is the configured
// Strategy.
func checkConfig(c *Config, chosen Strategy, faults *ConfigError) []warnings.Code {
	codes := readEnvironment(c, faults)
	s := &c.Session
	codes = append(codes, (&configcheck.Session{
		MaxAge: s.MaxAge, ShortMaxAge: s.ShortMaxAge, AbsoluteMaxAge: s.AbsoluteMaxAge, UpdateAge: s.UpdateAge,
		RevocationEvery: s.Revocation.Every, JWTMaxAge: c.JWT.MaxAge, RememberMe: s.RememberMe,
		Encodes: c.JWT.Encode != nil, Decodes: c.JWT.Decode != nil,
		Strategy: string(s.Strategy), Unset: chosen == "", JWTCallback: c.Callbacks.JWT != nil,
	}).Check(faults.add)...)
	configcheck.Secrets(c.Secrets, c.InsecureShortSecrets, faults.add)
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
	}, faults.add)
	return codes
}

// checkNeeds checks the requirements of the providers, the Strategy and the plugins, and returns them.
func checkNeeds(c *Config, a *Auth, faults *ConfigError) *configcheck.Needs {
	kept := a.store
	needs := &configcheck.Needs{
		Store: c.Store, HasTokens: kept.Tokens != nil, HasPasskeys: kept.Passkeys != nil,
		HasSessions: kept.Sessions != nil, HasLister: kept.SessionLister != nil, HasAccounts: kept.Accounts != nil,
		HasRecords: kept.Records != nil, Verifies: a.plugins.proves,
		Unlimited: c.Callbacks.Limit == nil && c.InsecureNoLimits, Database: c.Session.Strategy == StrategyDatabase,
		CleanUp: c.CleanUp == True, MaxPerUser: c.Session.MaxPerUser,
	}
	for _, p := range a.providers {
		needs.Providers = append(needs.Providers, configcheck.Provider{
			ID: p.id, Kind: p.kind, Proxied: p.oauth != nil && p.oauth.flow.ProxyURL != "",
			ByAddress:   p.oauth != nil && p.oauth.AllowDangerousEmailAccountLinking,
			NoAuthorize: p.credentials != nil && p.credentials.Admit == nil,
			Codes:       p.email != nil && p.email.Code, OwnTokens: p.email != nil && p.email.GenerateToken != nil,
			ConditionalUI: p.webauthn != nil && p.webauthn.ConditionalUI != False,
		})
	}
	needs.Check(faults.add)
	checkRevocation(c, &a.plugins, kept, faults)
	needs.Limits(c.Limits.Shared, c.InsecureNoLimits, c.Limits.Rates, faults.add)
	knowsHosts := a.site.pinned || len(c.TrustedHosts) > 0
	needs.RedirectProxy(c.RedirectProxyURL, c.RedirectProxyTargets, knowsHosts, faults.add)
	needs.Unrevoked = a.plugins.ends != "" && !needs.Database && c.Session.Revocation.On == False
	return needs
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
	if r.Check(faults.add) {
		c.Session.Revocation.On = True
	}
	guests := ""
	if ps.provisional != nil {
		guests = ps.provisional.plugin
	}
	r.Guests(guests, c.Callbacks.Merge != nil, faults.add)
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
	codes = e.Read(c.Getenv, faults.add)
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
