package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/actions"
	"github.com/latchkey-go/latchkey/core/internal/auditor"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/purposekey"
	"github.com/latchkey-go/latchkey/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// PluginHost is the plugin host: the [Auth] as a plugin sees it. The methods that register something or declare what
// the plugin does may only be called in Attach, and panic later: those whose names begin with Add or On, and
// AcceptIDTokens, AllowImpersonation, EmailsLinks, EndsSessions, KeepSessions, NotifyMethodChanges, OfferOneTap,
// ProtectOrigins, RememberBrowsers, RequireRecentSignInToLink, TrackAuthentication, TrackPasskeys and VerifiesEmail.
// Records must be called there too, so that a missing store becomes a configuration error. Records and all other
// methods also work later and are safe for concurrent use. The fields are read-only: New sets them before Attach.
type PluginHost struct {
	// Auth is the Auth under construction. Its methods work after New has returned.
	Auth *Auth
	// BasePath is the prefix of all actions, as the application sees it.
	BasePath string
	// Strategy is the session strategy.
	Strategy Strategy
	// Theme is Config.Theme, for emails.
	Theme Theme
	// Locale is the language to use outside of a request, for example for an email that a background job sends. It is the
	// first entry of Config.Locales. The zero value is English.
	Locale ui.Locale
	// Locales is Config.Locales. A plugin that sends an email after the request stores the tag of ActionRequest.Locale and
	// finds the language here.
	Locales []ui.Locale

	// Now and Rand are the clock and the source of randomness from Config. Getenv reads an environment variable as New
	// does.
	Now    func() time.Time
	Rand   io.Reader
	Getenv func(name string) string
	// Logger is Config.Logger and never nil. Do not log secrets, tokens, codes or passwords.
	Logger *slog.Logger
	// HTTPClient is Config.HTTPClient. If it is nil, a plugin that sends requests must use its own client with timeouts.
	HTTPClient *http.Client

	// Store is Config.Store, or nil. Each call to it has the deadline Config.StoreTimeout. To use further interfaces of
	// package store, call Records or use the fields below: a type assertion on Store returns a store without deadlines.
	Store Store
	// Accounts, Authenticators, AuthenticatorDeleter, Transactor, UserDeleter and SessionLister are the optional
	// interfaces of the store: it can list accounts, store passkeys, delete passkeys, run transactions, delete users and
	// list sessions. A field is nil if the store does not implement the interface.
	Accounts             store.AccountStore
	Authenticators       store.AuthenticatorStore
	AuthenticatorDeleter store.AuthenticatorDeleter
	Transactor           store.Transactor
	UserDeleter          store.UserDeleter
	SessionLister        store.SessionLister
	// RecordLister lists records by kind. It is nil if the store does not implement it.
	RecordLister store.RecordLister
	// RecordPairs reads two records with one query. It is nil if the store does not implement it.
	RecordPairs store.RecordPairReader
	// UserFinder lists users. It is nil if the store does not implement it.
	UserFinder store.UserFinder
	// RequiresEmail reports that the store refuses users without an email address.
	RequiresEmail bool
	// Merge is Callbacks.Merge, or nil.
	Merge func(ctx context.Context, guest, existing *User) error

	faults       *ConfigError
	plugins      *plugins
	cookieDomain string // Cookies.SessionToken.Domain
	plugin       string // the plugin's name in configuration errors
	// provided lists the providers that the plugin has added.
	provided []Provider
	attached bool
}

// AddProvider adds a sign-in provider, as if it were in Config.Providers. If the plugin is a provider itself, p follows
// it; otherwise p follows all configured providers.
func (h *PluginHost) AddProvider(p Provider) {
	h.attaching("AddProvider")
	h.provided = append(h.provided, p)
}

