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

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/core/store"
	sessiontoken "github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/ui"
)

// Strategy is where sessions are stored.
type Strategy string

// The strategies (docs/protocol.md §7.1).
const (
	// StrategyJWT stores the session in an encrypted cookie.
	StrategyJWT Strategy = "jwt"
	// StrategyDatabase stores the session in the Store. The cookie contains a random token.
	StrategyDatabase Strategy = "database"
)

// UpdateAlways is an UpdateAge that extends a session each time it is read.
const UpdateAlways time.Duration = -1

// Config configures an [Auth]. The zero value of every field except Providers and Secrets is a sensible default;
// docs/reference.md lists the defaults. New copies the Config, so later changes have no effect.
type Config struct {
	// Providers are the sign-in methods, in the order of the sign-in page.
	Providers []Provider
	// Plugins are the plugins, in the order in which they are set up. A plugin adds actions, providers and rules, for
	// example for passwords, an account page or a second factor. A [Plugin] that is also a Provider may be in either list;
	// those in Plugins come last on the sign-in page.
	Plugins []Plugin
	// Store stores users, accounts, sessions and verification tokens. If Store is nil, nothing is stored, and sessions use
	// StrategyJWT.
	Store Store
	// StoreTimeout limits each call to the Store; a transaction is one call. The default is 5 seconds. If it is negative,
	// only the request's context limits a call. A request fails with status 503 if the Store does not respond in time.
	StoreTimeout time.Duration
	// CleanUp deletes sessions and verification tokens an hour after they expire. Requests that write one of them start it
	// in the background, about every ten minutes, for at most one minute. A lease in the Store, stored as a verification
	// token, limits it to one process at a time. Default means True if the Store is a [store.Cleaner] whose database does
	// not delete expired rows automatically.
	CleanUp OptionalBool
	// Secrets encrypt and sign. New tokens use the first secret; tokens of all listed secrets are accepted. Each secret
	// must have at least 32 random bytes. Environment variables: AUTH_SECRET; AUTH_SECRET_1, AUTH_SECRET_2 and
	// AUTH_SECRET_3 come before it, the highest number first.
	Secrets []Secret

	// URL sets the public origin and, if it has a path, the base path: "https://app.example" or
	// "https://app.example/auth". Environment variables: AUTH_URL, or its former name NEXTAUTH_URL.
	URL string
	// BasePath is the path prefix of all auth routes as the application receives them. The default is "/auth".
	BasePath string
	// PublicPath is the path prefix that a reverse proxy removes from requests. It is "/app" if
	// https://app.example/app/auth arrives as /auth. Redirects and links include it. If URL has a path, that path must
	// include it too: "https://app.example/app/auth". The default is none.
	PublicPath string
	// Audience binds keys, tokens and cookies to this Auth. Set it to any text if several Auths share a secret, for
	// example tenants, or a shop and its back office. Auths with different audiences do not accept each other's sessions,
	// tokens or email links, and on one host they do not overwrite each other's cookies. If it is empty, as with Auth.js,
	// all Auths with the same secret accept each other's sessions. A change of Audience ends all sessions. Auth.js cannot
	// read the sessions of an Auth with an Audience.
	Audience string
	// TrustHost trusts the Host header and the forwarded headers of requests. The proxy in front must set these headers.
	// If TrustHost, URL and TrustedHosts are all unset, the Auth only answers requests to loopback hosts (localhost,
	// *.localhost, 127.0.0.0/8, [::1]) that did not pass a proxy, and New logs a warning. Environment variable:
	// AUTH_TRUST_HOST=true. VERCEL and CF_PAGES, which these platforms set, have the same effect.
	TrustHost OptionalBool
	// TrustedHosts are the only accepted hosts, for example "app.example" or "*.preview.app.example". Setting it implies
	// TrustHost.
	TrustedHosts []string
	// TrustedProxies are the peers whose forwarded headers are trusted. If it is empty and hosts are trusted, all peers
	// are trusted. For a proxy that connects through a Unix socket, add [UnixSockets]() or a loopback address.
	TrustedProxies []netip.Prefix

	// TrustedOrigins are front ends on other origins, for example "https://app.example", whose scripts may call the auth
	// routes. They get CORS headers with credentials. Their POST requests count as same-site and must repeat the CSRF
	// token. A front end on another subdomain needs no further settings. A front end on another site only sends
	// SameSite=None cookies (Config.Cookies); use Session.Bearer for it instead. The browser is redirected to these
	// origins only if Callbacks.Redirect allows it. The default is none.
	TrustedOrigins []string

	// Session, JWT, Pages and Cookies contain further options.
	Session SessionConfig
	JWT     JWTConfig
	Pages   PagesConfig
	Cookies CookiesConfig
	// UseSecureCookies sets the Secure attribute and the name prefixes of cookies. Default means True for https origins.
	UseSecureCookies OptionalBool
	// Theme is the appearance of the built-in pages and emails.
	Theme Theme
	// AppSchemes are custom URL schemes of native apps, such as "com.example.app" (RFC 8252 section 7.1). The browser may
	// be redirected to URLs with these schemes by callbackUrl, Callbacks.Redirect and [RedirectTo]. Any app can register a
	// scheme, so never put a token into such a URL. Schemes of browsers and of the operating system (javascript, data,
	// blob, file, intent and others) are a configuration error. The default is none.
	AppSchemes []string
	// Locales are the languages of pages, emails and problem documents, from package ui/locales or from the application.
	// The language of a request is the first of these that is one of Locales: the result of Callbacks.Locale; the
	// parameter ui_locales or lang of an auth route, which a cookie remembers; the Accept-Language header. Otherwise it is
	// the first of Locales. If Locales is nil, the language is English and requests are not examined.
	Locales []ui.Locale
	// Views replace built-in pages with components of the application. A nil field keeps the built-in page.
	Views ui.Views

	// Callbacks make decisions. Events report what happened.
	Callbacks Callbacks
	Events    Events
	// Audit, if not nil, is called synchronously for each authentication decision, after the change is committed. It must
	// be safe for concurrent use. [audit.LogTo] returns a function that writes to a log. A panic is logged and otherwise
	// ignored. If the destination is slow, or must not lose events, the function needs its own queue.
	Audit func(ctx context.Context, e audit.Event)
	// Observe, if not nil, is called before each call to the store or to a provider. It may return a context for the call,
	// and a function that receives the outcome; either may be nil. Both functions must be safe for concurrent use and add
	// to the duration of the request. A panic is logged and otherwise ignored. The modules observe/prometheus and
	// observe/otel provide such functions.
	Observe func(ctx context.Context, c observe.Call) (context.Context, func(observe.Outcome))

	// RedirectProxyURL is the full URL of the auth routes of the redirect proxy: a deployment with a stable address that
	// receives the callbacks of providers for preview deployments. Example: "https://auth.example/auth". Environment
	// variable: AUTH_REDIRECT_PROXY_URL.
	RedirectProxyURL string
	// RedirectProxyTargets are the origins that receive callbacks from the redirect proxy: "https://app.example",
	// "https://*.preview.app.example". Set it in the proxy only, together with RedirectProxyURL. If it is empty, the
	// proxy forwards nothing.
	RedirectProxyTargets []string

	// EnableWebAuthn allows providers of type webauthn. The default is false, as in Auth.js.
	EnableWebAuthn bool

	// CSRF is the proof a POST request must contain that a page of this site sent it. The zero value requires the token of
	// the CSRF cookie in the body. [CSRFTokenOrSameOrigin] and [InsecureSkipCSRFCheck] return other policies.
	CSRF CSRFPolicy
	// InsecureShortSecrets accepts secrets of fewer than 32 bytes during a migration. An attacker can guess such secrets.
	InsecureShortSecrets bool

	// Data is a *[SessionData], which adds data of the application to sessions. If it is nil, sessions have no such data.
	Data dataSource

	// Mail has the options of emails that plugins send in the background.
	Mail MailConfig

	// Limits restrict attempts that guess a secret or cost resources. The zero value uses the limits of package limit and
	// counts in this process. If Callbacks.Limit is set, it decides alone, unless Shared or Rates is also set: then both
	// must allow the attempt.
	Limits Limits
	// InsecureNoLimits disables rate limits if Callbacks.Limit is nil. Use it in tests and measurements, or if a server in
	// front of the application counts attempts. Without limits, attackers can guess passwords and flood mailboxes.
	InsecureNoLimits bool

	// Logger receives errors, warnings and debug messages. If it is nil, slog.Default() is used.
	Logger *slog.Logger
	// Debug logs the steps of sign-ins and sign-outs at level debug: the member names of token responses, the mapped user,
	// the account linking decision and the issued session. The messages contain personal data, but no secrets or tokens.
	Debug bool
	// HTTPClient is used for all requests to providers. The default is a client with timeouts, response size limits and a
	// check of each address that it connects to: it rejects link-local and cloud metadata addresses, and loopback
	// addresses unless the URL names this machine, for example as localhost.
	HTTPClient *http.Client
	// Now returns the current time; the default is time.Now. Rand is the source of randomness; the default is
	// crypto/rand.Reader. New reads the environment with Getenv; the default is os.Getenv. All three are for tests.
	Now    func() time.Time
	Rand   io.Reader
	Getenv func(string) string
}

