package core

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/latchkey-go/latchkey/core/internal/actions"
	"github.com/latchkey-go/latchkey/core/internal/announcements"
	"github.com/latchkey-go/latchkey/core/internal/auditor"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/locales"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/cors"
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

	// actorOf returns the ID of the user who impersonates the user of a request, or "". It is nil if impersonation is not
	// allowed.
	actorOf func(ctx context.Context, v *arrival) string

	origins      forwarded.Places[*place]
	pinned       bool // Config.URL names the origin
	pinnedOrigin string
	originWarned atomic.Bool // the warning visited-elsewhere was logged
	unknownPlace *place      // the place of requests that are rejected before their origin is known
	pinnedPlace  *place      // the place of all requests if the origin is pinned

	// cookieSets contains the cookies for http and https origins. Both are the same if UseSecureCookies is set.
	cookieSets [2]*cookies.Set
	secrets    []string
	plugins    actions.Table
	csrf       csrf.Guard
	redirect   func(ctx context.Context, p RedirectParams) (string, error) // Callbacks.Redirect
	appSchemes []string                                                    // Config.AppSchemes, in lower case
	rand       io.Reader
	log        *reporter
	audit      *auditor.Auditor          // nil if nothing is audited
	announcers []announcements.Announcer // PluginHost.OnAnnounce
	locales    *locales.Locales          // Config.Locales, nil means English
	bearers    bool                      // Session.Bearer
	returns    bool                      // providers redirect browsers back after a sign-out
	oneTap     bool                      // PluginHost.OfferOneTap was called
	cors       cors.Policy               // of Config.TrustedOrigins
	failures   *reference.Failures
	// decideLocale is Callbacks.Locale, or nil.
	decideLocale func(ctx context.Context, r *Request) string
	// protected are the origins of PluginHost.ProtectOrigins.
	protected []weburl.Origin
	// credentials are the kinds of credentials that plugins have added.
	credentials []Credential
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
