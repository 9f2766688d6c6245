package core

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/latchkey-go/latchkey/core/internal/tokensource"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/csrf"
	"github.com/latchkey-go/latchkey/internal/forwarded"
	"github.com/latchkey-go/latchkey/internal/reference"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// site contains the configuration needed to read a request: addresses, cookies and trust settings.
type site struct {
	// basePath is the path of the auth routes as the application receives them. A reverse proxy removes publicPath.
	// publicBase is the path that browsers see.
	basePath, publicPath, publicBase string

	origins      forwarded.Places[*place]
	pinned       bool // Config.URL names the origin
	pinnedOrigin string
	originWarned atomic.Bool // the warning visited-elsewhere was logged
	unknownPlace *place      // the place of requests that are rejected before their origin is known
	pinnedPlace  *place      // the place of all requests if the origin is pinned

	// cookieSets contains the cookies for http and https origins. Both are the same if UseSecureCookies is set.
	cookieSets [2]*cookieSet
	secrets    []string
	plugins    *partPaths // nil without plugins
	csrf       csrf.Guard
	redirect   func(ctx context.Context, p RedirectParams) (string, error) // Callbacks.Redirect
	appSchemes []string                                                    // Config.AppSchemes, in lower case
	rand       io.Reader
	log        *reporter
	audit      *auditor // nil if nothing is audited
	locales    *locales // nil means English
	bearers    bool     // Session.Bearer
	returns    bool     // providers redirect browsers back after a sign-out
	trusted    []string // Config.TrustedOrigins
	failures   *reference.Failures
	// credentials are the kinds of credentials that plugins have added.
	credentials []Credential
}