// SessionConfig contains the options of sessions.
type SessionConfig struct {
	// Strategy is where sessions are stored. The default is StrategyDatabase if the Store is a store.SessionStore, else
	// StrategyJWT. Under StrategyJWT, Callbacks.JWT shapes the token, and Callbacks.Session receives it. Under
	// StrategyDatabase there is no token: Callbacks.JWT is never called, and Callbacks.Session receives the stored user
	// and the session record. If Callbacks.JWT is set, an empty Strategy that defaults to StrategyDatabase is a
	// configuration error; an explicit StrategyDatabase is only a warning.
	Strategy Strategy
	// MaxAge is the lifetime of a session since its last extension. The default is 30 days.
	MaxAge time.Duration
	// UpdateAge is the age after which a session is extended when it is read. The default is one day. [UpdateAlways]
	// extends it each time it is read.
	UpdateAge time.Duration
	// AbsoluteMaxAge is the maximum lifetime of a session, however frequently it is extended. The default is no maximum.
	// Sessions record their start time only while this option is set.
	AbsoluteMaxAge time.Duration
	// GenerateToken returns the token of a new database session. The default is a random UUID.
	GenerateToken func() (string, error)
	// MaxPerUser is the maximum number of sessions of a user under StrategyDatabase. The default is no maximum. A sign-in
	// above the maximum ends the sessions that expire first, which are the least recently used ones on the user's other
	// devices. Each sign-in reads the list of the user's sessions. The Store must be a [store.SessionLister].
	MaxPerUser int
	// HashTokens stores the SHA-256 hash of a session token instead of the token, so that read access to the database does
	// not give access to sessions. Changing this option ends all database sessions. Auth.js cannot read hashed tokens.
	HashTokens bool
	// Revocation ends sessions of StrategyJWT before they expire. The zero value switches it on if a plugin ends sessions,
	// as packages password and account do, and off otherwise, as with Auth.js. Under StrategyDatabase a session ends when
	// its record is deleted.
	Revocation Revocation
	// Bearer accepts the session token in the header "Authorization: Bearer" from clients that are not browsers. It works
	// for pages behind the request hook, for guards and for the auth routes; the session cookie of such a request is
	// ignored. Responses to these clients set no cookies. GET session returns a renewed token in the Set-Auth-Token
	// header. The application issues the first token: [Auth.RawToken] returns the token of a request. If false, the header
	// is ignored.
	Bearer bool
}

