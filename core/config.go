package core

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// Strategy is where sessions live.
type Strategy string

// The strategies (docs/protocol.md §7.1).
const (
	// StrategyJWT keeps the session in an encrypted cookie.
	StrategyJWT Strategy = "jwt"
	// StrategyDatabase keeps it in the store; the cookie holds a random token.
	StrategyDatabase Strategy = "database"
)

// Always as an UpdateAge extends a session at every read.
const Always time.Duration = -1

// Config says what an [Auth] does; docs/reference.md lists the defaults. The zero value of every field but Providers
// and Secrets is a sound default. New copies it; changing it afterwards has no effect.
type Config struct {
	// Providers are the ways to sign in, in the order of the sign-in page.
	Providers []Provider
	// Parts add actions, providers and rules of their own, in this order: passwords, an account page, a second factor. A
	// Provider that is a [Part] too stands among the Providers and not here.
	Parts []Part
	// Store keeps users, accounts, sessions and sign-in tokens; nil: nothing is kept and sessions are jwt.
	Store Store
	// StoreTimeout is how long a call of the Store may take, a whole transaction being one; zero: 5 seconds, negative: as
	// long as the request lasts. A request whose store does not answer in time is answered 503.
	StoreTimeout time.Duration
	// CleanUp deletes sessions and sign-in tokens an hour after they have expired. Auto: on where the Store is a
	// [store.Cleaner] whose engine does not remove them by itself. A request that writes one of them starts it every ten
	// minutes or so, beside itself, for a minute at most; a record among the tokens of the Store says which process has
	// the turn.
	CleanUp Toggle
	// Secrets encrypt and sign, the newest first: new tokens use the first, all are accepted. Each has 32 bytes or more of
	// randomness. Environment: AUTH_SECRET, with AUTH_SECRET_1, _2, _3 in front of it.
	Secrets []Secret

	// URL pins the public origin, and with a path the base path: "https://app.example" or "https://app.example/auth".
	// Environment: AUTH_URL, or its old name NEXTAUTH_URL.
	URL string
	// BasePath is the prefix of all actions, "/auth" when empty: the path at which the application sees them.
	BasePath string
	// PublicPath is the prefix that a proxy in front removes from the path of requests, "/app" where
	// https://app.example/app/auth arrives as /auth; empty: none. Browsers are sent to addresses that have it. A URL with
	// a path has it too: "https://app.example/app/auth".
	PublicPath string
	// Audience binds keys, tokens and cookies to this Auth: where several in one process or cluster share a secret
	// (tenants, a shop and its back office), those of different audiences accept nothing of each other's, neither sessions
	// nor tokens nor links in mails, and on one host none overwrites the cookies of another. Any text; empty: as Auth.js,
	// all Auths with the secret are one. Changing it ends all sessions, and Auth.js reads none of them.
	Audience string
	// TrustHost believes the Host header and the forwarded headers of a request. The server in front must set these
	// headers. Without it, and without URL or TrustedHosts, only loopback hosts are answered (localhost, *.localhost,
	// 127.0.0.0/8, [::1]), and none through a server in front; New warns. Environment: AUTH_TRUST_HOST=true; VERCEL and
	// CF_PAGES, which these platforms set, do the same.
	TrustHost Toggle
	// TrustedHosts are the only hosts that are believed: "app.example", "*.preview.app.example". It implies TrustHost.
	TrustedHosts []string
	// TrustedProxies are the peers whose forwarded headers are believed. If it is empty all are, when hosts are trusted at
	// all. For a proxy that connects over a Unix socket add [UnixSockets]() or a loopback address.
	TrustedProxies []netip.Prefix

	// TrustedOrigins are front ends on other origins, "https://app.example", whose scripts may ask the auth routes: they
	// get CORS headers, with credentials, and their posts count as those of this site, whose CSRF token they repeat. An
	// origin on another subdomain works as it is; one on another site sends no cookie that is not SameSite=None
	// (Config.Cookies) and is better off with Session.Bearer. Visitors are sent there only where Callbacks.Redirect lets
	// them. Empty: none.
	TrustedOrigins []string

	// Session, JWT, Pages and Cookies hold the options of these parts.
	Session SessionConfig
	JWT     JWTConfig
	Pages   PagesConfig
	Cookies CookiesConfig
	// UseSecureCookies sets Secure and the name prefixes. Auto: on https origins.
	UseSecureCookies Toggle
	// Theme is the look of the built-in pages and letters.
	Theme Theme
	// AppSchemes are custom URL schemes of native apps, such as "com.example.app" (RFC 8252 section 7.1). The browser
	// may be redirected to URLs with these schemes by callbackUrl, Callbacks.Redirect and [GoTo]. Any app can claim a
	// scheme, so never put a token into such a URL. Schemes of browsers and of the system (javascript, data, blob,
	// file, intent and others) are a configuration error. Default: none.
	AppSchemes []string
	// Locales are the languages of pages, letters and problem documents, of package ui/locales or of the application's
	// own; the first is for visitors who want none of them. Each request has its language: that of Callbacks.Locale, else
	// of the parameter ui_locales or lang of the auth routes, which a cookie remembers, else of Accept-Language. Nil:
	// English, and nothing is looked at.
	Locales []ui.Locale
	// Views replace built-in pages by components of the application's own; a nil field keeps ours.
	Views ui.Views

	// Callbacks decide, Events report.
	Callbacks Callbacks
	Events    Events
	// Audit is told of every decision about somebody's access, within the request that it was made in and after what it
	// tells of was committed, concurrently; nil: of none, at no cost. [AuditTo] writes them to a log. A panic in it is
	// logged and changes nothing; a sink that may be slow, or that must not lose an event, brings a queue of its own.
	Audit func(ctx context.Context, e AuditEvent)
	// Observe is told, concurrently, when a call to the store or to a provider begins, and returns the context that the
	// call gets, nil for the one it has, and what is told how the call ended, nil for nothing; nil: of none, at no cost.
	// Both run beside what a visitor waits for. A panic in them is logged and changes nothing. The modules
	// observe/prometheus and observe/otel set it.
	Observe func(ctx context.Context, c ObservedCall) (context.Context, func(CallOutcome))

	// RedirectProxyURL is the full URL of the auth routes of a deployment with a stable address, through which providers
	// answer to previews: "https://auth.example/auth". Environment: AUTH_REDIRECT_PROXY_URL.
	RedirectProxyURL string
	// RedirectProxyTargets are the origins that receive callbacks from the redirect proxy: "https://app.example",
	// "https://*.preview.app.example". Set it in the proxy only, together with RedirectProxyURL. If it is empty, the
	// proxy forwards nothing.
	RedirectProxyTargets []string

	// EnableWebAuthn allows providers of type webauthn. The default is false, as in Auth.js.
	EnableWebAuthn bool

	// CSRF says what proves that a POST comes from this site; zero: the token of the CSRF cookie, repeated in the body.
	// Others are [CSRFTokenOrSameOrigin] and [InsecureSkipCSRFCheck].
	CSRF CSRFPolicy
	// InsecureShortSecrets lets secrets of fewer than 32 bytes pass, for a migration; they can be guessed.
	InsecureShortSecrets bool

	// Data is a *[Data], which gives sessions data of the application's own; nil: none.
	Data SessionData

	// Mail has the options of emails that plugins send in the background.
	Mail MailConfig

	// Limits bound what visitors can guess and what costs something; zero: by the figures of [Limiter], counted in this
	// process. Where Callbacks.Limit is set it decides alone, unless Shared or Rates is set: then both are asked.
	Limits Limits
	// InsecureNoLimits leaves attempts unlimited where Callbacks.Limit is nil: for tests and measurements, or where
	// something in front of the application counts them. Passwords can then be guessed and mailboxes flooded.
	InsecureNoLimits bool

	// Logger receives errors, warnings and debug lines; nil: slog.Default.
	Logger *slog.Logger
	// Debug logs the steps of sign-ins and sign-outs at level debug: the member names of token responses, the mapped user,
	// the decision of account linking, the issued session. Lines contain personal data, but no secrets or tokens.
	Debug bool
	// HTTPClient is used for all providers; nil: a client with deadlines, bounds and an address guard.
	HTTPClient *http.Client
	// Now is the clock, nil: time.Now. Rand is the source of randomness, nil: crypto/rand. Getenv reads the environment in
	// New, nil: os.Getenv. All three are for tests.
	Now    func() time.Time
	Rand   io.Reader
	Getenv func(string) string
}

