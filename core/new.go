package core

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/accounts"
	"github.com/latchkey-go/latchkey/core/internal/actions"
	"github.com/latchkey-go/latchkey/core/internal/assets"
	"github.com/latchkey-go/latchkey/core/internal/auditor"
	"github.com/latchkey-go/latchkey/core/internal/challenges"
	"github.com/latchkey-go/latchkey/core/internal/cleanup"
	"github.com/latchkey-go/latchkey/core/internal/configcheck"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/emaillinks"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/locales"
	"github.com/latchkey-go/latchkey/core/internal/observed"
	"github.com/latchkey-go/latchkey/core/internal/passkeys"
	"github.com/latchkey-go/latchkey/core/internal/providersessions"
	"github.com/latchkey-go/latchkey/core/internal/realms"
	"github.com/latchkey-go/latchkey/core/internal/records"
	"github.com/latchkey-go/latchkey/core/internal/refresh"
	"github.com/latchkey-go/latchkey/core/internal/storecalls"
	"github.com/latchkey-go/latchkey/core/internal/verdict"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/csrf"
	"github.com/latchkey-go/latchkey/internal/emailcode"
	"github.com/latchkey-go/latchkey/internal/forwarded"
	"github.com/latchkey-go/latchkey/internal/headers"
	"github.com/latchkey-go/latchkey/internal/once"
	"github.com/latchkey-go/latchkey/internal/purposekey"
	"github.com/latchkey-go/latchkey/internal/reference"
	"github.com/latchkey-go/latchkey/internal/sessiondata"
	"github.com/latchkey-go/latchkey/internal/tokensource"
	"github.com/latchkey-go/latchkey/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// New checks the configuration, sets defaults, reads the environment and returns the Auth. Its error is a
