package core

import (
	"context"
	"encoding/json"
	"time"

	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
)

// Callbacks customize sign-ins, sessions and redirects (docs/protocol.md §17). If a field is nil, the default applies.
// Callbacks run within the request and with its context. A panic fails the request with the error page. Arguments are
// copies: only the returned values have an effect.
type Callbacks struct {
	// SignIn decides whether a sign-in may continue: it returns [Allow], [Deny] or [RedirectTo] with a URL, which Redirect
	// checks. The default is Allow. An error denies the sign-in as AccessDenied, unless it is an *Error.
	SignIn func(ctx context.Context, p SignInParams) (SignInResult, error)
	// Redirect maps the requested URL to the URL that the browser is redirected to. The default is [SameOrigin]. It must
	// return an http(s) URL or a URL with one of Config.AppSchemes, which is then normalized. An empty result is the
	// origin.
	Redirect func(ctx context.Context, p RedirectParams) (string, error)
	// JWT shapes the token at sign-in and each time a session is read. It is only called under StrategyJWT. A nil token
	// without an error ends the session, which is logged at level info. An error or a panic fails only the request, with
	// status 500 where a session is read, or with the error page at a sign-in; the cookie stays.
	JWT func(ctx context.Context, p JWTParams) (*Token, error)
	// Session shapes the session that the browser receives. The default session has name, email and image. It returns
	// p.Session, changed or not. An error, a panic or a nil session fails the request with status 500; the cookie stays.
	Session func(ctx context.Context, p SessionParams) (*Session, error)
	// Limit returns the time to wait before an attempt that guesses a secret or costs resources. Zero allows the attempt.
	// Otherwise the response has status 429 with Retry-After. An error rejects the attempt. The default is a
	// [limit.Limiter] of this Auth, unless Config.InsecureNoLimits is set.
	Limit func(ctx context.Context, p LimitParams) (wait time.Duration, err error)
	// Forgive is called if an attempt that Limit allowed was legitimate: the credentials or the emailed token were
	// correct. Such an attempt no longer needs to count. The default is the Limiter's method if Limit is also the
	// default, else nil.
	Forgive func(ctx context.Context, p LimitParams)
	// Challenge is a CAPTCHA service. Sign-ins with a form or an email link, sign-ups and requests to reset a password
	// then need a token of its widget, which the built-in pages contain. Users who are signed in need none, and neither
	// do OAuth, passkeys and the codes and links in emails. The default is nil.
	Challenge *challenge.Challenge
	// Locale returns the language of a request, one of Config.Locales, as a BCP 47 tag, for example from the user's
	// settings. SessionFrom(ctx) returns the session if the request hook runs first. If the result is empty or not in
	// Config.Locales, the parameter, the cookie or the browser decides. It is called at most once for each request,
	// before a page is rendered, and must not render one. A panic is logged and ignored. The default is nil.
	Locale func(ctx context.Context, r *Request) string
	// Merge moves the application's data about a guest to an existing user, as whom the guest has signed in; see
	// plugins/guest. The guest is deleted afterwards. Merge is called again after an error, a panic or an
	// interruption, also by another process, until it succeeds: it must be idempotent, for example "UPDATE carts SET
	// user_id = $existing WHERE user_id = $guest". Within a sign-in its context ends after ten seconds. An error does not
	// fail the sign-in. The default does nothing.
	Merge func(ctx context.Context, guest, existing *User) error
	// BackChannelLogout is called if a provider reports that a user signed out there. The user's database sessions have
	// already ended, as have sessions of StrategyJWT if Session.Revocation is on. Otherwise store the logout where
	// JWT.Revoked finds it. An error tells the provider that the logout failed. The default does nothing.
	BackChannelLogout func(ctx context.Context, p BackChannelLogoutParams) error
}

// SignInResult is the decision of a SignIn callback. The zero value denies.
type SignInResult struct {
	allow    bool
	redirect string
}

// Allow allows the sign-in.
func Allow() SignInResult { return SignInResult{allow: true} }

// Deny denies the sign-in. The browser sees the error page with AccessDenied.
func Deny() SignInResult { return SignInResult{} }

// RedirectTo denies the sign-in and redirects the browser to the URL that Callbacks.Redirect returns for url. The
// default callback replaces a URL of another origin by the application's origin, which is logged.
func RedirectTo(url string) SignInResult { return SignInResult{redirect: url} }

// SignInParams describes a sign-in for the SignIn callback.
type SignInParams struct {
	// User is the stored user if the account is known, else a user made of the profile.
	User *User
	// Account is the account at the provider. VerifiedEmail is set only if the provider has verified the email address.
	// The address of a profile alone can be any text that the account's owner entered.
	Account *Account
	// Profile is the provider's profile, unchanged. It is nil for email and credentials.
	Profile Profile
	// Credentials are the fields of the form. It is nil except for credentials.
	Credentials map[string]string
	// VerificationRequest is true if a sign-in link was requested, and false if a link was opened.
	VerificationRequest bool
	// Request is the current request.
	Request *Request
}