// SessionConfig has the options of sessions.
type SessionConfig struct {
	// Strategy is where sessions live; empty: StrategyDatabase when the Store keeps sessions (it is a store.SessionStore),
	// else StrategyJWT. It decides what callbacks get: under StrategyJWT Callbacks.JWT shapes the token and
	// Callbacks.Session gets it; under StrategyDatabase there is no token, Callbacks.JWT never runs, and Callbacks.Session
	// gets the stored user and the session record. A Callbacks.JWT is a fault where Strategy is empty and means
	// StrategyDatabase, and a warning where it says so.
	Strategy Strategy
	// MaxAge is how long a session lasts without use; zero: 30 days.
	MaxAge time.Duration
	// UpdateAge is how old a session gets before it is extended; zero: one day, [Always]: at every read.
	UpdateAge time.Duration
	// AbsoluteMaxAge is how long a session lasts at most, however much it is used; zero: as long as it is used. Sessions
	// remember when they began from the moment this is set.
	AbsoluteMaxAge time.Duration
	// GenerateToken makes the token of a database session; nil: a random UUID.
	GenerateToken func() (string, error)
	// MaxPerUser is how many sessions a user has at most under StrategyDatabase; zero: any number. A sign-in that makes
	// one more ends those that would end first, which are those that were used least recently, the other devices of the
	// user. It reads the list of the user's sessions each time. The Store has to be a [store.SessionLister].
	MaxPerUser int
	// HashTokens stores the SHA-256 of session tokens in place of the tokens, so that a reader of the database cannot use
	// them. Switching it on or off ends all database sessions, and Auth.js cannot read them.
	HashTokens bool
	// Revocation ends sessions of StrategyJWT before they expire. The zero value switches it on if a plugin ends sessions,
	// as packages password and account do, and off otherwise, as with Auth.js. Under StrategyDatabase sessions end with
	// their record.
	Revocation Revocation
	// Bearer lets clients that are no browsers present the session token in the header "Authorization: Bearer": to pages
	// behind the hook, to guards and to the auth routes, in place of the cookie, which does not count then. Nothing is set
	// in a cookie for them, and GET session answers with the token to go on with in the header Set-Auth-Token. Who hands
	// them the first token is the application ([Auth.RawToken] has that of a request). false: the header is ignored.
	Bearer bool
}

