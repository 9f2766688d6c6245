package core

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
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

// MountPath is where adapters mount the auth routes on a group of routes: the base path behind the prefix of the group,
// the base path itself without a prefix. On a group whose prefix the base path does not begin with, the routes would
// lie outside the base path and no sign-in could end: MountPath panics, as routers do over routes that conflict.
func (a *Auth) MountPath(prefix string) string {
	a.mounted.register()
	basePath := a.site.basePath
	if basePath == "" {
		panic("core: the auth routes of PerRequest are mounted, and it has no base path: hand it the one that its Auths have")
	}
	prefix = strings.TrimRight(prefix, "/")
	if rest, ok := strings.CutPrefix(basePath, prefix+"/"); ok {
		return "/" + rest
	}
	panic(fmt.Sprintf("core: the auth routes are mounted on a group with the prefix %q, and browsers look "+
		"for them at %q: set Config.BasePath to %q, or mount outside of the group", prefix, basePath, prefix+basePath))
}

// enoughHeader is what a router should read of a request's header: a large session, a few sign-ins under way, and what
// browsers send.
const enoughHeader = 12 << 10

// WarnHeaderLimit logs, once for each call, that a router reads so few bytes of a request's header that visitors may be
// answered 431. Adapters call it when they are mounted; setting names the router's option.
func (a *Auth) WarnHeaderLimit(bytes int, setting string) {
	if bytes >= enoughHeader {
		return
	}
	a.log.warn(context.Background(), warnSmallHeaderLimit, slog.Int("bytes", bytes),
		slog.String("hint", "set "+setting+" to 16384 or more"))
}

// mounted detects that an application has guards and no auth routes: a browser that a guard redirects to the built-in
// sign-in page requests that page next.
type mounted struct {
	// registered: an adapter has mounted the routes with MountPath. served: one of them was requested.
	registered, served atomic.Bool
	sent               atomic.Int32
}

// enoughSent is the number of redirects to the sign-in page without one request for it, after which even routes that
// were mounted count as missing. Each user may have closed the window.
const enoughSent = 3

func (m *mounted) serves() {
	if !m.served.Load() {
		m.served.Store(true)
	}
}

func (m *mounted) register() {
	if !m.registered.Load() {
		m.registered.Store(true)
	}
}

// misses counts a redirect to the sign-in page. It reports, once, that the routes are missing: at the first redirect if
// no adapter has mounted them.
func (m *mounted) misses() bool {
	if m.served.Load() {
		return false
	}
	count := m.sent.Add(1)
	if m.registered.Load() {
		return count == enoughSent
	}
	return count == 1
}
