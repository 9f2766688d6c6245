package core

import (
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/configcheck"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/internal/tokensource"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

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