// AddAction adds an action. An invalid action is a configuration error.
func (h *PluginHost) AddAction(a Action) {
	h.attaching("AddAction")
	table := &h.Auth.site.plugins
	own := actions.Action{
		Method: a.Method, Name: a.Name, Verb: a.Verb, Handled: a.Handle != nil, NoCookies: a.NoCookies, Input: a.Input,
		Guards: len(a.Require), NilGuard: slices.ContainsFunc(a.Require, func(g Guard) bool { return g == nil }),
	}
	faults := own.Faults(table, h.plugin)
	for _, reason := range faults {
		h.fault("action %q: %s", a.Method+" "+a.path(), reason)
	}
	if len(faults) > 0 {
		return
	}
	a.Require = slices.Clone(a.Require)
	h.plugins.add(table, &pluginAction{&a, h.plugin, actions.FieldsOf(a.Input)})
}

// add adds a valid action.
func (ps *plugins) add(table *actions.Table, a *pluginAction) {
	table.Add(a.plugin, a.Name, a.Verb, a.Method)
	ps.actions = append(ps.actions, a)
}

// AddTask adds periodic work of the plugin, such as emails that are due. Core calls run in the background, about every
// ten minutes while the site has requests, and in one process at a time if the store stores verification tokens. run
// has a minute; it must be idempotent, because it can be called twice, or be interrupted. An error is logged.
func (h *PluginHost) AddTask(run func(ctx context.Context) error) {
	h.attaching("AddTask")
	h.needs(run != nil, "the function of AddTask")
	name := "task of " + h.plugin
	h.plugins.tasks = append(h.plugins.tasks, func(ctx context.Context) error {
		return guard(name, func() error { return run(ctx) })
	})
}

// TrackAuthentication stores in every session when and how the user authenticated, as [Session] describes.
func (h *PluginHost) TrackAuthentication() {
	h.attaching("TrackAuthentication")
	h.plugins.facts = true
}

// EndsSessions declares that the plugin revokes sessions before they expire, for example after a password reset. Under
// [StrategyJWT] it enables Session.Revocation, unless the application has disabled it. If the store cannot store
// records, New returns a configuration error that names both fixes.
func (h *PluginHost) EndsSessions() {
	h.attaching("EndsSessions")
	if h.plugins.ends == "" {
		h.plugins.ends = h.plugin
	}
}

// OnEndSessions registers a function that ends the credentials which a user's sign-ins have created, such as the
// refresh tokens of apps. [Auth.EndSessions] calls it before it ends all sessions of a user, or all except one. If it
// returns an error, EndSessions returns that error.
func (h *PluginHost) OnEndSessions(end func(ctx context.Context, userID string) error) {
	h.attaching("OnEndSessions")
	h.needs(end != nil, "the function of OnEndSessions")
	h.plugins.enders = append(h.plugins.enders, end)
}

// RequireRecentSignInToLink requires that a signed-in user has authenticated within d before an account or a passkey is
// linked to them. Otherwise an attacker at an unlocked computer could add a sign-in method for themselves. d must be
// positive. If several plugins call RequireRecentSignInToLink, the shortest duration applies. RequireRecentSignInToLink
// also calls TrackAuthentication; a session without facts counts as too old.
func (h *PluginHost) RequireRecentSignInToLink(d time.Duration) {
	h.TrackAuthentication()
	if d <= 0 {
		h.fault("RequireRecentSignInToLink: the duration is %s: pass a positive one", d)
	}
	if h.plugins.freshLinks == 0 || d < h.plugins.freshLinks {
		h.plugins.freshLinks = d
	}
}

// RememberBrowsers makes core remember the browsers in which users have signed in with credentials, so that an attacker
// who guesses passwords cannot lock the user out of a known browser. It has no effect if Config.Limits.KnownBrowsers is
// False.
func (h *PluginHost) RememberBrowsers() {
	h.attaching("RememberBrowsers")
	h.plugins.knows = true
}

