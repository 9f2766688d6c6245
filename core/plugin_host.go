package core

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/jwe"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
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

// ProviderInfo is what anybody may know of a configured provider, as GET providers tells it.
type ProviderInfo struct {
	// ID is the provider's, Name what people call it.
	ID, Name string
	// Type is its kind.
	Type ProviderType
}

// Providers are the configured providers, those of parts among them, in the order of the sign-in page. They are known
// once New has returned. The slice is the caller's.
func (h *Host) Providers() []ProviderInfo {
	all := make([]ProviderInfo, len(h.Auth.providers))
	for i, p := range h.Auth.providers {
		all[i] = ProviderInfo{ID: p.id, Name: p.name, Type: p.kind}
	}
	return all
}

// URL is the absolute address of an action outside of a request, for letters that a program sends: Config.URL, the
// base path and the action, with parameters as names and values. An error: Config.URL is not set, so nobody knows the
// origin.
func (h *Host) URL(action string, query ...string) (string, error) {
	if !h.Auth.site.pinned {
		return "", errors.New("core: the address of this site is known while a request is answered and not otherwise: " +
			"set Config.URL or AUTH_URL")
	}
	return weburl.AddQuery(h.Auth.site.pinnedOrigin+h.Auth.site.publicBase+"/"+action, query...)
}

// partSeals seals for parts, with keys for each purpose.
type partSeals struct {
	secrets  []string
	rand     io.Reader
	now      func() time.Time
	keyrings sync.Map // of *jwe.Keyring by purpose
}

func (s *partSeals) keys(purpose string) (*jwe.Keyring, error) {
	if keys, ok := s.keyrings.Load(purpose); ok {
		return keys.(*jwe.Keyring), nil
	}
	keys, err := jwe.NewKeyring(s.secrets, "latchkey "+purpose)
	if err != nil {
		return nil, fmt.Errorf("core: keys of a part: %w", err)
	}
	s.keyrings.Store(purpose, keys)
	return keys, nil
}

// Seal encrypts v as JSON, so that [Host.Open] with the same purpose reads it until expires, to the second; zero: for
// ever. The key is derived from Config.Secrets for the purpose, a text of the part's own such as "totp secret", and for
// Config.Audience; the newest secret seals and all open. The result is ASCII of about 200 bytes more than 4/3 of the
// JSON, and fits into a URL, a cookie or a record. Who holds it can present it as often as they like.
func (h *Host) Seal(purpose string, v any, expires time.Time) (string, error) {
	return h.parts.seals.seal(purpose, v, expires)
}

// Open reads into v, a pointer, what Seal has sealed for the purpose. The error says nothing of what is in it: it was
// made for something else, with a secret that is gone, or has expired.
func (h *Host) Open(purpose, sealed string, v any) error {
	return h.parts.seals.open(purpose, sealed, v)
}

func (s *partSeals) seal(purpose string, v any, expires time.Time) (string, error) {
	keys, err := s.keys(purpose)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("core: seal: %w", err)
	}
	payload := append(exactjson.AppendName([]byte{'{'}, "v"), text...)
	if !expires.IsZero() {
		payload = strconv.AppendInt(exactjson.AppendName(payload, "exp"), expires.Unix(), 10)
	}
	var iv jwe.IV
	if err := fillRandom(s.rand, iv[:]); err != nil {
		return "", err
	}
	sealed, err := keys.Seal(iv, append(payload, '}'))
	if err != nil {
		return "", errorf(ErrAuth, "%w", err)
	}
	return sealed, nil
}

func (s *partSeals) open(purpose, sealed string, v any) error {
	keys, err := s.keys(purpose)
	if err != nil {
		return err
	}
	payload, err := keys.Open(sealed)
	if err != nil {
		return fmt.Errorf("core: open: %w", err)
	}
	var t Token
	if err := t.readClaims(payload, false); err != nil {
		return fmt.Errorf("core: open: %w", err)
	}
	if !t.Expires.IsZero() && !t.Expires.After(s.now()) {
		return errExpired
	}
	if raw, ok := t.Extra["v"]; !ok || json.Unmarshal(raw, v) != nil {
		return errors.New("core: open: the value is not of this shape")
	}
	return nil
}

// Digest is an authentication code over a text (HMAC-SHA-256, RFC 2104), in base64url, with a key derived from the
// newest of Config.Secrets for the purpose: the key of a record that is to tell a reader of the store nothing, for
// example. [Host.Digests] finds it again when the secrets have been rotated.
func (h *Host) Digest(purpose, text string) string {
	return digest(h.parts.seals.secrets[0], purpose, text)
}

// Digests are the digests of a text by all of Config.Secrets, that of the newest first.
func (h *Host) Digests(purpose, text string) []string {
	all := make([]string, len(h.parts.seals.secrets))
	for i, secret := range h.parts.seals.secrets {
		all[i] = digest(secret, purpose, text)
	}
	return all
}

func digest(secret, purpose, text string) string {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "latchkey digest "+purpose, sha256.Size)
	if err != nil { // only a length that SHA-256 cannot give, and a FIPS module that refuses the secret
		panic(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
