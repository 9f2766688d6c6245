package core

import (
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"maps"
	"slices"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/accounts"
	"github.com/latchkey-go/latchkey/core/internal/assets"
	"github.com/latchkey-go/latchkey/core/internal/challenges"
	"github.com/latchkey-go/latchkey/core/internal/cleanup"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/emaillinks"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/observed"
	"github.com/latchkey-go/latchkey/core/internal/passkeys"
	"github.com/latchkey-go/latchkey/core/internal/providersessions"
	"github.com/latchkey-go/latchkey/core/internal/realms"
	"github.com/latchkey-go/latchkey/core/internal/records"
	"github.com/latchkey-go/latchkey/core/internal/refresh"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/internal/storecalls"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/emailcode"
	"github.com/latchkey-go/latchkey/internal/forwarded"
	"github.com/latchkey-go/latchkey/internal/once"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/internal/sessiondata"
	"github.com/latchkey-go/latchkey/internal/tokensource"
	"github.com/latchkey-go/latchkey/ui"
)

// New checks the configuration, sets defaults, reads the environment and returns the Auth. Its error is a
// *[ConfigError] that lists all configuration errors. It sends no network requests.
func New(config Config) (*Auth, error) {
	c := config
	faults := &ConfigError{pages: c.Pages, theme: c.Theme, views: c.Views.WithDefaults(), logger: c.Logger}
	defaults(&c)
	faults.logger = c.Logger
	codes := checkConfig(&c, config.Session.Strategy, faults)

	a := &Auth{log: &reporter{logger: c.Logger, debugging: c.Debug}, audience: c.Audience}
	a.validTokens.Now, a.validTokens.Max = c.Now, maxValidTokens
	calls := newWatch(&c, a.log)
	a.store = newStores(c.Store, calls, c.StoreTimeout)
	if a.store.records != nil {
		a.store.records = &cleanup.Records{RecordStore: a.store.records}
	}
	a.site = newSite(&c, a.log, faults)
	a.mail = newMailQueue(&c, a)
	a.plugins.attach(a, &c, faults)
	a.providers = newProviders(&c, faults)
	a.plugins.addPasskeyDocuments(a.providers)
	a.plugins.checkIDTokens(a.providers, faults)
	watchProviders(a.providers, calls)
	data := dataOptions(&c, a.log, faults)
	checkNeeds(&c, a, faults)
	checks := newChecks(&c, a.site.secrets)
	a.site.cookieSets = cookieSetsOf(&c, a.site.secrets, faults)
	a.site.pinnedPlace = a.site.placeOf(a.site.origins.Pinned)
	if a.misconfigured(faults) {
		return nil, faults
	}
	can := linkablesOf(a.providers)
	can.prove = can.prove || a.plugins.proves
	assemble(a, &c, can, checks, faults)
	a.plugins.entry.checkMethods(faults)
	if a.misconfigured(faults) {
		return nil, faults
	}
	if data != nil {
		data.Revoked = a.sessions.revoked
		a.sessions.data = sessiondata.New(*data)
		c.Data.keptBy(a.sessions.data)
	}
	warnOfRealm(a)
	a.plugins.limits.warnOfMissingProxies(a)
	announce(a, append(codes, storeWarnings(&c, can, a)...))
	return a, nil
}

// misconfigured reports whether there are configuration errors, and audits that.
func (a *Auth) misconfigured(faults *ConfigError) bool {
	if len(faults.Problems) == 0 {
		return false
	}
	faults.basePath = a.site.basePath
	a.site.audit.Note(context.Background(), audit.Event{
		Name: audit.Config, Outcome: audit.Failed, Reason: audit.ReasonFault,
	})
	return true
}

