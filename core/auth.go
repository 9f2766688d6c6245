package core

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/jwe"
	"github.com/latchkey-go/latchkey/core/internal/once"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// Auth answers the auth routes of one configuration and reads its sessions. It is immutable and safe for concurrent use; any
// number of them live side by side.
type Auth struct {
	providers []*provider // in order
	byID      map[string]*provider
	store     stores
	secrets   []string

	// basePath is where the routes are as the application sees them. A proxy in front removes publicPath; browsers see publicBase.
	basePath, publicPath, publicBase string
	audience                         string

	origins      weburl.Options
	proxies      []netip.Prefix
	pinned       bool
	pinnedOrigin string
	elsewhere    atomic.Bool // a visitor of another origin than the pinned one was told of
	proxyURL     string
	forwardTo    []string

	session   SessionConfig
	jwt       JWTConfig
	pages     PagesConfig
	views     ui.Pages
	theme     Theme
	callbacks Callbacks
	events    Events

	skipCSRF, csrfBySender bool // the CSRFPolicy

	// cookieSets holds the cookies of http and https origins; both are the same when UseSecureCookies is set.
	cookieSets [2]*cookieSet
	// state and challenge seal what travels within a sealed cookie or parameter.
	state, challenge *jwe.Keyring
	flowKeys         [][]byte // one per secret
	refreshes        *refreshes
	logouts          once.Memory[string, struct{}] // IDs of logout tokens that were used
	begun            *sids

	mounted       mounted
	publicList    []string // of the providers, see listProviders
	uiProviders   []ui.Provider
	contentPolicy string       // of pages, behind the nonces
	pageBytes     atomic.Int64 // the longest page so far: the room that the next one gets
	builtInSignIn bool
	signInPages   pageCache
	logger        *slog.Logger
	debugging     bool
	now           func() time.Time
	rand          io.Reader
}

// stores are the faces of the configured store; a nil one is not there.
type stores struct {
	Store
	sessions SessionStore
	tokens   VerificationTokenStore
	tx       Transactor
	accounts AccountStore
	deleter  UserDeleter
	lister   SessionLister
	passkeys AuthenticatorStore
}

func newStores(s Store) stores {
	v := stores{Store: s}
	v.sessions, _ = s.(SessionStore)
	v.tokens, _ = s.(VerificationTokenStore)
	v.tx, _ = s.(Transactor)
	v.accounts, _ = s.(AccountStore)
	v.deleter, _ = s.(UserDeleter)
	v.lister, _ = s.(SessionLister)
	v.passkeys, _ = s.(AuthenticatorStore)
	return v
}

// New checks the configuration, fills defaults and the environment and returns the Auth. Its error is a *[ConfigError] that
// names every fault at once. It sends nothing over the network.
func New(config Config) (*Auth, error) {
	c := config
	faults := &ConfigError{pages: c.Pages, theme: c.Theme, views: c.Views.WithDefaults(), logger: c.Logger}
	defaults(&c)
	faults.logger = c.Logger
	env := readEnvironment(&c, faults)
	if c.EnableWebAuthn {
		env = append(env, WarnExperimentalWebAuthn)
	}
	env = append(env, checkStrategy(config.Session.Strategy, &c, faults)...)
	checkConfig(&c, faults)
	a := &Auth{
		store: newStores(c.Store), session: c.Session, jwt: c.JWT, pages: c.Pages, views: c.Views.WithDefaults(),
		theme: c.Theme, callbacks: c.Callbacks, events: c.Events, skipCSRF: c.CSRF.skip, csrfBySender: c.CSRF.sameOrigin, logger: c.Logger, debugging: c.Debug,
		now: c.Now, rand: c.Rand, proxies: c.TrustedProxies, forwardTo: c.ProxyTargets, audience: c.Audience, refreshes: newRefreshes(c.Now),
	}
	for _, s := range c.Secrets {
		a.secrets = append(a.secrets, boundTo(c.Audience, string(s)))
	}
	a.locate(&c, faults)
	a.addProviders(&c, faults)
	a.checkNeeds(&c, faults)
	a.checkRedirectProxy(&c, faults)
	a.deriveKeys(&c, faults)
	if len(faults.Problems) > 0 {
		faults.basePath = a.basePath
		return nil, faults
	}
	a.logouts.Now, a.logouts.Max, a.begun = a.now, maxLogouts, newSIDs(a.now)
	a.builtInSignIn = c.Views.SignIn == nil
	a.publicList = listProviders(a.providers)
	a.contentPolicy = pagePolicy(a.theme, a.uiProviders)
	a.announce(append(env, a.linkingWarnings()...))
	return a, nil
}

func defaults(c *Config) {
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the one place where the real clock comes in
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Callbacks.Limit == nil && !c.InsecureNoLimits {
		limiter := NewLimiter(c.Now)
		c.Callbacks.Limit, c.Callbacks.Forgive = limiter.Limit, limiter.Forgive
	}
	if c.Session.MaxAge == 0 {
		c.Session.MaxAge = 30 * 24 * time.Hour
	}
	switch c.Session.UpdateAge {
	case 0:
		c.Session.UpdateAge = 24 * time.Hour
	case Always:
		c.Session.UpdateAge = 0
	}
	if c.JWT.MaxAge == 0 {
		c.JWT.MaxAge = c.Session.MaxAge
	}
	if c.Session.Strategy == "" {
		c.Session.Strategy = StrategyJWT
		if _, ok := c.Store.(SessionStore); ok {
			c.Session.Strategy = StrategyDatabase
		}
	}
	if c.Theme.ColorScheme == "" {
		c.Theme.ColorScheme = "auto"
	}
}

// announce says once what is effective, so that a wrong redirect URI or origin rule is found before the first visitor finds it.
func (a *Auth) announce(warnings []Warning) {
	ctx := context.Background()
	for _, w := range warnings {
		a.warn(ctx, w)
	}
	if len(a.providers) == 0 {
		a.warn(ctx, WarnNoProviders, slog.String("hint", "Providers is empty: nobody can sign in"))
	}
	if !a.origins.TrustHost {
		a.warn(ctx, WarnNoOrigin, slog.String("hint", "no origin is configured: nothing but localhost and other loopback hosts is answered. Before anybody else visits, "+howToSetOrigin))
	}
	if !a.debugging {
		return
	}
	a.warn(ctx, WarnDebugEnabled)
	base := "{origin}" + a.publicBase
	if a.pinned {
		base = a.origins.Pinned.String() + a.publicBase
	}
	for _, p := range a.providers {
		a.debug(ctx, "provider", slog.String("id", p.id), slog.String("type", string(p.kind)), slog.String("callback", base+"/callback/"+p.id))
	}
}
