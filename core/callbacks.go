package core

import (
	"context"
	"encoding/json"
	"net/netip"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// Callbacks steer what happens (docs/protocol.md §17). A nil field is the default behaviour. They run within the
// request, under its context; a panic ends that request with the error page. Arguments are copies: changing them
// changes nothing but what is returned.
type Callbacks struct {
	// SignIn decides whether a sign-in goes on. Default: Allow. An error denies as AccessDenied, unless it is an *Error.
	SignIn func(ctx context.Context, p SignInParams) (SignInResult, error)
	// Redirect turns the requested URL into the one that the browser is redirected to. Default: [SameOrigin]. Its result
	// is an http(s) URL or a link of Config.AppSchemes, and is normalized; an empty text is the origin.
	Redirect func(ctx context.Context, p RedirectParams) (string, error)
	// JWT shapes the token at sign-in and whenever a session is read (jwt strategy; under the database strategy it never
	// runs). A nil token without an error ends the session, which the log tells at level info. An error or a panic ends
	// the request alone: status 500 where a session is read, the error page at a sign-in, and the cookie stays.
	JWT func(ctx context.Context, p JWTParams) (*Token, error)
	// Session shapes what the browser sees. Default: name, email and image. It returns p.Session, changed or not: an
	// error, a panic or nil ends the request with status 500, and the cookie stays.
	Session func(ctx context.Context, p SessionParams) (*Session, error)
	// Limit says how long a visitor has to wait before an attempt that guesses something or costs something; zero lets it
	// go on. The answer to one that has to wait is 429 with Retry-After; an error stops the attempt. Default: a [Limiter]
	// of this Auth's own, unless Config.InsecureNoLimits is set.
	Limit func(ctx context.Context, p LimitParams) (wait time.Duration, err error)
	// Forgive is told of an attempt that Limit let go on and that turned out right: credentials that were accepted, a
	// mailed token that was good. It need not count any longer. Default: that of the Limiter where Limit is its own too,
	// else nothing.
	Forgive func(ctx context.Context, p LimitParams)
	// Locale chooses the language of a request among Config.Locales by a tag of BCP 47, the visitor's own setting for
	// example: SessionFrom(ctx) finds a session where the request hook is in front. Empty, or none of them: the parameter,
	// the cookie or the browser decides. It is asked once a request, before a page is drawn, and draws nothing itself; a
	// panic is logged and chooses nothing. Default: nil.
	Locale func(ctx context.Context, r *Request) string
	// BackChannelLogout is called when a provider says that a user signed out there; database sessions have ended by then.
	// So have jwt sessions where Session.Revocation is on; else note it where JWT.Revoked finds it. An error tells the
	// provider that the logout failed. Default: nothing.
	BackChannelLogout func(ctx context.Context, p BackChannelLogoutParams) error
}

// SignInResult is what a SignIn callback decides. The zero value denies.
type SignInResult struct {
	allow    bool
	redirect string
}

// Allow lets the sign-in go on.
func Allow() SignInResult { return SignInResult{allow: true} }

// Deny stops the sign-in; the browser sees the error page with AccessDenied.
func Deny() SignInResult { return SignInResult{} }

// GoTo stops the sign-in and redirects the browser to the URL that Callbacks.Redirect returns for this one. The default
// callback returns the origin for a URL of another origin, which is logged.
func GoTo(url string) SignInResult { return SignInResult{redirect: url} }

// SignInParams is a sign-in that waits for the SignIn callback.
type SignInParams struct {
	// User is the stored user when the account is known, else what the profile said.
	User *User
	// Account is the account at the provider. EmailProved is set where the provider vouches for the address: that of a
	// profile alone is whatever its owner typed there.
	Account *Account
	// Profile is the provider's answer as it came; nil for e-mail and credentials.
	Profile Profile
	// Credentials are the fields of the form; nil except for credentials.
	Credentials map[string]string
	// VerificationRequest is true when a sign-in link was asked for and false when it is followed.
	VerificationRequest bool
	// Request is the request being answered.
	Request *Request
}

// RedirectParams is the address that a visitor asks to be sent to.
type RedirectParams struct {
	// URL is what was asked for, as it came in.
	URL string
	// BaseURL is the origin of the application.
	BaseURL string

	appSchemes []string // Config.AppSchemes, for SameOrigin
}

// Trigger is why a callback runs.
type Trigger string

// The triggers.
const (
	TriggerRead   Trigger = ""       // a session is read
	TriggerSignIn Trigger = "signIn" // a known user signed in
	TriggerSignUp Trigger = "signUp" // a user was created
	TriggerUpdate Trigger = "update" // the browser posted new session data
)

// JWTParams is a token on its way into the cookie.
type JWTParams struct {
	// Token holds name, email, picture and sub at sign-in, afterwards all claims.
	Token *Token
	// User, Account and Profile are set at sign-in only, Profile for OAuth and OpenID Connect.
	User    *User
	Account *Account
	Profile Profile
	// Trigger is why the callback runs.
	Trigger Trigger
	// NewUser reports whether the user was just created.
	//
	// Deprecated: compare Trigger with [TriggerSignUp]. Auth.js has deprecated it too.
	NewUser bool
	// Update is what the browser posted on TriggerUpdate, as JSON. It is the visitor's word: validate it.
	Update json.RawMessage
}

// SessionParams is a session on its way to the browser.
type SessionParams struct {
	// Session is the default: name, email and image. Return it, changed or not.
	Session *Session
	// Token holds the claims (jwt strategy).
	Token *Token
	// User is the stored user (database strategy).
	User *User
	// Stored is the session record (database strategy).
	Stored *store.Session
	// Update is what the browser posted on TriggerUpdate, as JSON. It is the visitor's word: validate it.
	Update json.RawMessage
	// Trigger is TriggerUpdate or TriggerRead.
	Trigger Trigger
}

// LimitParams is an attempt that is about to be made.
type LimitParams struct {
	Attempt Attempt
	// Provider is the provider's ID.
	Provider string
	// Identifier is whose sign-in is attempted: the e-mail address in its canonical form, as the link has it for a mailed
	// token; for credentials the text of CredentialsProvider.Identifier, else of the first field that is no password, in
	// lower case. Empty when there is none.
	Identifier string
	// Credentials are the fields of the form; nil except for credentials.
	Credentials map[string]string
	// Peer is the address to count: that of the connection's peer or, behind one of TrustedProxies, the one that it
	// forwards; a network of 64 bits for IPv6. Zero: not known.
	Peer netip.Prefix
	// PeerIsVisitor is true when Peer is the visitor's own address, as far as that can be known, and false when it may be
	// that of a proxy, behind which all visitors look the same. With TrustedProxies set: true unless Peer is one of them.
	// Without: true when the connection comes from a public address and the request has none of the headers that proxies
	// add. A visitor who adds one on purpose is not told apart: where no proxy stands in front, say so with a
	// TrustedProxies of 127.0.0.1/32 alone.
	PeerIsVisitor bool
	// Browser tells a browser in which the owner of Identifier has signed in before (Config.Limits.KnownBrowsers): random,
	// and the same at each attempt. Empty: the browser is not known for them.
	Browser string
	// Guessable is true for a mailed token of fewer than 20 characters, such as a code of six digits: a stranger can hit
	// on it by trying. False for other attempts.
	Guessable bool
	// Request is the request being answered; its RemoteAddr is the peer's, which may be a proxy.
	Request *Request
}

// BackChannelLogoutParams is a provider's word that a person's sessions have ended there (OpenID Connect Back-Channel
// Logout).
type BackChannelLogoutParams struct {
	// Provider is the provider's ID.
	Provider string
	// Subject is the person at the provider (sub), SessionID their session there (sid). One of them may be empty; without
	// a SessionID all sessions of the Subject are meant.
	Subject, SessionID string
	// User is the owner of the Subject's account or, without a Subject, of the session that SessionID began; nil when
	// there is no store, or it knows none.
	User *User
}

// Events report what has happened, for audit logs (docs/protocol.md §17). They run within the request; an error or
// panic is logged as EventError and changes nothing. A nil field is not called.
type Events struct {
	// SignIn: a visitor signed in.
	SignIn func(ctx context.Context, e SignInEvent) error
	// SignOut: a session was ended, by a sign-out, by [Auth.EndSessions] or by a plugin. It is called once for each
	// session.
	SignOut func(ctx context.Context, e SignOutEvent) error
	// CreateUser: a user was created.
	CreateUser func(ctx context.Context, e UserEvent) error
	// UpdateUser: a user was updated.
	UpdateUser func(ctx context.Context, e UserEvent) error
	// LinkAccount: an account was linked to a user.
	LinkAccount func(ctx context.Context, e LinkAccountEvent) error
	// Session: a session was read.
	Session func(ctx context.Context, e SessionEvent) error
}

// SignInEvent is a sign-in: which user, by which account.
type SignInEvent struct {
	// User signed in.
	User *User
	// Account is the account used.
	Account *Account
	// Profile is the provider's answer, nil for e-mail and credentials.
	Profile Profile
	// NewUser is true when the user was created by this sign-in.
	NewUser bool
}

// SignOutEvent is a session that was ended: Token under the jwt strategy, Session under the database strategy. Session
// is nil if the store did not have the session. If another browser had the token, Token has its Subject only.
type SignOutEvent struct {
	Token   *Token
	Session *store.Session
	// SessionID is the ID of the session in [Session] and [SessionInfo]; empty if it has none.
	SessionID string
}

// UserEvent is a user that was created or updated.
type UserEvent struct{ User *User }

// LinkAccountEvent is an account that was linked to a user.
type LinkAccountEvent struct {
	// User now owns the account.
	User *User
	// Account is the account.
	Account *Account
	// Profile is what the provider's profile mapping made of the person.
	Profile *User
}

// SessionEvent is a session that was read; Token is set under the jwt strategy.
type SessionEvent struct {
	Session *Session
	Token   *Token
}