// assemble creates the components of an Auth from a valid configuration.
func assemble(a *Auth, c *Config, can linkables, checks *checks, faults *ConfigError) {
	var views []ui.Provider
	a.byID = make(map[string]*provider, len(a.providers))
	for _, p := range a.providers {
		a.byID[p.id] = p
		views = append(views, p.view)
	}
	a.pages = newPages(c, views)
	a.pages.style, a.pages.script = assets.Style.Address(a.site.publicBase), assets.Script.Address(a.site.publicBase)
	a.pages.sheet = assets.SheetStyle.Address(a.site.publicBase)
	a.refreshes = refresh.New(a.store.accounts, c.Now)
	cleaning := newCleaning(c, a.store, a.plugins.tasks, a.log)
	facts := a.plugins.facts || c.Session.Revocation.On == True
	a.sessions = newSessions(c, checks.Sealer, a.site.secrets, a.store, cleaning, can.prove, facts, a.log)
	a.sessions.jwt.KeepsUser = a.plugins.proves
	if a.sessions.impersonation = a.plugins.impersonation; a.sessions.impersonation != nil {
		a.site.actorOf = a.sessions.actorOf
	}
	if a.sessions.kept = a.plugins.kept; a.sessions.kept != nil {
		a.sessions.kept.provisional = a.plugins.provisional
	}
	a.pages.sessions, a.pages.plugins = a.sessions, &a.plugins
	a.sessions.providerLogouts = newProviderLogouts(c, a.providers, a.store.records)
	a.site.returns = a.sessions.providerLogouts != nil
	a.linker = newLinker(c, a, can.open)
	ends := &logouts{sessions: a.sessions, callback: c.Callbacks.BackChannelLogout}
	ends.used = once.Memory[string, struct{}]{Now: c.Now, Max: maxLogouts}
	entry := &signIns{
		gate: gatekeeper{c.Callbacks.SignIn}, linker: a.linker, sessions: a.sessions, pages: a.pages, events: &c.Events,
		store: a.store, plugins: &a.plugins,
	}
	asked := newLimits(c, a, a.plugins.knows)
	a.plugins.assemble(a, entry, asked)
	entry.codes = newEmailCodes(c, a, asked)
	a.plugins.completeOneTap(a)
	a.plugins.challenges = newChallenges(c, asked, newWatch(c, a.log))
	if facts {
		a.plugins.reauth = entry.reauthActions(a.providers)
		a.site.plugins = a.plugins.paths()
	}
	m := flowMaker{
		config: c, site: a.site, store: a.store, sessions: a.sessions, pages: a.pages, gate: entry.gate, logouts: ends,
		plugins: &a.plugins,
		checks:  checks, limits: asked, cleaning: cleaning, codes: entry.codes, newUserID: newUserID(c.Store != nil, c.Rand),
	}
	for _, p := range a.providers {
		p.flow = m.flow(p)
	}
	a.tokens = newTokenReaders(a.site, &a.sessions.jwt)
	a.router = newRouter(a, entry, ends, faults)
}

// newUserID returns a function that makes the ID of a new user. If a store keeps users, it is a random UUID. Otherwise
// it is derived from the account (UUID version 8), so that a user has the same ID at every sign-in.
func newUserID(kept bool, source io.Reader) func(provider, accountID string) (string, error) {
	if kept {
		return func(string, string) (string, error) { return uuid(source) }
	}
	return func(provider, accountID string) (string, error) {
		sum := sha256.Sum256([]byte("latchkey user\x00" + provider + "\x00" + accountID))
		return random.UUIDOf([16]byte(sum[:16]), 8), nil
	}
}

// flowMaker creates the flows of providers. Its fields are their dependencies.
type flowMaker struct {
	config    *Config
	site      *site
	store     stores
	sessions  *sessions
	pages     *pages
	checks    *checks
	gate      gatekeeper
	limits    *limits
	cleaning  *cleanup.Schedule
	logouts   *logouts
	plugins   *plugins
	codes     *emailCodes
	newUserID func(provider, accountID string) (string, error)
}

func (m *flowMaker) flow(p *provider) flow {
	switch {
	case p.oauth != nil:
		p.oauth.flow.Exchanges = m.sessions.exchanges
		return &oauthFlow{
			oauthClient: p.oauth, checks: m.checks, newUserID: m.newUserID, ends: m.logouts, plugins: m.plugins,
		}
	case p.email != nil:
		secrets := m.site.secrets
		if p.email.Secret != "" {
			secrets = []string{string(p.email.Secret)}
		}
		f := &emailFlow{
			asked:         emaillinks.Asked{Secrets: m.site.secrets, Provider: p.id, MaxAge: p.email.MaxAge},
			EmailProvider: p.email, site: m.site, gate: m.gate, limits: m.limits, users: m.store.Store,
			links: emaillinks.Tokens{
				Store: m.store.tokens, Secrets: secrets, Life: p.email.MaxAge, Now: m.config.Now,
			},
			pages: m.pages, challenges: m.plugins.challenges, cleaning: m.cleaning, sent: newSentLinks(m, p.email),
			sessions: m.sessions, used: &once.Memory[string, struct{}]{Now: m.config.Now},
		}
		if p.email.Code {
			f.codes = m.codes
		}
		return f
	case p.webauthn != nil:
		return &passkeyFlow{
			webAuthn: p.webauthn, checks: m.checks, limits: m.limits, sessions: m.sessions, plugins: m.plugins,
			stores: passkeys.Stores{Users: m.store.Store, Passkeys: m.store.passkeys, Accounts: m.store.accounts},
			now:    m.config.Now, rand: m.config.Rand,
		}
	}
	return &credentialsFlow{
		CredentialsProvider: p.credentials, site: m.site, limits: m.limits, challenges: m.plugins.challenges,
	}
}