// Revocation has the options for ending sessions of StrategyJWT before they expire: by [Auth.EndSessions], by plugins,
// by a sign-out, by a back-channel logout. A session ends immediately in the process that ends it, and within Every in
// the other processes.
//
// The check fails open: if the store is unavailable, a process accepts the sessions that others have ended since it
// last read the list. Set Strict to fail closed.
type Revocation struct {
	// On switches revocation on or off. The default, [Auto], switches it on if a plugin has called [Host.EndsSessions]. It
	// needs a Store that is a [store.RecordStore]; New returns an error if the Store is not one. Off means that a copied
	// cookie stays valid until it expires, even after a password reset. Set Off while Auth.js serves the same users,
	// because Auth.js accepts sessions that were ended here. Under StrategyDatabase, On is an error.
	On Toggle
	// Every is how long it takes at most until the other processes know; zero: 5 seconds. While sessions are read, a
	// process asks the store twice in that time, by one look-up, and not at all while none is.
	Every time.Duration
	// Strict decides what happens if a process could not read the list of ended sessions for a minute. If true, reading
	// a session fails, as with a store that is unavailable. If false, the process continues with the last list that it
	// read.
	Strict bool
}

// JWTConfig has the options of session tokens.
type JWTConfig struct {
	// MaxAge is the lifetime of a token; zero: that of the session.
	MaxAge time.Duration
	// Revoked is asked at each read whether a genuine token has been revoked, by its ID (jti) or Subject and IssuedAt for
	// example; nil: never. An error is answered like a store that fails: the session stays.
	Revoked func(ctx context.Context, token *Token) (bool, error)
	// Encode and Decode replace the encryption of session tokens; set both or none.
	Encode func(ctx context.Context, p EncodeParams) (string, error)
	Decode func(ctx context.Context, p DecodeParams) (*Token, error)
}

