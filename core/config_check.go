package core

import (
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// minSecret is the least number of bytes of a secret.
const minSecret = 32

// checkConfig checks what can be judged field by field.
func checkConfig(c *Config, faults *ConfigError) {
	checkSecrets(c, faults)
	checkSession(c, faults)
	for _, problem := range c.Theme.Validate() {
		faults.add(ErrInvalidConfig, "Theme: %s", problem)
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
		faults.add(ErrInvalidConfig, "Session.MaxAge is %v: whole seconds, more than zero", c.Session.MaxAge)
	}
	const century = 100 * 365 * 24 * time.Hour
	if c.Session.MaxAge > century || c.JWT.MaxAge > century {
		faults.add(ErrInvalidConfig, "Session.MaxAge or JWT.MaxAge is longer than a hundred years")
	}
	if limit := c.Session.AbsoluteMaxAge; limit < 0 || limit%time.Second != 0 {
		faults.add(ErrInvalidConfig, "Session.AbsoluteMaxAge is %v: whole seconds, more than zero, or zero for none", limit)
	}
	if c.Session.UpdateAge < 0 {
		faults.add(ErrInvalidConfig, "Session.UpdateAge is %v: more than zero, or core.Always", c.Session.UpdateAge)
	}
	if c.JWT.MaxAge < 0 {
		faults.add(ErrInvalidConfig, "JWT.MaxAge is %v: more than zero", c.JWT.MaxAge)
	}
	if every := c.Session.Revocation.Every; every < 0 || every > time.Hour {
		faults.add(ErrInvalidConfig, "Session.Revocation.Every is %v: from zero, which is 5 seconds, to an hour", every)
	}
	if (c.JWT.Encode == nil) != (c.JWT.Decode == nil) {
		faults.add(ErrInvalidConfig, "JWT.Encode and JWT.Decode go together: set both or none")
	}
	switch c.Session.Strategy {
	case StrategyJWT, StrategyDatabase:
	default:
		faults.add(ErrInvalidConfig, "Session.Strategy is %q: use StrategyJWT or StrategyDatabase", c.Session.Strategy)
	}
}

// checkStrategy looks for a jwt callback that never runs. chosen is the strategy as the configuration has it: one that
// came from the Store alone is a surprise, and a fault; a database strategy that was asked for is taken at its word,
// with a warning.
func checkStrategy(chosen Strategy, c *Config, faults *ConfigError) []warning {
	switch {
	case c.Callbacks.JWT == nil || c.Session.Strategy != StrategyDatabase:
	case chosen == "":
		faults.add(ErrInvalidConfig, "Callbacks.JWT would never run: with a Store that keeps sessions Session.Strategy "+
			"is StrategyDatabase, whose sessions have no token. Set Session.Strategy to StrategyJWT, or shape sessions "+
			"in Callbacks.Session, whose User is the stored one")
	default:
		return []warning{warnUnusedJWTCallback}
	}
	return nil
}

// readAppSchemes returns Config.AppSchemes in lower case.
func readAppSchemes(c *Config, faults *ConfigError) (schemes []string) {
	for i, scheme := range c.AppSchemes {
		if !weburl.IsAppScheme(scheme) {
			faults.add(ErrInvalidConfig, "AppSchemes[%d] is %q: write the scheme of an app without the colon, such as "+
				"com.example.app; schemes of browsers and of the system, such as javascript, data, file or intent, "+
				"are never allowed", i, scheme)
			continue
		}
		schemes = append(schemes, strings.ToLower(scheme))
	}
	return schemes
}