// announce logs warnings and, with Debug, the callback URL of each provider, so that a wrong redirect URI or origin is
// found before the first sign-in.
func announce(a *Auth, codes []warnings.Code) {
	ctx := context.Background()
	a.site.audit.Note(ctx, audit.Event{Name: audit.Config, Outcome: audit.OK})
	for _, w := range codes {
		a.log.warn(ctx, w)
	}
	if len(a.providers) == 0 {
		a.log.warn(ctx, warnings.NoProviders, slog.String("hint", "Providers is empty: users cannot sign in"))
	}
	for _, p := range a.providers {
		if p.oauth != nil && p.oauth.AllowInsecureHTTP == True {
			a.log.warn(ctx, warnings.InsecureHTTP, slog.String("provider", p.id))
		}
	}
	if !a.site.origins.TrustHost {
		a.log.warn(ctx, warnings.NoOrigin, slog.String("hint", "no origin is configured: only requests to localhost and "+
			"other loopback hosts are accepted. Before you deploy, "+forwarded.HowToSetOrigin))
	}
	if !a.log.debugging {
		return
	}
	a.log.warn(ctx, warnings.DebugEnabled)
	base := "{origin}" + a.site.publicBase
	if a.site.pinned {
		base = a.site.origins.Pinned.String() + a.site.publicBase
	}
	for _, p := range a.providers {
		a.log.debug(ctx, "provider", slog.String("id", p.id), slog.String("type", string(p.kind)),
			slog.String("callback", base+"/callback/"+p.id))
	}
}

// newest contains the most recent Auth of each realm, to detect two Auths of one application that accept each other's
// sessions.
var newest realms.Newest[Auth]

// warnOfRealm logs a warning if the previous Auth of the realm is still in use, uses the same logger and serves another
// site. An Auth of the same site is a replacement, for example after a change of the configuration.
func warnOfRealm(a *Auth) {
	previous := newest.Replace(realmOf(a), a)
	if previous != nil && previous.log.logger == a.log.logger && !sameSite(a, previous) && a.sharesSessions(previous) {
		a.warnShared(context.Background())
	}
}

// sameSite reports whether two Auths serve the same users: same addresses, paths and store.
func sameSite(a, b *Auth) bool {
	stores := a.store.given == nil && b.store.given == nil || sameStore(a.store.given, b.store.given)
	return stores && a.site.publicBase == b.site.publicBase && a.site.basePath == b.site.basePath &&
		a.site.origins.Pinned == b.site.origins.Pinned && slices.Equal(a.site.origins.TrustedHosts,
		b.site.origins.TrustedHosts)
}

// dataOptions returns the options of the keeper of Config.Data. They are nil if Config.Data is not set.
func dataOptions(c *Config, log *reporter, faults *ConfigError) *sessiondata.Options {
	if c.Data == nil {
		return nil
	}
	o, err := c.Data.options()
	if err != nil {
		faults.add(ErrInvalidConfig, "%v", err)
		return nil
	}
	o.Now, o.InCookie = c.Now, c.Session.Strategy == StrategyJWT
	o.Large = func(ctx context.Context) { log.warn(ctx, warnings.DataLarge) }
	return &o
}

func newSentLinks(m *flowMaker, p *EmailProvider) *emaillinks.Sent {
	if m.store.records == nil || m.limits.known == nil && !p.Code {
		return nil
	}
	life := p.MaxAge / 2
	if !p.Code {
		life = min(emaillinks.SentLife, life)
	}
	return &emaillinks.Sent{
		Records: m.store.records, Secret: m.site.secrets[0], Provider: p.ID, Now: m.config.Now, Life: life,
	}
}

func linkablesOf(providers []*provider) (can linkables) {
	for _, p := range providers {
		can.prove = can.prove || p.email != nil || p.oauth != nil && p.oauth.AllowDangerousEmailAccountLinking
		can.open = can.open || p.oauth != nil || p.webauthn != nil
	}
	return can
}

