package core

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// Config configures an [Auth]. The zero value of every field except Providers and Secrets is a sensible default.
// New copies the Config, so later changes have no effect.
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
	// Theme is the appearance of the built-in pages and emails. The default is neutral, and light or dark like the user's
	// system.
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

	// CSRF selects how a POST request must prove that a page of this site sent it. The zero value requires the token of
	// the CSRF cookie in the body. [CSRFTokenOrSameOrigin] and [InsecureSkipCSRFCheck] return other policies.
	CSRF CSRFPolicy
	// InsecureShortSecrets accepts secrets of fewer than 32 bytes during a migration. An attacker can guess such secrets.
	InsecureShortSecrets bool

	// Data is a *[SessionData], which adds data of the application to sessions. If it is nil, sessions have no such data.
	Data dataSource

	// Mail has the options of emails that plugins send in the background. The default is eight attempts in 50 minutes.
	// Auth.FlushMail sends the waiting emails at shutdown.
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

// defaults sets the defaults of empty fields.
func defaults(c *Config) {
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the only use of the real clock
	}
	c.Rand, c.Logger = cmp.Or(c.Rand, rand.Reader), cmp.Or(c.Logger, slog.Default())
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	c.StoreTimeout = cmp.Or(c.StoreTimeout, 5*time.Second)
	c.Session.MaxAge = cmp.Or(c.Session.MaxAge, 30*24*time.Hour)
	if c.Session.ShortMaxAge == 0 && c.Session.RememberMe {
		c.Session.ShortMaxAge = min(12*time.Hour, c.Session.MaxAge)
	}
	switch c.Session.UpdateAge {
	case 0:
		c.Session.UpdateAge = 24 * time.Hour
	case UpdateAlways:
		c.Session.UpdateAge = 0
	}
	c.JWT.MaxAge = cmp.Or(c.JWT.MaxAge, c.Session.MaxAge)
	if c.Session.Strategy == "" {
		c.Session.Strategy = StrategyJWT
		if _, ok := c.Store.(store.SessionStore); ok {
			c.Session.Strategy = StrategyDatabase
		}
	}
	c.Theme.ColorScheme = cmp.Or(c.Theme.ColorScheme, "auto")
}

// MailConfig configures emails that are sent in the background.
type MailConfig struct {
	// Retries are the waits between the attempts to send an email. A random tenth is added. Nil means 10 seconds and 1, 2,
	// 5, 10, 15 and 15 minutes, which are eight attempts in 50 minutes. An empty slice means one attempt.
	Retries []time.Duration
}