// EmailsLinks declares that the plugin emails links that grant access, for example to set a new password. An attacker
// who sends the request must not choose the host of such a link. Therefore a configuration that trusts any Host header
// is a configuration error, which names the fixes: URL and TrustedHosts. Without TrustHost core accepts only loopback
// hosts, which is safe in development.
func (h *PluginHost) EmailsLinks() {
	h.attaching("EmailsLinks")
	s := h.Auth.site
	if s.origins.TrustHost && !s.pinned && len(s.origins.TrustedHosts) == 0 {
		h.fault("it emails links, and TrustHost (or AUTH_TRUST_HOST, VERCEL, CF_PAGES in the environment) trusts any " +
			"Host header, so that an attacker could choose the host of a password reset link: set URL " +
			"(AUTH_URL=https://app.example) or TrustedHosts")
	}
}

// AddConfigError reports a configuration error. problem names the field and the fix, for example "Mailer is nil: set
// one, as …".
func (h *PluginHost) AddConfigError(problem string) {
	h.attaching("AddConfigError")
	h.fault("%s", problem)
}

func (h *PluginHost) fault(format string, args ...any) {
	h.faults.add(ErrInvalidConfig, "%s: %w", h.plugin, fmt.Errorf(format, args...))
}

// needs reports a configuration error if there is no function. It is never called then, because New fails.
func (h *PluginHost) needs(there bool, what string) {
	if !there {
		h.fault("%s is nil: set it", what)
	}
}

// attaching panics if Attach has returned, because the Auth is immutable from then on.
func (h *PluginHost) attaching(method string) {
	if h.attached {
		panic("core: Host." + method + " was called after Attach: call it in Attach")
	}
}

// Records returns the store's records. If the configuration has no Store, or a Store without records, a call in Attach
// adds a configuration error and returns nil.
func (h *PluginHost) Records() store.RecordStore {
	records := h.Auth.store.Records
	switch {
	case records != nil || h.attached:
	case h.Auth.store.given == nil:
		h.faults.add(ErrMissingStore, "%s needs a Store: set Config.Store", h.plugin)
	default:
		h.faults.add(ErrMissingStoreMethods, "%s needs a Store that implements store.RecordStore (package core/store): "+
			"%T does not", h.plugin, h.Auth.store.given)
	}
	return records
}

// NewToken returns a secret for a link or a cookie: 256 bits from Config.Rand, as 43 characters of base64url. Store its
// [PluginHost.Digest] in a record, not the token itself. The error is that of the source of randomness.
func (h *PluginHost) NewToken() (string, error) { return randomText(h.Rand) }

// Audit reports a decision that was made outside of a request to Config.Audit. Within a request use
// [ActionRequest.Audit].
func (h *PluginHost) Audit(ctx context.Context, e audit.Event) {
	noteAt(ctx, h.Auth.site.audit, nil, e)
}

// OnAudit registers a function that receives each audit event after Config.Audit, under the same rules: it is called
// synchronously and concurrently, after the change is committed, and a panic is logged.
func (h *PluginHost) OnAudit(receive func(ctx context.Context, e audit.Event)) {
	h.attaching("OnAudit")
	if h.needs(receive != nil, "the function of OnAudit"); receive == nil { // New reports configuration errors to it
		return
	}
	s, sink := h.Auth.site, auditSink(h.Auth.log, receive)
	switch {
	case s.audit != nil:
		first := s.audit.Sink
		s.audit.Sink = func(ctx context.Context, e audit.Event) {
			first(ctx, e)
			sink(ctx, e)
		}
	case len(s.secrets) > 0: // without secrets there is no Auth
		s.audit = &auditor.Auditor{Sink: sink, Now: h.Now, Secret: s.secrets[0], Tenant: h.Auth.audience}
	}
}

// ProviderInfo is the public information about a configured provider, as in the response of GET providers.
type ProviderInfo struct {
	// ID is the provider's ID. Name is shown to users.
	ID, Name string
	// Type is the provider's type.
	Type ProviderType
	// Style is the look of the provider's button, with its logo.
	Style Style
	// SignUp is [WebAuthnProvider].SignUp.
	SignUp string
}

