package core

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/internal/tokensource"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// named returns a configured address with its field and environment variable, which may be empty. It omits an address
// that may contain a password.
func named(field, value, variable string) string {
	if variable != "" {
		field += " (from " + variable + ")"
	}
	if strings.Contains(value, "@") {
		return field
	}
	return fmt.Sprintf("%s is %.100q", field, value)
}

// reason returns the text of an error about an address, without the package name.
func reason(err error) string { return strings.TrimPrefix(err.Error(), "weburl: ") }

// readEnvironment sets empty fields from environment variables and returns the warnings to log.
func readEnvironment(c *Config, faults *ConfigError) (warnings []warning) {
	if len(c.Secrets) == 0 {
		c.Secrets = tokensource.Secrets[Secret](c.Getenv)
	}
	warnings = readURL(c, faults)
	readTrustHost(c, faults)
	if v := c.Getenv("AUTH_REDIRECT_PROXY_URL"); c.RedirectProxyURL == "" && v != "" {
		if _, _, err := weburl.ParseOrigin(v); err != nil {
			faults.add(ErrInvalidConfig, "%s: %s: "+howToSetProxy,
				named("RedirectProxyURL", v, "AUTH_REDIRECT_PROXY_URL"), reason(err))
		} else {
			c.RedirectProxyURL = v
		}
	}
	for _, s := range c.Secrets {
		if len(s) < minSecret && c.InsecureShortSecrets {
			return append(warnings, warnShortSecret)
		}
	}
	return warnings
}

const howToSetProxy = "write the full URL of the auth routes, https://auth.example/auth"

// readURL sets URL, and BasePath from its path.
func readURL(c *Config, faults *ConfigError) (warnings []warning) {
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
			"followed by the base path if it is not /auth", named("URL", c.URL, variable), reason(err))
	case c.BasePath == "":
		c.BasePath = strings.TrimPrefix(path, strings.TrimRight(c.PublicPath, "/"))
	case path != "":
		warnings = append(warnings, warnURLBasePathRedundant)
		full := strings.TrimRight(c.PublicPath, "/") + c.BasePath
		if spelt != full && c.BasePath != "/" { // compared exactly, as in Auth.js
			warnings = append(warnings, warnURLBasePathMismatch)
		}
	}
	return warnings
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

// minSecret is the minimum length of a secret in bytes.
const minSecret = 32