// newLimits selects the limiters. asked reports whether a plugin requests known browsers.
func newLimits(c *Config, a *Auth, asked bool) *limits {
	l := &limits{limit: c.Callbacks.Limit, forgive: c.Callbacks.Forgive}
	l.keyUse = l.limit != nil || c.Limits.Rates[limit.AttemptKeyUse] != (limit.Rates{})
	changed := c.Limits.Shared || len(c.Limits.Rates) > 0
	if !c.InsecureNoLimits && (l.limit == nil || changed) {
		limiter := limit.New(c.Now, maps.Clone(c.Limits.Rates))
		l.builtIn = limiter
		if c.Limits.Shared {
			key := func(bucket string) string { return digest(a.site.secrets[0], "budget", bucket) }
			l.builtIn = limit.NewShared(limiter, a.store.records, key, c.Logger)
		}
	}
	auto := l.builtIn != nil && (changed || asked)
	if c.Limits.KnownBrowsers == True || c.Limits.KnownBrowsers == Default && auto {
		l.known = &knownBrowsers{seals: &a.plugins.seals, now: c.Now}
	}
	return l
}

// warnOfMissingProxies makes New log a warning if attempts are limited by client address on an https site and
// TrustedProxies is empty.
func (l *limits) warnOfMissingProxies(a *Auth) {
	counts := len(a.plugins.actions) > 0
	for _, p := range a.providers {
		counts = counts || p.credentials != nil || p.email != nil || p.webauthn != nil
	}
	if l.builtIn != nil && counts && len(a.site.origins.Proxies) == 0 && a.site.origins.Pinned.Scheme == "https" {
		a.log.warn(context.Background(), warnings.NoTrustedProxies, slog.String("hint", nameProxies))
	}
}

// storeWarnings returns a warning for each interface that account linking needs and the Store lacks, and for a plugin
// that promises to end sessions in a configuration that cannot end them. Linking uses a safe alternative.
func storeWarnings(c *Config, can linkables, a *Auth) (codes []warnings.Code) {
	if a.store.Store != nil && can.prove {
		if a.store.accounts == nil && can.open {
			codes = append(codes, warnings.AccountsNotListed)
		}
		if a.store.lister == nil && c.Session.Strategy == StrategyDatabase {
			codes = append(codes, warnings.SessionsNotEnded)
		}
	}
	if a.plugins.ends != "" && c.Session.Strategy == StrategyJWT && c.Session.Revocation.On == False {
		codes = append(codes, warnings.SessionsNotRevoked)
	}
	return codes
}

// newChecks returns the checks. An invalid secret was already reported as a configuration error.
func newChecks(c *Config, secrets []string) *checks {
	keys, _ := flowstate.NewKeys(secrets, cookies.Sealer{Now: c.Now, Rand: c.Rand, Expired: errExpired})
	return &checks{Keys: keys}
}

// cookieSetsOf returns the cookies for http and https origins, with the keys of the encrypted ones.
func cookieSetsOf(c *Config, secrets []string, faults *ConfigError) [2]*cookies.Set {
	o := &c.Cookies
	return cookies.NewSets(&cookies.Config{
		Secrets: secrets, Audience: c.Audience, Secure: c.UseSecureCookies.choice(),
		SessionToken: o.SessionToken.plain(), CallbackURL: o.CallbackURL.plain(), CSRFToken: o.CSRFToken.plain(),
		PKCECodeVerifier: o.PKCECodeVerifier.plain(), State: o.State.plain(), Nonce: o.Nonce.plain(),
		WebAuthnChallenge: o.WebAuthnChallenge.plain(),
		Fault:             func(format string, args ...any) { faults.add(ErrInvalidConfig, format, args...) },
	})
}

// newCleaning returns the schedule of DeleteExpired (Config.CleanUp) and of the tasks of plugins.
func newCleaning(c *Config, kept stores, tasks []cleanup.Task, log *reporter) *cleanup.Schedule {
	var cleaner store.Cleaner
	if c.Store != nil && c.CleanUp != False && (c.CleanUp != Default || !cleansItself(c.Store)) {
		cleaner = storecalls.New(c.Store, storeCall(kept.watch, 0)).Cleaner // a run has its own time limit
	}
	schedule := cleanup.New(cleaner, tasks, kept.tokens, c.Now, cleanupLog{log})
	if records, ok := kept.records.(*cleanup.Records); ok {
		records.Schedule = schedule
	}
	return schedule
}