// Providers returns the configured providers, including those that plugins have added, in the order of the sign-in
// page. Call it after New has returned. The caller may modify the slice.
func (h *PluginHost) Providers() []ProviderInfo {
	all := make([]ProviderInfo, len(h.Auth.providers))
	for i, p := range h.Auth.providers {
		all[i] = ProviderInfo{ID: p.id, Name: p.name, Type: p.kind, Style: p.view.Style}
		if p.webauthn != nil {
			all[i].SignUp = p.webauthn.SignUp
		}
	}
	return all
}

// Plugins returns the plugins of this Auth, in the order of Config.Providers and then Config.Plugins. A plugin uses it
// to find other plugins that implement one of its interfaces. Call it after New has returned. The caller may modify the
// slice.
func (h *PluginHost) Plugins() []Plugin { return slices.Clone(h.plugins.attached) }

// URL returns the absolute URL of an action for use outside of a request, for example in an email that a background job
// sends. It consists of Config.URL, the base path and the action. query lists the names and values of parameters. If
// Config.URL is not set the origin is unknown, and URL returns an error.
func (h *PluginHost) URL(action string, query ...string) (string, error) {
	if !h.Auth.site.pinned {
		return "", errors.New("core: the URL of this site is only known during a request: " +
			"set Config.URL or AUTH_URL")
	}
	return weburl.AddQuery(h.Auth.site.pinnedOrigin+h.Auth.site.publicBase+"/"+action, query...)
}

// Encrypt encrypts v as JSON. [PluginHost.Decrypt] with the same purpose decrypts it until expires, which is rounded
// down to the second; the zero time means no expiry.
//
// The key is derived from Config.Secrets, Config.Audience and purpose, a text that the plugin chooses, such as "totp
// secret". The newest secret encrypts; all secrets decrypt. The result is ASCII text, about 200 bytes longer than 4/3
// of the JSON, and can be used in a URL, a cookie or a record. It can be used any number of times until it expires.
func (h *PluginHost) Encrypt(purpose string, v any, expires time.Time) (string, error) {
	return h.plugins.seals.Encrypt(purpose, v, expires)
}

// Decrypt decrypts a text that Encrypt returned for the same purpose, and stores the value in v, a pointer. It returns
// an error if the text was made for another purpose, if its secret is no longer configured, or if it has expired. The
// error does not reveal the content.
func (h *PluginHost) Decrypt(purpose, sealed string, v any) error {
	return h.plugins.seals.Decrypt(purpose, sealed, v)
}

// Digest returns a message authentication code of text (HMAC-SHA-256, RFC 2104) in base64url. The key is derived from
// purpose and the newest entry of Config.Secrets. Use it for example as the key of a record, so that an attacker who
// reads the store learns nothing about text. After a rotation of the secrets, [PluginHost.Digests] returns the older
// values too.
func (h *PluginHost) Digest(purpose, text string) string {
	if len(h.plugins.seals.Secrets) == 0 { // New reports that
		return ""
	}
	return purposekey.Digest(h.plugins.seals.Secrets[0], purpose, text)
}

// Digests returns the digests of text under all entries of Config.Secrets, the newest first.
func (h *PluginHost) Digests(purpose, text string) []string {
	return purposekey.Digests(h.plugins.seals.Secrets, purpose, text)
}

// FindRecord returns the unexpired record of a kind with one of the digests as its key: those of [PluginHost.Digests],
// so that records from before a rotation of the secrets are found. It returns [ErrNotFound] if there is none. records
// are those of the host or of a transaction.
func (h *PluginHost) FindRecord(
	ctx context.Context, records store.RecordStore, kind string, digests ...string,
) (*store.Record, error) {
	for _, key := range digests {
		r, err := records.Record(ctx, kind, key)
		if err == nil && r.Expires.After(h.Now()) {
			return r, nil
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, fmt.Errorf("record of kind %s: %w", kind, err)
		}
	}
	return nil, ErrNotFound
}

// noRequest returns the arrival of a notice outside of a request.
func (h *PluginHost) noRequest() *arrival {
	v := h.Auth.site.unsettled(&Request{})
	if h.Auth.site.pinned {
		v.place = h.Auth.site.pinnedPlace // shared and immutable
	}
	return &v
}
