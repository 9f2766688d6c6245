// Package warnings has the codes of the warnings in the log.
package warnings

// Code is a code that is logged at level warn, as the attribute "code".
type Code string

// The warnings. The first four exist in Auth.js too.
const (
	// DebugEnabled means that Config.Debug is on.
	DebugEnabled Code = "debug-enabled"
	// CSRFDisabled means that the CSRF check is off.
	CSRFDisabled Code = "csrf-disabled"
	// URLBasePathRedundant means that AUTH_URL has a path, and Config.BasePath is set too. Config.BasePath applies.
	URLBasePathRedundant Code = "env-url-basepath-redundant"
	// URLBasePathMismatch means that AUTH_URL has another path than Config.BasePath. It is logged in addition to the
	// warning above.
	URLBasePathMismatch Code = "env-url-basepath-mismatch"
	// SharedSessions means that another Auth of this process, for another site or of the same PerRequest, accepts the
	// sessions of this one. Set Config.Audience.
	SharedSessions Code = "shared-sessions"
	// NotMounted means that a guard redirected browsers to the built-in sign-in page, and no request for that page
	// arrived. Call the adapter's Mount.
	NotMounted Code = "not-mounted"
	// SmallHeaderLimit means that the router's request header limit is so low that a browser with a session and a few
	// pending sign-ins may get status 431.
	SmallHeaderLimit Code = "small-header-limit"
	// ShortSecret means that InsecureShortSecrets accepted a secret of fewer than 32 bytes.
	ShortSecret Code = "short-secret"
	// InsecureHTTP means that AllowInsecureHTTP of a provider is True.
	InsecureHTTP Code = "insecure-http"
	// NoOrigin means that URL, TrustedHosts and TrustHost are unset, so only requests to loopback hosts are accepted.
	NoOrigin Code = "no-origin"
	// NoProviders means that Config.Providers is empty.
	NoProviders Code = "no-providers"
	// UnusedJWTCallback means that Callbacks.JWT is set and is never called under StrategyDatabase.
	UnusedJWTCallback Code = "unused-jwt-callback"
	// GoToReplaced means that the redirect callback replaced a URL of RedirectTo by the origin. Allow it in
	// Callbacks.Redirect.
	GoToReplaced Code = "go-to-replaced"
	// VisitedElsewhere means that requests name another origin than Config.URL does. It is logged once for each Auth.
	VisitedElsewhere Code = "visited-elsewhere"
	// ClockSkew means that the Date header of a provider's response differs from Config.Now by more than a minute.
	// Synchronize the clock. It is logged once for each HTTP client.
	ClockSkew Code = "clock-skew"
	// LimitWithoutPeer means that requests pass a proxy that is not in Config.TrustedProxies, so limits cannot identify
	// clients. It is logged once for each Auth.
	LimitWithoutPeer Code = "limit-without-peer"
	// NoReauth means that sessions have facts, and some users of the named providers have no method to authenticate again.
	// Add an EmailProvider or a Mailer, and a Store with records; set OAuthProvider.EmailVerified; or add passkeys. It is
	// logged once for each Auth, in New.
	NoReauth Code = "no-reauthentication"
	// NoTrustedProxies means that the site is on https, limits count clients, and Config.TrustedProxies is empty, so
	// clients behind a proxy are unidentified. Set it to your proxies, or to 127.0.0.1/32 if there is no proxy. It is
	// logged once for each Auth, in New.
	NoTrustedProxies Code = "no-trusted-proxies"
	// AccountsNotListed means that the Store is not a store.AccountStore. A user who is the first to verify the address of
	// an existing user gets a new user record with that address, because Latchkey cannot check whether the existing user's
	// accounts belong to the same person.
	AccountsNotListed Code = "store-lists-no-accounts"
	// SessionsNotEnded means that the Store is not a store.SessionLister. A user who is the first to verify the address of
	// an existing user without accounts gets a new user record with that address, because the existing user's sessions
	// cannot be ended.
	SessionsNotEnded Code = "store-ends-no-sessions"
	// SessionsNotRevoked means that a plugin ends sessions, and Session.Revocation.On is False. Encrypted cookies stay
	// valid until they expire, also after a password reset.
	SessionsNotRevoked Code = "sessions-not-revoked"
	// DataLarge means that the session data (Config.Data) takes more than 2 KiB of the cookie, so that the cookies of
	// several pending sign-ins may exceed the header limit of servers in front. Store an ID instead, or use
	// StrategyDatabase. It is logged once for each Auth.
	DataLarge Code = "session-data-large"
)