// Revocation contains the options for ending sessions of StrategyJWT before they expire: by [Auth.EndSessions], a
// plugin, a sign-out or a back-channel logout. A session ends immediately in the process that ends it, and within Every
// in the other processes.
//
// The check fails open: if the store is unavailable, a process accepts the sessions that others have ended since it
// last read the list. Set Strict to fail closed.
type Revocation struct {
	// On switches revocation on or off. The default, [Default], switches it on if a plugin has called
	// [PluginHost.EndsSessions]. It requires a Store that is a [store.RecordStore]; otherwise New returns an error. False
	// means that a copied cookie stays valid until it expires, even after a password reset. Set False while Auth.js serves
	// the same users, because Auth.js accepts sessions that were ended here. Under StrategyDatabase, True is a
	// configuration error.
	On OptionalBool
	// Every is the maximum delay until the other processes reject an ended session. The default is 5 seconds. While
	// sessions are read, a process queries the store twice in that time; while none is read, it does not query.
	Every time.Duration
	// Strict selects what happens if a process could not read the list of ended sessions for a minute. If true, reading a
	// session fails, as if the store were unavailable. If false, the process continues to use the last list that it read.
	Strict bool
}

// JWTConfig contains the options of session tokens.
type JWTConfig struct {
	// MaxAge is the lifetime of a token. The default is that of the session.
	MaxAge time.Duration
	// Revoked reports whether a valid token was revoked, for example by its ID (jti), or by its Subject and IssuedAt. It
	// is called each time a token is read. If it is nil, no token is revoked. An error is handled like an unavailable
	// store: the request fails and the session stays.
	Revoked func(ctx context.Context, token *Token) (bool, error)
	// Encode and Decode replace the encryption of session tokens. Set both or neither.
	Encode func(ctx context.Context, p EncodeParams) (string, error)
	Decode func(ctx context.Context, p DecodeParams) (*Token, error)
}