// RedirectParams contains a requested redirect URL.
type RedirectParams struct {
	// URL is the requested URL, unchanged.
	URL string
	// BaseURL is the origin of the application.
	BaseURL string

	appSchemes []string // Config.AppSchemes, for SameOrigin
}

// Trigger is the event that a callback is called for.
type Trigger string

// The triggers.
const (
	TriggerRead   Trigger = ""       // a session is read
	TriggerSignIn Trigger = "signIn" // a known user signed in
	TriggerSignUp Trigger = "signUp" // a user was created
	TriggerUpdate Trigger = "update" // the browser posted new session data
)

// JWTParams contains a token that is about to be issued.
type JWTParams struct {
	// Token contains name, email, picture and sub at sign-in, and all claims afterwards.
	Token *Token
	// User is the user who signs in. User, Account and Profile are set at sign-in only.
	User *User
	// Account is the account that the user signs in with.
	Account *Account
	// Profile is the provider's profile. It is set for OAuth and OpenID Connect only.
	Profile Profile
	// Trigger is the event that the callback is called for.
	Trigger Trigger
	// NewUser reports whether the user was just created.
	//
	// Deprecated: compare Trigger with [TriggerSignUp]. Auth.js has deprecated it too.
	NewUser bool
	// Update is the JSON that the browser posted on TriggerUpdate. It is untrusted input: validate it.
	Update json.RawMessage
}

// SessionParams contains a session that is about to be sent to the browser.
type SessionParams struct {
	// Session is the default session with name, email and image. Return it, changed or not.
	Session *Session
	// Token contains the claims (StrategyJWT only).
	Token *Token
	// User is the stored user (StrategyDatabase only).
	User *User
	// Stored is the session record (StrategyDatabase only).
	Stored *store.Session
	// Update is the JSON that the browser posted on TriggerUpdate. It is untrusted input: validate it.
	Update json.RawMessage
	// Trigger is TriggerUpdate or TriggerRead.
	Trigger Trigger
}

// LimitParams describes an attempt before it is made. String and the log show no identifier and no form field.
type LimitParams struct {
	limit.Params
	// Credentials are the fields of the form. It is nil except for credentials.
	Credentials map[string]string
	// Request is the current request. Its RemoteAddr is the peer, which may be a proxy.
	Request *Request
}

// BackChannelLogoutParams describes a logout that a provider reported (OpenID Connect Back-Channel Logout).
type BackChannelLogoutParams struct {
	// Provider is the provider's ID.
	Provider string
	// Subject is the user at the provider (sub). SessionID is their session at the provider (sid). One of them may be
	// empty. Without a SessionID, all sessions of the Subject have ended.
	Subject, SessionID string
	// User is the owner of the Subject's account. If Subject is empty, User is the owner of the session that belongs to
	// SessionID. It is nil if there is no Store or if the Store has no such user.
	User *User
}

// Events report what happened, for example for audit logs (docs/protocol.md §17). They run within the request. An error
// or a panic is logged as EventError and otherwise ignored. A nil field is not called.
type Events struct {
	// SignIn is called after a user signed in.
	SignIn func(ctx context.Context, e SignInEvent) error
	// SignOut is called after a session was ended by a sign-out, by [Auth.EndSessions] or by a plugin, once for each
	// session.
	SignOut func(ctx context.Context, e SignOutEvent) error
	// CreateUser is called after a user was created.
	CreateUser func(ctx context.Context, e UserEvent) error
	// UpdateUser is called after a user was updated.
	UpdateUser func(ctx context.Context, e UserEvent) error
	// LinkAccount is called after an account was linked to a user.
	LinkAccount func(ctx context.Context, e LinkAccountEvent) error
	// Session is called after a session was read.
	Session func(ctx context.Context, e SessionEvent) error
}

// SignInEvent describes a sign-in.
type SignInEvent struct {
	// User is the user who signed in.
	User *User
	// Account is the account that the user signed in with.
	Account *Account
	// Profile is the provider's profile. It is nil for email and credentials.
	Profile Profile
	// NewUser reports whether this sign-in created the user.
	NewUser bool
}

// SignOutEvent describes a session that was ended: Token under StrategyJWT, Session under StrategyDatabase. Session is
// nil if the store did not have the session. If another browser had the token, Token contains only its Subject.
type SignOutEvent struct {
	Token   *Token
	Session *store.Session
	// SessionID is the ID of the session, as in [Session] and [SessionInfo]. It is empty if the session has no ID.
	SessionID string
}

// UserEvent is a user that was created or updated.
type UserEvent struct{ User *User }

// LinkAccountEvent is an account that was linked to a user.
type LinkAccountEvent struct {
	// User is the owner of the account.
	User *User
	// Account is the account at the provider.
	Account *Account
	// Profile is the user that the provider's profile was mapped to.
	Profile *User
}

// SessionEvent describes a session that was read. Token is set under StrategyJWT only.
type SessionEvent struct {
	Session *Session
	Token   *Token
}
