package core

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	sessiontoken "github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/sessiondata"
	"github.com/latchkey-go/latchkey/ui"
)

// The strategies (docs/protocol.md §7.1).
const (
	// StrategyJWT stores the session in an encrypted cookie.
	StrategyJWT Strategy = "jwt"
	// StrategyDatabase stores the session in the Store. The cookie contains a random token.
	StrategyDatabase Strategy = "database"
)

// Strategy is where sessions are stored.
type Strategy string

// UpdateAlways is an UpdateAge that extends a session each time it is read.
const UpdateAlways time.Duration = -1

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
	// RememberMe adds the checkbox "Keep me signed in" to the sign-in page. A session whose user did not select it is
	// short: its cookie has neither Max-Age nor Expires, so that the browser deletes it when it closes, and it lasts
	// ShortMaxAge instead of MaxAge. The choice applies to every sign-in method. An application's own form posts it in the
	// field rememberMe, "1" if it is selected. If false, there is no checkbox, and all sessions last MaxAge.
	RememberMe bool
	// ShortMaxAge is MaxAge for short sessions. It is at most MaxAge, and needs RememberMe. The default is 12 hours. A
	// browser that restores its tabs also restores the cookies of short sessions; only this lifetime ends them.
	ShortMaxAge time.Duration
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
	// Encode and Decode replace the encryption of session tokens. Set both or neither. By default tokens are encrypted
	// with A256CBC-HS512, as in Auth.js, and tokens with A256GCM are also accepted.
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

// DecodeParams contains a token to decode. See DecodeParams in package core/token for its fields.
type DecodeParams = sessiontoken.DecodeParams

// PagesConfig replaces built-in pages with pages of the application, or changes them. Pages are paths or URLs; their
// queries are kept.
type PagesConfig struct {
	// SignIn is the sign-in page. It gets the query parameter callbackUrl and, after a failure, error and code; a
	// guard sets the error SessionRequired. SignOut is the page that confirms a sign-out. Error is the error page, and
	// gets the parameter error. VerifyRequest is the page after an email was sent. NewUser is shown after a user's
	// first sign-in, and gets callbackUrl.
	SignIn, SignOut, Error, VerifyRequest, NewUser string
	// EmailFirst splits the built-in sign-in page. The first page has the providers, the passkey button and the email
	// address, the second the password and the button for an email link. The second page is the same for every address:
	// nothing is looked up. The address is in an encrypted cookie for 10 minutes. It has no effect unless a provider asks
	// for an email address and a password, such as providers/password. The default is one page.
	EmailFirst bool
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
	// Domain and Path are the attributes. The default is no Domain, and the Path "/". With a Domain, subdomains share the
	// cookie. A "__Host-" cookie can have neither.
	Domain, Path string
	// MaxAge is the Max-Age attribute. The default is 15 minutes for check cookies; for the nonce it is the Expires
	// attribute. Other cookies have none. The session cookie uses the MaxAge of the session.
	MaxAge time.Duration
	// SameSite is "lax", "strict" or "none". The default is "lax".
	SameSite string
	// HTTPOnly and Secure are the attributes. Default means True for HTTPOnly, and UseSecureCookies for Secure. A cookie
	// whose Name has a prefix is always Secure: browsers reject it otherwise, and on http they accept it from loopback
	// hosts at most.
	HTTPOnly, Secure OptionalBool
	// Partitioned sets the Partitioned attribute. The default is false.
	Partitioned bool
	// Priority is "low", "medium" or "high". If it is empty, the attribute is not set.
	Priority string
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

// CSRFPolicy selects how a POST request must prove that a page of this site sent it. A page of another site can make a
// browser send any POST request here, with the user's cookies. Without this check, an attacker could sign users out, or
// sign them in to the attacker's account and collect what they enter there.
//
// The zero value requires the CSRF token, which built-in pages and GET csrf contain, in the body in addition to the
// cookie (double submit). Another site can read neither. [CSRFTokenOrSameOrigin] also accepts headers that browsers set
// and pages cannot, and [InsecureSkipCSRFCheck] requires no token. All policies reject requests that the browser marks
// as cross-site (Sec-Fetch-Site, Fetch Metadata). Callbacks of providers with form_post are protected by state and
// nonce instead.
type CSRFPolicy struct{ sameOrigin, skip bool }

// dataSource is implemented by *[SessionData] of any type.
type dataSource interface {
	// options returns the options of the keeper in the SessionData, or a configuration error.
	options() (sessiondata.Options, error)
	// keptBy adds the keeper of an Auth.
	keptBy(k *sessiondata.Keeper)
}

// impersonationAge is the lifetime of an impersonated session, which is not renewed.
const impersonationAge = time.Hour

// lifetimes returns how long sessions last.
func (c *SessionConfig) lifetimes() sessionstate.Lifetimes {
	l := sessionstate.Lifetimes{
		MaxAge: c.MaxAge, Absolute: c.AbsoluteMaxAge, Update: c.UpdateAge, Impersonated: impersonationAge,
	}
	if c.RememberMe {
		l.Short = c.ShortMaxAge
	}
	return l
}