// EncodeParams contains a token to encode.
type EncodeParams struct {
	Token   *Token
	Secrets []Secret
	Salt    string
	MaxAge  time.Duration
}

// DecodeParams contains a token to decode.
type DecodeParams = sessiontoken.DecodeParams

// PagesConfig replaces built-in pages with pages of the application. Values are paths or URLs; their queries are kept.
type PagesConfig struct {
	// SignIn receives callbackUrl and, after a failure, error and code; a guard sets the error SessionRequired. SignOut is
	// the confirmation page. Error receives error. VerifyRequest says that an email was sent. NewUser is shown after a
	// user's first sign-in and receives callbackUrl.
	SignIn, SignOut, Error, VerifyRequest, NewUser string
}

// CookiesConfig changes cookies. Empty fields keep the defaults in docs/protocol.md §3. The name of an encrypted cookie
// is part of its key, so renaming the session cookie ends all sessions.
type CookiesConfig struct {
	SessionToken, CallbackURL, CSRFToken, PKCECodeVerifier, State, Nonce, WebAuthnChallenge CookieOptions
}

// CookieOptions changes one cookie.
type CookieOptions struct {
	// Name includes its prefix, "__Secure-" or "__Host-", if any.
	Name string
	// Domain and Path are the attributes. A "__Host-" cookie can have neither.
	Domain, Path string
	// MaxAge is the Max-Age attribute. The default is 15 minutes for check cookies; other cookies have none. The session
	// cookie uses the MaxAge of the session.
	MaxAge time.Duration
	// SameSite is "lax", "strict" or "none".
	SameSite string
	// HTTPOnly and Secure are the attributes. Default means True for HTTPOnly, and UseSecureCookies for Secure. A cookie
	// whose Name has a prefix is always Secure: browsers reject it otherwise, and on http they accept it from loopback
	// hosts at most.
	HTTPOnly, Secure OptionalBool
	// Partitioned sets the Partitioned attribute.
	Partitioned bool
	// Priority is "low", "medium" or "high". If it is empty, the attribute is not set.
	Priority string
}

// defaults sets the defaults of empty fields.
func defaults(c *Config) {
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the only use of the real clock
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
	case UpdateAlways:
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

// ConfigError lists all configuration errors. errors.Is finds the type of each.
type ConfigError struct {
	// Problems are the configuration errors. Each names the field and the fix.
	Problems []*Error

	basePath string
	pages    PagesConfig
	theme    Theme
	views    ui.Views
	logger   *slog.Logger
}

// Error lists the problems, one on each line.
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

// add appends a problem unless it is already in the list.
func (e *ConfigError) add(t ErrorType, format string, args ...any) {
	problem := errorf(t, format, args...)
	same := func(p *Error) bool { return p.Error() == problem.Error() }
	if !slices.ContainsFunc(e.Problems, same) {
		e.Problems = append(e.Problems, problem)
	}
}

// OptionalBool is an optional boolean.
type OptionalBool int8

// The values of an OptionalBool. Default, the zero value, means the default that the option documents.
const (
	Default OptionalBool = iota
	True
	False
)
