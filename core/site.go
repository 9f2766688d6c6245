package core

import (
	"context"
	"io"
	"net/http"
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
	elsewhere    atomic.Bool // the warning visited-elsewhere was given

	// cookieSets holds the cookies of http and https origins; both are the same when UseSecureCookies is set.
	cookieSets [2]*cookieSet
	secrets    []string
	csrf       csrfGuard
	redirect   func(ctx context.Context, p RedirectParams) (string, error) // Callbacks.Redirect
	rand       io.Reader
	log        *reporter
}

// newSite settles where the routes are, which origins count, and what belongs to a request's origin.
func newSite(c *Config, log *reporter, faults *ConfigError) *site {
	s := &site{proxies: c.TrustedProxies, redirect: c.Callbacks.Redirect, rand: c.Rand, log: log}
	for _, secret := range c.Secrets {
		s.secrets = append(s.secrets, boundTo(c.Audience, string(secret)))
	}
	s.csrf = csrfGuard{policy: c.CSRF, secrets: s.secrets, rand: c.Rand}
	base, err := weburl.CleanBasePath(or(c.BasePath, "/auth"))
	if err != nil {
		faults.add(InvalidConfig, "BasePath: %v", err)
	}
	s.basePath, s.publicBase = base, base
	if c.PublicPath != "" {
		if s.publicPath, err = weburl.CleanBasePath(c.PublicPath); err != nil {
			faults.add(InvalidConfig, "PublicPath: %v", err)
		}
		s.publicBase = s.publicPath + base
	}
	s.origins = weburl.Options{TrustHost: c.TrustHost == On || len(c.TrustedHosts) > 0, ForwardedTrusted: true}
	for i, host := range c.TrustedHosts {
		pattern, err := weburl.ParsePattern(host)
		if err != nil {
			faults.add(InvalidConfig, "TrustedHosts[%d] is %q: write app.example or *.preview.app.example", i, host)
			continue
		}
		s.origins.TrustedHosts = append(s.origins.TrustedHosts, pattern)
	}
	if origin, _, err := weburl.ParseOrigin(c.URL); c.URL != "" && err == nil { // readEnvironment has reported the error
		s.pinned, s.pinnedOrigin, s.origins.Pinned, s.origins.TrustHost = true, origin.String(), origin, true
	}
	return s
}

// arrival is a request as it arrived: its public origin and its cookies. It is all that a visit to a page of the application
// needs; a [call] is an arrival at an auth route. Nothing writes to it afterwards.
type arrival struct {
	*site
	r *Request

	at      weburl.Origin
	origin  string // at, as text
	cookies *cookieSet
	jar     cookie.Jar

	// action and providerID are those of an auth route, the provider one that is configured. They are in the log.
	action, providerID string
	// misconfigured is the reference of a request that no Auth answers.
	misconfigured string
}

// arrive settles origin, cookie set and cookies of a request. Where the origin is refused, the arrival serves for the answer.
func (s *site) arrive(r *Request) (arrival, error) {
	v := arrival{site: s, r: r}
	if s.pinned {
		v.at, v.origin = s.origins.Pinned, s.pinnedOrigin
		s.compareVisited(r)
	} else {
		at, err := s.resolveOrigin(r)
		if err != nil {
			return v, err
		}
		v.at, v.origin = at, at.String()
	}
	v.cookies = s.cookieSets[0]
	if v.at.Scheme == "https" {
		v.cookies = s.cookieSets[1]
	}
	v.jar = cookie.Parse(r.Header["Cookie"])
	return v, nil
}

// header returns the first value of a header under its canonical name.
func (v *arrival) header(name string) string { return first(v.r.Header, name) }

// first returns the first value of a header under its canonical name.
func first(h http.Header, name string) string {
	if all := h[name]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// base is the public URL of the auth routes.
func (v *arrival) base() string { return v.origin + v.publicBase }

// home is the public URL of the application.
func (v *arrival) home() string {
	if v.publicPath == "" {
		return v.origin
	}
	return v.origin + v.publicPath + "/"
}

// page returns the address of a built-in page, or of the application's own with the parameters added to its query.
func (v *arrival) page(own, action string, params ...string) (string, error) {
	if own == "" {
		own = v.base() + "/" + action
	}
	return weburl.AddQuery(own, params...)
}