// newSite validates the settings for paths, origins and hosts.
func newSite(c *Config, log *reporter, faults *ConfigError) *site {
	s := &site{
		failures: reference.New(c.Now), redirect: c.Callbacks.Redirect, rand: c.Rand, log: log,
		bearers: c.Session.Bearer,
	}
	for _, secret := range c.Secrets {
		s.secrets = append(s.secrets, tokensource.BindSecret(c.Audience, string(secret)))
	}
	s.trusted = readTrustedOrigins(c, faults)
	s.appSchemes = readAppSchemes(c, faults)
	s.audit = newAuditor(c, s.secrets, log)
	s.locales = newLocales(c, faults)
	s.csrf = csrf.Guard{SameOrigin: c.CSRF.sameOrigin, Skip: c.CSRF.skip, Secrets: s.secrets, Rand: c.Rand}
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
	s.origins.TrustHost = c.TrustHost == True || len(c.TrustedHosts) > 0
	s.origins.Proxies, s.origins.Derive = c.TrustedProxies, s.placeOf
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
	s.unknownPlace = s.placeOf(weburl.Origin{})
	return s
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

// placeOf returns the place of an origin. The zero origin is that of a rejected request.
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

// MountPath returns the base path without the prefix of a group of routes. An adapter registers the auth routes there
// when it mounts them on a group. It panics if the base path does not begin with the prefix, because the routes would
// then be outside the base path and no sign-in could complete.
func (a *Auth) MountPath(prefix string) string {
	a.mounted.setRegistered()
	basePath := a.site.basePath
	if basePath == "" {
		panic("core: PerRequest has no base path to mount the auth routes at: pass the BasePath of its Auths to it")
	}
	prefix = strings.TrimRight(prefix, "/")
	if rest, ok := strings.CutPrefix(basePath, prefix+"/"); ok {
		return "/" + rest
	}
	panic(fmt.Sprintf("core: the auth routes are mounted on a group with the prefix %q, and browsers look "+
		"for them at %q: set Config.BasePath to %q, or mount outside of the group", prefix, basePath, prefix+basePath))
}

// enoughHeader is the number of bytes of a request's header that a router should accept: a large session, a few pending
// sign-ins, and the headers of browsers.
const enoughHeader = 12 << 10

// WarnHeaderLimit logs a warning if a router's limit for the header of a request, in bytes, is so low that users may
// get 431. Adapters call it when they are mounted. setting is the name of the router's option.
func (a *Auth) WarnHeaderLimit(bytes int, setting string) {
	if bytes >= enoughHeader {
		return
	}
	a.log.warn(context.Background(), warnSmallHeaderLimit, slog.Int("bytes", bytes),
		slog.String("hint", "set "+setting+" to 16384 or more"))
}

// mounted detects that an application has guards but no auth routes. A browser that a guard redirects to the built-in
// sign-in page requests that page next; if it does not, the routes are probably missing.
type mounted struct {
	// registered reports whether an adapter called MountPath, and served whether an auth route was requested.
	registered, served atomic.Bool
	sent               atomic.Int32 // redirects to the sign-in page
}

// enoughSent is the number of redirects to the sign-in page without a request for it, after which mounted routes count
// as missing too. With fewer, the users may have closed their windows.
const enoughSent = 3

func (m *mounted) setServed() {
	if !m.served.Load() {
		m.served.Store(true)
	}
}

func (m *mounted) setRegistered() {
	if !m.registered.Load() {
		m.registered.Store(true)
	}
}

// countRedirect counts a redirect to the sign-in page. It reports, once, that the routes seem to be missing: at the
// first redirect if no adapter has mounted them, else at redirect enoughSent.
func (m *mounted) countRedirect() (missing bool) {
	if m.served.Load() {
		return false
	}
	count := m.sent.Add(1)
	if m.registered.Load() {
		return count == enoughSent
	}
	return count == 1
}

// readTrustedOrigins checks Config.TrustedOrigins. Each origin must have the spelling that browsers send (RFC 6454
// section 6.2), because the comparison is byte by byte.
func readTrustedOrigins(c *Config, faults *ConfigError) (trusted []string) {
	for i, text := range c.TrustedOrigins {
		origin, path, err := weburl.ParseOrigin(text)
		switch {
		case err != nil || path != "" || origin.String() != text:
			faults.add(ErrInvalidConfig, "TrustedOrigins[%d] is %q: write scheme and host as browsers do, "+
				"https://app.example or https://app.example:8443, without a path, a star or a default port", i, text)
		case origin.Scheme != "https" && !origin.Loopback():
			faults.add(ErrInvalidConfig, "TrustedOrigins[%d] is %q: an attacker in its users' network could send requests as "+
				"this origin: use https; http is for localhost", i, text)
		default:
			trusted = append(trusted, text)
		}
	}
	return trusted
}

// trustedOrigin returns the request's Origin header if it is in Config.TrustedOrigins, else "". The origin "null",
// which many pages have, and two headers never match.
func (v *arrival) trustedOrigin() string {
	if len(v.trusted) == 0 {
		return ""
	}
	sent := v.r.Header["Origin"]
	if len(sent) == 1 && slices.Contains(v.trusted, sent[0]) {
		return sent[0]
	}
	return ""
}

// share allows the scripts of a trusted origin, and of no other, to read a response (Fetch Standard, section 3.3).
func (v *arrival) share(response *Response) {
	if len(v.trusted) == 0 {
		return
	}
	response.alsoVaries("Origin")
	if origin := v.trustedOrigin(); origin != "" {
		h := response.Header
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Credentials", "true")
		h.Set("Access-Control-Expose-Headers", "Retry-After, "+renewedField+", WWW-Authenticate")
	}
}

// preflight returns the response to a CORS preflight request of a trusted origin (Fetch Standard, section 3.3.5), or
// nil if the request is not one.
func (s *site) preflight(r *Request) *Response {
	v := s.unsettled(r)
	asks := r.Method == http.MethodOptions && first(r.Header, "Access-Control-Request-Method") != ""
	if !asks || v.trustedOrigin() == "" {
		return nil
	}
	response := finish(r, &Response{Status: http.StatusNoContent})
	v.share(response)
	h := response.Header
	h.Set("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", "GET, POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Auth-Return-Redirect")
	h.Set("Access-Control-Max-Age", "7200") // seconds; browsers cache it for a day at most
	return response
}
