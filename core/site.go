package core

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/netip"
	"sync/atomic"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// site is what reading a request needs of the configuration: addresses, cookies, and whose word counts. New decides it.
type site struct {
	// basePath is where the routes are as the application sees them. A proxy in front removes publicPath; browsers see
	// publicBase.
	basePath, publicPath, publicBase string

	origins      weburl.Options
	proxies      []netip.Prefix // Config.TrustedProxies
	pinned       bool           // Config.URL names the origin
	pinnedOrigin string
	elsewhere    atomic.Bool              // the warning visited-elsewhere was given
	nowhere      *place                   // of requests that are refused before their origin is known
	last         atomic.Pointer[answered] // of the last request

	// cookieSets holds the cookies of http and https origins; both are the same when UseSecureCookies is set.
	cookieSets [2]*cookieSet
	secrets    []string
	parts      *partPaths // nil without parts
	csrf       csrfGuard
	redirect   func(ctx context.Context, p RedirectParams) (string, error) // Callbacks.Redirect
	appSchemes []string                                                    // Config.AppSchemes, in lower case
	rand       io.Reader
	log        *reporter
	audit      *auditor // nil: nobody listens
	locales    *locales // nil: English
	bearers    bool     // Session.Bearer
	returns    bool     // providers send browsers back that have signed out
	trusted    []string // Config.TrustedOrigins
	failures   *failures
}

// newSite settles where the routes are, which origins count, and what belongs to a request's origin.
func newSite(c *Config, log *reporter, faults *ConfigError) *site {
	s := &site{
		failures: newFailures(c.Now), proxies: c.TrustedProxies, redirect: c.Callbacks.Redirect, rand: c.Rand, log: log,
		bearers: c.Session.Bearer,
	}
	for _, secret := range c.Secrets {
		s.secrets = append(s.secrets, boundTo(c.Audience, string(secret)))
	}
	s.trusted = readTrustedOrigins(c, faults)
	s.appSchemes = readAppSchemes(c, faults)
	s.audit = newAuditor(c, s.secrets, log)
	s.locales = newLocales(c, faults)
	s.csrf = csrfGuard{policy: c.CSRF, secrets: s.secrets, rand: c.Rand}
	base, err := weburl.CleanBasePath(or(c.BasePath, "/auth"))
	if err != nil {
		faults.add(ErrInvalidConfig, "BasePath: %v", err)
	}
	s.basePath, s.publicBase = base, base
	if c.PublicPath != "" {
		if s.publicPath, err = weburl.CleanBasePath(c.PublicPath); err != nil {
			faults.add(ErrInvalidConfig, "PublicPath: %v", err)
		}
		s.publicBase = s.publicPath + base
	}
	s.origins = weburl.Options{TrustHost: c.TrustHost == On || len(c.TrustedHosts) > 0, ForwardedTrusted: true}
	for i, host := range c.TrustedHosts {
		pattern, err := weburl.ParsePattern(host)
		if err != nil {
			faults.add(ErrInvalidConfig, "TrustedHosts[%d] is %q: write app.example or *.preview.app.example", i, host)
			continue
		}
		s.origins.TrustedHosts = append(s.origins.TrustedHosts, pattern)
	}
	if origin, _, err := weburl.ParseOrigin(c.URL); c.URL != "" && err == nil { // readEnvironment has reported the error
		s.pinned, s.pinnedOrigin, s.origins.Pinned, s.origins.TrustHost = true, origin.String(), origin, true
	}
	s.nowhere = s.placeOf(weburl.Origin{})
	return s
}

// placeOf settles what follows from an origin; the zero origin: that of a request which is refused.
func (s *site) placeOf(at weburl.Origin) *place {
	p := &place{at: at, origin: at.String()}
	p.base, p.home = p.origin+s.publicBase, p.origin
	if s.publicPath != "" {
		p.home += s.publicPath + "/"
	}
	p.homeInCookie = cookie.Encode(p.home)
	switch at.Scheme {
	case "":
	case "https":
		p.cookies = s.cookieSets[1]
	default:
		p.cookies = s.cookieSets[0]
	}
	return p
}

// boundTo derives from a secret the one of an audience, so that nothing which an Auth has sealed, signed or hashed is
// good for an Auth of another audience. Without an audience the secret is used as it is, as Auth.js does.
func boundTo(audience, secret string) string {
	if audience == "" {
		return secret
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("latchkey audience\x00" + audience))
	return hex.EncodeToString(mac.Sum(nil))
}

// cookieFamily begins the names of an Auth's cookies behind their prefix. Those of an audience are its own, so that
// several Auths on one host do not overwrite each other's: a browser keeps one cookie of a name.
func cookieFamily(audience string) string {
	if audience == "" {
		return "authjs."
	}
	sum := sha256.Sum256([]byte(audience))
	return "authjs." + hex.EncodeToString(sum[:4]) + "."
}