// *[ConfigError] that lists all configuration errors. It sends no network requests.
func New(config Config) (*Auth, error) {
	c := config
	defaults(&c)
	faults := &ConfigError{pages: c.Pages, theme: c.Theme, views: c.Views, logger: c.Logger}
	codes := checkConfig(&c, config.Session.Strategy, faults)

	a := &Auth{log: &reporter{logger: c.Logger, debugging: c.Debug}, audience: c.Audience}
	a.validTokens.Now, a.validTokens.Max = c.Now, maxValidTokens
	calls := newWatch(&c, a.log)
	a.store = newStores(c.Store, calls, c.StoreTimeout)
	if a.store.Records != nil {
		a.store.Records = &cleanup.Records{RecordStore: a.store.Records}
	}
	a.site = newSite(&c, a.log, faults)
	a.mail = newMailQueue(&c, a)
	a.plugins.attach(a, &c, faults)
	a.providers = newProviders(&c, faults)
	a.plugins.addPasskeyDocuments(a.providers)
	a.plugins.checkIDTokens(a.providers, faults)
	watchProviders(a.providers, calls)
	data := dataOptions(&c, a.log, faults)
	needs := checkNeeds(&c, a, faults)
	seal := cookies.Sealer{Now: c.Now, Rand: c.Rand, Expired: errExpired}
	keys, _ := flowstate.NewKeys(a.site.secrets, seal) // an invalid secret is a configuration error already
	checks := &checks{Keys: keys}
	a.site.cookieSets = cookieSetsOf(&c, a.site.secrets, faults)
	a.site.pinnedPlace = a.site.placeOf(a.site.origins.Pinned)
	if a.misconfigured(faults) {
		return nil, faults
	}
	assemble(a, &c, needs, checks, faults)
	a.plugins.entry.checkMethods(faults)
	if a.misconfigured(faults) {
		return nil, faults
	}
	if data != nil {
		data.Revoked = a.sessions.revoked
		a.sessions.data = sessiondata.New(*data)
		c.Data.keptBy(a.sessions.data)
	}
	if a.realm = realmOf(a); newest.Add(&a.realm) {
		a.warnShared(context.Background())
	}
	a.plugins.limits.warnOfMissingProxies(a)
	announce(a, append(codes, needs.Warnings()...))
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

// newSite validates the settings for paths, origins and hosts.
func newSite(c *Config, log *reporter, faults *ConfigError) *site {
	s := &site{
		failures: reference.New(c.Now), redirect: c.Callbacks.Redirect, rand: c.Rand, log: log,
		bearers: c.Session.Bearer,
	}
	for _, secret := range c.Secrets {
		s.secrets = append(s.secrets, tokensource.BindSecret(c.Audience, string(secret)))
	}
	s.cors.Trusted = configcheck.TrustedOrigins(c.TrustedOrigins, faults.add)
	s.cors.Expose = "Retry-After, " + renewedField + ", WWW-Authenticate"
	s.appSchemes = configcheck.AppSchemes(c.AppSchemes, faults.add)
	if c.Audit != nil && len(s.secrets) > 0 {
		s.audit = &auditor.Auditor{
			Sink: auditSink(log, c.Audit), Now: c.Now, Secret: s.secrets[0], Tenant: c.Audience,
		}
	}
	s.decideLocale = c.Callbacks.Locale
	switch {
	case len(c.Locales) > 0:
		s.locales = locales.New(c.Locales, func(format string, args ...any) {
			faults.add(ErrInvalidConfig, "Locales"+format, args...)
		})
	case c.Callbacks.Locale != nil:
		faults.add(ErrInvalidConfig, "Callbacks.Locale selects from Config.Locales, which is empty: "+
			"list the languages there, for example locales.All()")
	}
	s.csrf = csrf.Guard{SameOrigin: c.CSRF.sameOrigin, Skip: c.CSRF.skip, Secrets: s.secrets, Rand: c.Rand}
	s.basePath, s.publicPath = configcheck.Paths(c.BasePath, c.PublicPath, faults.add)
	s.publicBase = s.publicPath + s.basePath
	s.origins.TrustHost = c.TrustHost == True || len(c.TrustedHosts) > 0
	s.origins.Proxies, s.origins.Derive = c.TrustedProxies, s.placeOf
	s.origins.TrustedHosts = configcheck.Hosts(c.TrustedHosts, faults.add)
	if origin, _, err := weburl.ParseOrigin(c.URL); c.URL != "" && err == nil { // readEnvironment has reported the error
		s.pinned, s.pinnedOrigin, s.origins.Pinned, s.origins.TrustHost = true, origin.String(), origin, true
	}
	s.unknownPlace = s.placeOf(weburl.Origin{})
	return s
}

// addPasskeyDocuments adds the documents of the passkey providers, unless a plugin has added one of that name.
func (ps *plugins) addPasskeyDocuments(providers []*provider) {
	var all []*RelyingParty
	for _, p := range providers {
		if p.webauthn != nil {
			all = append(all, &p.webauthn.ceremonies.RelyingParty)
		}
	}
	for name, body := range passkeys.Documents(all) {
		if _, taken := ps.documents[name]; !taken {
			ps.documents[name] = wellKnown{get: func(context.Context, string) (*Response, error) {
				return &Response{Body: slices.Clone(body), Header: headers.New("Content-Type", typeJSON)}, nil
			}}
		}
	}
}

// assemble creates the components of an Auth from a valid configuration.
func assemble(a *Auth, c *Config, needs *configcheck.Needs, checks *checks, faults *ConfigError) {
	var views []ui.Provider
	a.byID = make(map[string]*provider, len(a.providers))
	for _, p := range a.providers {
		a.byID[p.id] = p
		views = append(views, p.view)
	}
	a.pages = newPages(c, views)
	a.pages.style, a.pages.script = assets.Style.Address(a.site.publicBase), assets.Script.Address(a.site.publicBase)
	a.pages.sheet = assets.SheetStyle.Address(a.site.publicBase)
	a.refreshes = refresh.New(a.store.Accounts, c.Now)
	cleaning := newCleaning(c, a.store, a.plugins.tasks, a.log)
	facts := a.plugins.facts || c.Session.Revocation.On == True
	a.sessions = newSessions(c, checks.Sealer, a.site.secrets, a.store, cleaning, needs.VerifiesAddresses(), facts, a.log)
	a.sessions.jwt.KeepsUser = a.plugins.proves
	if a.sessions.impersonation = a.plugins.impersonation; a.sessions.impersonation != nil {
		a.site.actorOf = a.sessions.actorOf
	}
	if a.sessions.kept = a.plugins.kept; a.sessions.kept != nil {
		a.sessions.kept.provisional = a.plugins.provisional
	}
	a.pages.sessions, a.pages.plugins = a.sessions, &a.plugins
	a.sessions.providerLogouts = newProviderLogouts(c, a.providers, a.store.Records)
	a.site.returns = a.sessions.providerLogouts != nil
	a.linker = newLinker(c, a, needs.LinksAccounts())
	ends := &logouts{sessions: a.sessions, callback: c.Callbacks.BackChannelLogout}
	ends.used = once.Memory[string, struct{}]{Now: c.Now, Max: maxLogouts}
	entry := &signIns{
		gate: gatekeeper{c.Callbacks.SignIn}, linker: a.linker, sessions: a.sessions, pages: a.pages, events: &c.Events,
		store: a.store, plugins: &a.plugins,
	}
	asked := newLimits(c, a, a.plugins.knows)
	a.plugins.auth, a.plugins.entry, a.plugins.limits = a, entry, asked
	entry.codes = newEmailCodes(c, a, asked)
	a.plugins.completeOneTap(a)
	a.plugins.challenges = newChallenges(c, asked, newWatch(c, a.log))
	if facts {
		for _, own := range entry.reauthActions(a.providers) {
			a.plugins.add(&a.site.plugins, own)
		}
	}
	for _, p := range a.providers {
		p.flow = newFlow(c, a, p, checks, ends)
	}
	plain, secure := a.sessionCookie(a.site.cookieSets[0]), a.sessionCookie(a.site.cookieSets[1])
	a.tokens = tokensource.ReadersOf(plain, secure, a.site.bearers)
	a.router = newRouter(a, entry, ends, faults)
}

// newFlow creates the flow of a provider.
func newFlow(c *Config, a *Auth, p *provider, checks *checks, ends *logouts) flow {
	asked, challenges := a.plugins.limits, a.plugins.challenges
	switch {
	case p.oauth != nil:
		p.oauth.flow.Exchanges = a.sessions.exchanges
		return &oauthFlow{
			oauthClient: p.oauth, checks: checks, newUserID: accounts.UserIDs(c.Store != nil, c.Rand), ends: ends,
			plugins: &a.plugins,
		}
	case p.email != nil:
		secrets := a.site.secrets
		if p.email.Secret != "" {
			secrets = []string{string(p.email.Secret)}
		}
		f := &emailFlow{
			asked:         emaillinks.Asked{Secrets: a.site.secrets, Provider: p.id, MaxAge: p.email.MaxAge},
			EmailProvider: p.email, site: a.site, gate: a.plugins.entry.gate, limits: asked, users: a.store.Store,
			links: emaillinks.Tokens{Store: a.store.Tokens, Secrets: secrets, Life: p.email.MaxAge, Now: c.Now},
			pages: a.pages, challenges: challenges, cleaning: a.sessions.cleaning, sent: newSentLinks(c, a, p.email),
			sessions: a.sessions, used: &once.Memory[string, struct{}]{Now: c.Now},
		}
		if p.email.Code {
			f.codes = a.plugins.entry.codes
		}
		return f
	case p.webauthn != nil:
		return &passkeyFlow{
			webAuthn: p.webauthn, checks: checks, limits: asked, sessions: a.sessions, plugins: &a.plugins,
			stores: passkeys.Stores{Users: a.store.Store, Passkeys: a.store.Passkeys, Accounts: a.store.Accounts},
			now:    c.Now, rand: c.Rand,
		}
	}
	return &credentialsFlow{CredentialsProvider: p.credentials, site: a.site, limits: asked, challenges: challenges}
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
var newest realms.Newest

// realmOf describes an Auth for the warning about shared sessions.
func realmOf(a *Auth) realms.Auth {
	s := a.site
	addresses := append([]string{s.publicBase, s.basePath, s.pinnedOrigin}, s.origins.TrustedHosts...)
	return realms.Auth{
		Realm:     realms.Of(s.secrets[0], a.audience, s.cookieSets[1].Session.Name()),
		Encrypted: a.sessions.config.Strategy == StrategyJWT, Store: a.store.given,
		Site: strings.Join(addresses, " "), Logger: a.log.logger,
	}
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

func newSentLinks(c *Config, a *Auth, p *EmailProvider) *emaillinks.Sent {
	if a.store.Records == nil || a.plugins.limits.known == nil && !p.Code {
		return nil
	}
	life := p.MaxAge / 2
	if !p.Code {
		life = min(emaillinks.SentLife, life)
	}
	return &emaillinks.Sent{
		Records: a.store.Records, Secret: a.site.secrets[0], Provider: p.ID, Now: c.Now, Life: life,
	}
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
			key := func(bucket string) string { return purposekey.Digest(a.site.secrets[0], "budget", bucket) }
			l.builtIn = limit.NewShared(limiter, a.store.Records, key, c.Logger)
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
	counts := slices.ContainsFunc(a.plugins.actions, func(own *pluginAction) bool { return own.plugin != actions.Reauth })
	for _, p := range a.providers {
		counts = counts || p.credentials != nil || p.email != nil || p.webauthn != nil
	}
	if l.builtIn != nil && counts && len(a.site.origins.Proxies) == 0 && a.site.origins.Pinned.Scheme == "https" {
		a.log.warn(context.Background(), warnings.NoTrustedProxies, slog.String("hint", nameProxies))
	}
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
	self, ok := c.Store.(store.SelfCleaner)
	cleansItself := ok && self.CleansItself()
	if c.Store != nil && c.CleanUp != False && (c.CleanUp == True || !cleansItself) {
		cleaner = storecalls.New(c.Store, storecalls.Limited(kept.watch, 0)).Cleaner // a run has its own time limit
	}
	schedule := cleanup.New(cleaner, tasks, kept.Tokens, c.Now, log.cleaned)
	if records, ok := kept.Records.(*cleanup.Records); ok {
		records.Schedule = schedule
	}
	return schedule
}

// cleaned logs the result of a clean-up or of a task.
func (l *reporter) cleaned(ctx context.Context, r cleanup.Report) {
	switch {
	case r.Err != nil:
		l.failure(ctx, errormarks.As(r.Err, ErrStore), r.Attrs...)
	case r.Partly:
		l.info(ctx, "expired sessions and tokens are deleted in part, the rest in the next runs", r.Attrs...)
	default:
		l.debug(ctx, "expired sessions and tokens are deleted", r.Attrs...)
	}
}

func newEmailCodes(c *Config, a *Auth, asked *limits) *emailCodes {
	if a.store.Records == nil {
		return nil
	}
	return &emailCodes{
		&emailcode.Codes{Records: records.Of(a.store.Records), Secrets: a.site.secrets, Now: c.Now, Rand: c.Rand},
		&a.plugins, asked,
	}
}

// newWatch returns the reports to Config.Observe.
func newWatch(c *Config, log *reporter) observed.Calls {
	return observed.Calls{Observe: c.Observe, Outcome: verdict.OfCall, Panicked: func(ctx context.Context, err error) {
		log.failure(ctx, errorf(autherr.Event, "observe: %w", err))
	}}
}

// sessionCookie returns the session cookie of a set, for readers of tokens.
func (a *Auth) sessionCookie(set *cookies.Set) tokensource.Cookie[*Token] {
	return tokensource.Cookie[*Token]{
		Name: set.Session.Name(),
		Open: func(ctx context.Context, value string) (*Token, error) { return a.sessions.jwt.Valid(ctx, set, value) },
	}
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

// linkRefusal returns the error for an account that is, or may be, another person's.
func linkRefusal(r accounts.Refusal) error {
	if r.OtherSession {
		return NewError(autherr.InvalidCheck, errormarks.Over(errormarks.Used, errors.New(r.Text)))
	}
	of := ErrOAuthAccountNotLinked
	if r.Passkey {
		of = ErrAccountNotLinked
	}
	return NewError(of, &audit.Denial{Reason: audit.ReasonNotLinked, UserID: r.UserID, Err: errors.New(r.Text)})
}

// newLinker returns the linker of an Auth. open reports that the configuration has a provider of accounts or passkeys.
func newLinker(c *Config, a *Auth, open bool) *linker {
	l := &linker{
		store: a.store, sessions: a.sessions, events: &c.Events, plugins: &a.plugins,
		Linker: &accounts.Linker{
			Store: a.store.Stores, Within: func(tx Store) storecalls.Stores { return newStores(tx, a.store.watch, 0).Stores },
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