// EncodeParams is a token to be encoded.
type EncodeParams struct {
	Token   *Token
	Secrets []Secret
	Salt    string
	MaxAge  time.Duration
}

// DecodeParams is a token to be decoded.
type DecodeParams struct {
	Token   string
	Secrets []Secret
	Salt    string
}

// PagesConfig sends browsers to pages of the application in place of the built-in ones: paths or URLs, queries are
// kept.
type PagesConfig struct {
	// SignIn gets callbackUrl and, after a failure, error and code; from a guard the error is SessionRequired. SignOut is
	// the confirmation page. Error gets error. VerifyRequest says that a mail is on its way. NewUser greets a user at the
	// first sign-in and gets callbackUrl.
	SignIn, SignOut, Error, VerifyRequest, NewUser string
}

// CookiesConfig changes cookies; empty fields keep the defaults of docs/protocol.md §3. The name of a sealed cookie is
// part of its key: renaming the session cookie ends all sessions.
type CookiesConfig struct {
	SessionToken, CallbackURL, CSRFToken, PKCECodeVerifier, State, Nonce, WebAuthnChallenge CookieOptions
}

// CookieOptions changes one cookie.
type CookieOptions struct {
	// Name includes its prefix, "__Secure-" or "__Host-", if any.
	Name string
	// Domain and Path are the attributes. A "__Host-" cookie can have neither.
	Domain, Path string
	// MaxAge is the Max-Age attribute; zero: 15 minutes for check cookies, none for others. Sessions end by their own
	// MaxAge.
	MaxAge time.Duration
	// SameSite is "lax", "strict" or "none".
	SameSite string
	// HTTPOnly and Secure are the attributes; Auto: on, and as UseSecureCookies says. A Name with a prefix is Secure
	// whatever that says: browsers drop it without, and on http keep it from loopback hosts at most.
	HTTPOnly, Secure Toggle
	// Partitioned sets the attribute of that name.
	Partitioned bool
	// Priority is "low", "medium" or "high"; empty: no such attribute.
	Priority string
}

// defaults decides what the configuration leaves open.
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
	if c.StoreTimeout == 0 {
		c.StoreTimeout = 5 * time.Second
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
		if _, ok := c.Store.(store.SessionStore); ok {
			c.Session.Strategy = StrategyDatabase
		}
	}
	if c.Theme.ColorScheme == "" {
		c.Theme.ColorScheme = "auto"
	}
}

// ConfigError lists everything that is wrong with a configuration. errors.Is finds the type of each problem.
type ConfigError struct {
	// Problems has one entry per fault, each naming the field and the fix.
	Problems []*Error

	basePath string
	pages    PagesConfig
	theme    Theme
	views    ui.Views
	logger   *slog.Logger
}

// Error lists the problems, one a line.
func (e *ConfigError) Error() string {
	var b strings.Builder
	b.WriteString("core: the configuration has " + strconv.Itoa(len(e.Problems)) + " problem")
	if len(e.Problems) != 1 {
		b.WriteByte('s')
	}
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n\t%s: %v", p.Type, p.Cause)
	}
	return b.String()
}

// Unwrap returns the problems.
func (e *ConfigError) Unwrap() []error {
	all := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		all[i] = p
	}
	return all
}

// add appends a problem that is not in the list yet.
func (e *ConfigError) add(t ErrorType, format string, args ...any) {
	problem := errorf(t, format, args...)
	same := func(p *Error) bool { return p.Error() == problem.Error() }
	if !slices.ContainsFunc(e.Problems, same) {
		e.Problems = append(e.Problems, problem)
	}
}

// names reports whether a problem of this type begins with a text, the name of a plugin.
func (e *ConfigError) names(t ErrorType, text string) bool {
	return slices.ContainsFunc(e.Problems, func(p *Error) bool {
		return p.Type == t && strings.HasPrefix(p.Cause.Error(), text)
	})
}