func cleansItself(s Store) bool {
	self, ok := s.(store.SelfCleaner)
	return ok && self.CleansItself()
}

func newEmailCodes(c *Config, a *Auth, asked *limits) *emailCodes {
	if a.store.records == nil {
		return nil
	}
	return &emailCodes{
		&emailcode.Codes{Records: records.Of(a.store.records), Secrets: a.site.secrets, Now: c.Now, Rand: c.Rand},
		&a.plugins, asked,
	}
}

// newWatch returns the reports to Config.Observe.
func newWatch(c *Config, log *reporter) observed.Calls {
	return observed.Calls{Observe: c.Observe, Outcome: callOutcome, Panicked: func(ctx context.Context, err error) {
		log.failure(ctx, errorf(errEvent, "observe: %w", err))
	}}
}

// newTokenReaders returns the readers of an Auth. For an https origin, the cookie without the prefix is ignored,
// because sibling subdomains can set it over plain http. For an http origin both names count: a proxy may terminate TLS
// without telling the server. If the request has only a header, the origin is unknown.
func newTokenReaders(s *site, jwt *sessionstate.Tokens) tokenReaders {
	plain, secure := s.cookieSets[0], s.cookieSets[1]
	reader := func(sets ...*cookies.Set) (sources tokensource.Sources[*Token]) {
		if plain == secure { // UseSecureCookies is set
			sets = sets[:1]
		}
		sources.HeaderFirst = s.bearers
		for _, set := range sets {
			sources.Cookies = append(sources.Cookies, tokensource.Cookie[*Token]{
				Name: set.Session.Name(),
				Open: func(ctx context.Context, value string) (*Token, error) { return jwt.Valid(ctx, set, value) },
			})
		}
		return sources
	}
	return tokenReaders{https: reader(secure), http: reader(plain, secure), unknown: reader(secure, plain)}
}

// completeOneTap sets the fields that depend on the providers.
func (ps *plugins) completeOneTap(a *Auth) {
	if ps.oneTap == nil {
		return
	}
	a.site.oneTap = true
	ps.oneTap.ScriptURL = assets.OneTapScript.Address(a.site.publicBase)
	if p := a.byID[ps.oneTap.provider]; p != nil && p.oauth != nil {
		ps.oneTap.ClientID = p.oauth.ClientID
	}
}

func newChallenges(c *Config, l *limits, calls observed.Calls) *challengeGuard {
	if c.Callbacks.Challenge == nil {
		return nil
	}
	return &challengeGuard{challenges.New(*c.Callbacks.Challenge, c.HTTPClient, calls), l}
}

func newProviderLogouts(c *Config, providers []*provider, records store.RecordStore) *providerLogouts {
	a := &providerLogouts{providersessions.Logouts{
		Clients: map[string]providersessions.Client{}, Records: records, MaxAge: c.Session.MaxAge, Now: c.Now,
		NewKey: func() (string, error) { return randomText(c.Rand) },
	}}
	for _, p := range providers {
		if p.oauth != nil && p.oauth.Logout == True {
			a.Clients[p.id] = p.oauth.signOutURL
		}
	}
	if len(a.Clients) == 0 {
		return nil
	}
	return a
}

// newLinker returns the linker of an Auth. open reports that the configuration has a provider of accounts or passkeys.
func newLinker(c *Config, a *Auth, open bool) *linker {
	calls := a.store.calls
	calls.Records = a.store.records
	l := &linker{
		store: a.store, sessions: a.sessions, events: &c.Events, plugins: &a.plugins, gated: len(a.plugins.gates) > 0,
		Linker: &accounts.Linker{
			Store: calls, Within: func(tx Store) storecalls.Stores { return newStores(tx, a.store.watch, 0).calls },
			Now: c.Now, NewID: func() (string, error) { return uuid(c.Rand) }, Open: open,
			FreshLinks: a.plugins.freshLinks, StoredSessions: a.sessions.config.Strategy == StrategyDatabase,
			// With facts, a sign-in by the current user is a re-authentication.
			NewSessions: a.sessions.facts, Refused: linkRefusal,
		},
	}
	if a.sessions.revoked != nil {
		l.EndSessions = func(ctx context.Context, userID string) error {
			if err := a.sessions.all.EndUser(ctx, userID, ""); err != nil {
				return errorf(ErrStore, "end the sessions from before the email verification: %w", err)
			}
			return nil
		}
	}
	return l
}
