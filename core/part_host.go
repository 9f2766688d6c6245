package core

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// Host is the [Auth] as a [Part] sees it. Provider, Action, Facts and Fault are for Attach, and Records has to be asked
// for there, for the fault that it may report. The services work afterwards too, and are safe for concurrent use. Its
// fields are for reading: New has set them before Attach, and nothing sets them again.
type Host struct {
	// Auth is the Auth that is being made. Its methods work once New has returned.
	Auth *Auth
	// BasePath is the prefix of all actions as the application sees it.
	BasePath string
	// Strategy is where sessions live.
	Strategy Strategy
	// Theme is Config.Theme, for letters.
	Theme Theme
	// Locale is the language of what no request has led to, letters that a program sends for example: the first of
	// Config.Locales. Zero: English.
	Locale ui.Locale

	// Now is the clock of Config, Rand its source of randomness. Getenv reads the environment as New does.
	Now    func() time.Time
	Rand   io.Reader
	Getenv func(name string) string
	// Logger is that of Config, never nil. What is logged holds no secret, token, code or password.
	Logger *slog.Logger
	// HTTPClient is Config.HTTPClient, nil where it is not set: a part that sends requests brings a client with deadlines
	// then.
	HTTPClient *http.Client

	// Store is Config.Store, nil without one. Each of its calls has the deadline of Config.StoreTimeout. Ask it for
	// further interfaces of package store by Records and the fields below only: what a type assertion finds has no
	// deadline.
	Store Store
	// Accounts, Authenticators, AuthenticatorDeleter, Transactor, UserDeleter and SessionLister are the store as it lists
	// accounts, keeps passkeys, removes them, has transactions, deletes users and lists sessions; nil where it does not.
	Accounts             store.AccountStore
	Authenticators       store.AuthenticatorStore
	AuthenticatorDeleter store.AuthenticatorDeleter
	Transactor           store.Transactor
	UserDeleter          store.UserDeleter
	SessionLister        store.SessionLister

	faults *ConfigError
	parts  *parts
	part   string // as faults name it
	// provided are the providers that the part adds.
	provided []Provider
	attached bool
}

// Provider adds a way to sign in, as if it stood in Config.Providers: behind the part, where that is a provider itself,
// else behind all others.
func (h *Host) Provider(p Provider) {
	h.attaching("Provider")
	h.provided = append(h.provided, p)
}

// Action adds an action. What is wrong with it is a fault of the configuration.
func (h *Host) Action(a Action) {
	h.attaching("Action")
	h.parts.add(h, &a)
}

// Facts has the sessions of this Auth carry facts: when and how their visitors proved who they are.
func (h *Host) Facts() {
	h.attaching("Facts")
	h.parts.facts = true
}

// EndsSessions declares that the plugin ends sessions before they expire, after a password reset for example. Under
// [StrategyJWT] it switches Session.Revocation on, unless the application has switched it off. If the store cannot keep
// records, New returns an error that names both fixes.
func (h *Host) EndsSessions() {
	h.attaching("EndsSessions")
	if h.parts.ends == "" {
		h.parts.ends = h.part
	}
}

// CanEndSessions reports whether this configuration can end the sessions of a user before they expire. It is known once
// New has returned. Texts that promise the end of sessions depend on it.
func (h *Host) CanEndSessions() bool { return h.Auth.sessions.canEnd() }

// FreshLinks has an account or a passkey added to the user who is signed in only where they have proved who they are
// within d, a positive time: an open session that somebody else comes upon is not enough to make a way in of their own.
// Of several parts the shortest time counts. It calls Facts; a session without facts counts as old.
func (h *Host) FreshLinks(d time.Duration) {
	h.Facts()
	if h.parts.freshLinks == 0 || d < h.parts.freshLinks {
		h.parts.freshLinks = d
	}
}

// KnownBrowsers has the browsers of those who sign in by credentials remembered, so that strangers who guess at a name
// do not lock out its owner, unless Config.Limits.KnownBrowsers is Off.
func (h *Host) KnownBrowsers() {
	h.attaching("KnownBrowsers")
	h.parts.knows = true
}

// EmailsLinks declares that the plugin emails links that carry rights, to choose a new password for example. An
// attacker who sends the request must not choose the host of such a link. Therefore a configuration that trusts any
// Host header is an error, which names the fixes, URL and TrustedHosts. Without TrustHost core answers only loopback
// hosts, which is safe in development.
func (h *Host) EmailsLinks() {
	h.attaching("EmailsLinks")
	s := h.Auth.site
	if s.origins.TrustHost && !s.pinned && len(s.origins.TrustedHosts) == 0 {
		h.fault("it emails links, and TrustHost (or AUTH_TRUST_HOST, VERCEL, CF_PAGES in the environment) believes " +
			"any Host " +
			"header, so that an attacker could choose where a link to a new password leads: set URL " +
			"(AUTH_URL=https://app.example) or TrustedHosts")
	}
}

// Fault reports a fault of the configuration. problem names the field and the fix: "Mailer is nil: set one, as …".
func (h *Host) Fault(problem string) {
	h.attaching("Fault")
	h.fault("%s", problem)
}

func (h *Host) fault(format string, args ...any) {
	h.faults.add(ErrInvalidConfig, "%s: %w", h.part, fmt.Errorf(format, args...))
}

// attaching panics where a part registers something after Attach: the Auth is immutable.
func (h *Host) attaching(method string) {
	if h.attached {
		panic("core: Host." + method + " is called after Attach, when the Auth is made: call it in Attach")
	}
}

// Records returns the store's records. In Attach, a missing Store, or one without records, is a configuration error,
// and Records returns nil.
func (h *Host) Records() store.RecordStore {
	records := h.Auth.store.records
	switch {
	case records != nil || h.attached:
	case h.Auth.store.given == nil:
		h.faults.add(ErrMissingStore, "%s needs a Store: set Config.Store", h.part)
	default:
		h.faults.add(ErrMissingStoreMethods, "%s needs a Store that is a store.RecordStore too (package core/store): "+
			"%T is not", h.part, h.Auth.store.given)
	}
	return records
}

// NewToken makes the secret of a link or a cookie: 256 random bits from Config.Rand, as 43 characters of base64url.
// Keep its [Host.Digest] in a record rather than the token. An error is that of the source of randomness.
func (h *Host) NewToken() (string, error) { return randomText(h.Rand) }

// Audit tells Config.Audit of a decision that was made outside of a request; in one it is [Call.Audit].
func (h *Host) Audit(ctx context.Context, e AuditEvent) { h.Auth.site.audit.note(ctx, nil, e) }
