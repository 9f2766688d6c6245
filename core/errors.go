package core

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// ErrorType is the name of an error type, as in Auth.js (docs/protocol.md §11.1). It implements error: errors.Is(err,
// core.ErrAccessDenied) reports whether err has the type.
type ErrorType string

// The error types. [ErrorType.Public] returns the name that a browser may see. Types without an exported name are for
// the log: browsers see them as "Configuration".
const (
	ErrAccessDenied                  ErrorType = "AccessDenied"     // the SignIn callback denied the sign-in, or failed
	ErrAccountNotLinked              ErrorType = "AccountNotLinked" // the passkey or address belongs to another user
	ErrStore                         ErrorType = "AdapterError"     // a call to the store failed
	ErrAuth                          ErrorType = "AuthError"        // the base type: errors.Is finds it in every error
	errCallbackRoute                 ErrorType = "CallbackRouteError"
	ErrCredentialsSignin             ErrorType = "CredentialsSignin" // Authorize refused the credentials
	errDuplicateConditionalUI        ErrorType = "DuplicateConditionalUI"
	ErrEmailSignIn                   ErrorType = "EmailSignInError" // an invalid address, or the email was not sent
	errPageLoop                      ErrorType = "ErrorPageLoop"
	errEvent                         ErrorType = "EventError"
	errExperimentalFeatureNotEnabled ErrorType = "ExperimentalFeatureNotEnabled"
	errInvalidCallbackURL            ErrorType = "InvalidCallbackUrl"
	errInvalidCheck                  ErrorType = "InvalidCheck"
	errInvalidEndpoints              ErrorType = "InvalidEndpoints"
	errInvalidProvider               ErrorType = "InvalidProvider"
	errJWTSession                    ErrorType = "JWTSessionError"
	ErrMissingStore                  ErrorType = "MissingAdapter"        // the configuration needs a Store
	ErrMissingStoreMethods           ErrorType = "MissingAdapterMethods" // the store lacks a required interface
	errMissingAuthorize              ErrorType = "MissingAuthorize"
	ErrMissingCSRF                   ErrorType = "MissingCSRF"   // a POST without a valid CSRF token, or from another site
	ErrMissingSecret                 ErrorType = "MissingSecret" // no secret, or an empty one
	errMissingWebAuthnAutocomplete   ErrorType = "MissingWebAuthnAutocomplete"
	ErrOAuthAccountNotLinked         ErrorType = "OAuthAccountNotLinked" // the account or address is of another user
	errOAuthCallback                 ErrorType = "OAuthCallbackError"
	errOAuthProfileParse             ErrorType = "OAuthProfileParseError"
	errOAuthSignIn                   ErrorType = "OAuthSignInError"
	ErrSessionToken                  ErrorType = "SessionTokenError" // a database session could not be read
	errSignOut                       ErrorType = "SignOutError"
	ErrUnknownAction                 ErrorType = "UnknownAction" // no action has this path and method
	ErrUntrustedHost                 ErrorType = "UntrustedHost" // the configuration does not trust the Host header
	ErrVerification                  ErrorType = "Verification"  // a sign-in link was used, has expired, or is unknown
	errWebAuthnVerification          ErrorType = "WebAuthnVerificationError"

	// ErrInvalidConfig is a configuration error without a name in Auth.js.
	ErrInvalidConfig ErrorType = "InvalidConfig"
	// ErrTooManyRequests means that a Limit callback rejected an attempt. Auth.js does not have it.
	ErrTooManyRequests ErrorType = "TooManyRequests"
	// errTooManyFailures means that consecutive failed attempts have used up limit.AttemptInARow: the provider rejects
	// this identifier until its owner has signed in with another method. Auth.js does not have it.
	errTooManyFailures ErrorType = "TooManyFailures"
)

// Error returns the name of the type.
func (t ErrorType) Error() string { return "core: " + string(t) }

// Is reports whether target is [ErrAuth], the base of all types.
func (t ErrorType) Is(target error) bool { return target == ErrAuth }

// Public returns the name that a browser may see: the type itself if it helps the user, else "Configuration"
// (docs/protocol.md §11.1). The details are in the log.
func (t ErrorType) Public() string {
	switch t {
	case ErrAccessDenied, ErrAccountNotLinked, ErrCredentialsSignin, ErrMissingCSRF, ErrOAuthAccountNotLinked,
		errOAuthCallback, errTooManyFailures, ErrVerification, errWebAuthnVerification:
		return string(t)
	case ErrEmailSignIn:
		return "EmailSignin" // the user can correct the address or try again
	}
	return "Configuration"
}

// level returns the log level of a type. ERROR is for problems that the operator, a provider or the store must fix.
// Errors that a client can cause are not ERROR: they are INFO if they are common, and WARN if many of them may mean an
// attack or lost cookies.
func (t ErrorType) level() slog.Level {
	switch t {
	case ErrAccessDenied, ErrAccountNotLinked, ErrCredentialsSignin, errInvalidCallbackURL, errInvalidProvider,
		ErrOAuthAccountNotLinked, ErrUnknownAction, ErrVerification:
		return slog.LevelInfo
	case errInvalidCheck, errJWTSession, ErrMissingCSRF, errTooManyFailures, ErrTooManyRequests,
		errWebAuthnVerification:
		return slog.LevelWarn
	}
	return slog.LevelError
}

// leveledError is a cause with its own log level, which replaces that of its type.
type leveledError struct {
	error
	level slog.Level
}

func (e *leveledError) Unwrap() error { return e.error }

// clientError marks an error that the client caused, in an error type that usually means a configuration error.
func clientError(err error) error { return &leveledError{err, slog.LevelInfo} }

// suspiciousError marks an error that the client caused and that may be an attack.
func suspiciousError(err error) error { return &leveledError{err, slog.LevelWarn} }

// serverError marks an error of the application, a provider or the store, in an error type that usually means a mistake
// of the client.
func serverError(err error) error { return &leveledError{err, slog.LevelError} }

// level returns the log level of an error: ERROR for a panic, else the level of its cause, else the level of its type.
func (e *Error) level() slog.Level {
	var panicked *panicError
	var marked *leveledError
	switch {
	case errors.As(e, &panicked):
		return slog.LevelError
	case errors.As(e, &marked):
		return marked.level
	}
	return e.Type.level()
}

// Error is a failure with its type. errors.Is with an [ErrorType] compares the type, errors.As returns the value, and
// Unwrap returns the cause. Its text is for logs: a browser sees only Type.Public.
type Error struct {
	// Type is the error type.
	Type ErrorType
	// Code is passed to the sign-in page together with CredentialsSignin. The default is "credentials". It must not reveal
	// details of the failure. Characters other than printable ASCII are removed, and it is cut to 64 characters.
	Code string
	// Cause is the underlying error. It may be nil.
	Cause error
}

// NewError returns an error of type t. Applications use it in callbacks: core.NewError(core.ErrAccessDenied, cause).
func NewError(t ErrorType, cause error) *Error { return &Error{Type: t, Cause: cause} }

// errorf is NewError with a formatted cause.
func errorf(t ErrorType, format string, args ...any) *Error {
	return &Error{Type: t, Cause: fmt.Errorf(format, args...)}
}

// Error returns type and cause.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Type.Error()
	}
	return e.Type.Error() + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is the error's type, or [ErrAuth], the base of all types.
func (e *Error) Is(target error) bool {
	t, ok := target.(ErrorType)
	return ok && (t == e.Type || t == ErrAuth)
}

// LogValue returns type, code and cause as separate attributes. The cause is truncated.
func (e *Error) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("type", string(e.Type))}
	if e.Code != "" {
		attrs = append(attrs, slog.String("code", e.Code))
	}
	if e.Cause != nil {
		attrs = append(attrs, slog.String("cause", panics.Bounded(e.Cause.Error())))
	}
	return slog.GroupValue(attrs...)
}

// asError returns err as an *Error. If err wraps an *Error with further text, the result has the type and code of that
// error and err as its cause, so that the whole text is logged. If err wraps no *Error, the result has the type
// otherwise, and its cause is err with the marks applied.
func asError(err error, otherwise ErrorType, marks ...func(error) error) *Error {
	var e *Error
	if errors.As(err, &e) {
		if err.Error() == e.Error() {
			return e
		}
		return &Error{Type: e.Type, Code: e.Code, Cause: err}
	}
	var t ErrorType
	if errors.As(err, &t) {
		return &Error{Type: t}
	}
	for _, mark := range marks {
		err = mark(err)
	}
	return &Error{Type: otherwise, Cause: err}
}

// withType returns an error of type t with e as its cause. It returns e if that has the type already.
func (e *Error) withType(t ErrorType) *Error {
	if e.Type == t {
		return e
	}
	return &Error{Type: t, Cause: e}
}

// warning is a code that is logged at level warn, as the attribute "code".
type warning string

// The warnings. Those with a comment do not exist in Auth.js.
const (
	warnDebugEnabled         warning = "debug-enabled"
	warnCSRFDisabled         warning = "csrf-disabled"
	warnURLBasePathRedundant warning = "env-url-basepath-redundant"
	warnURLBasePathMismatch  warning = "env-url-basepath-mismatch"
	// warnSharedSessions: two Auths accept each other's sessions.
	warnSharedSessions warning = "shared-sessions"
	// warnNotMounted: a guard redirected browsers to the built-in sign-in page, and no request for that page arrived.
	warnNotMounted warning = "not-mounted"
	// warnSmallHeaderLimit: the router's request header limit is so low that a browser with a session and a few pending
	// sign-ins may get status 431.
	warnSmallHeaderLimit warning = "small-header-limit"
	// warnShortSecret: InsecureShortSecrets accepted a secret of fewer than 32 bytes.
	warnShortSecret warning = "short-secret"
	// warnInsecureHTTP: AllowInsecureHTTP of a provider is True.
	warnInsecureHTTP warning = "insecure-http"
	// warnNoOrigin: URL, TrustedHosts and TrustHost are all unset, so only requests to loopback hosts are answered.
	warnNoOrigin warning = "no-origin"
	// warnNoProviders: Config.Providers is empty.
	warnNoProviders warning = "no-providers"
	// warnUnusedJWTCallback: Callbacks.JWT is set but is never called under StrategyDatabase.
	warnUnusedJWTCallback warning = "unused-jwt-callback"
	// warnGoToReplaced: the redirect callback replaced a URL of [RedirectTo] by the origin.
	warnGoToReplaced warning = "go-to-replaced"
	// warnVisitedElsewhere, once for each Auth: requests name another origin than URL does.
	warnVisitedElsewhere warning = "visited-elsewhere"
	// warnClockSkew, once for each HTTP client: the Date header of a provider's response differs from Config.Now by more
	// than a minute.
	warnClockSkew warning = "clock-skew"
	// warnLimitWithoutPeer, once for each Auth: requests pass a proxy that is not in TrustedProxies, so that rate limits
	// cannot distinguish clients.
	warnLimitWithoutPeer warning = "limit-without-peer"
	// warnNoReauth, once for each Auth: some users of the named providers have no method to authenticate again.
	warnNoReauth warning = "no-reauthentication"
	// warnNoTrustedProxies, once for each Auth: limits count client addresses, the site is on https, and TrustedProxies is
	// empty.
	warnNoTrustedProxies warning = "no-trusted-proxies"
	// warnAccountsNotListed: the Store is not a store.AccountStore. A user who is the first to verify the address of an
	// existing user gets a new user record with that address, because core cannot check whether the existing user's
	// accounts belong to the same person.
	warnAccountsNotListed warning = "store-lists-no-accounts"
	// warnSessionsNotEnded: the Store is not a store.SessionLister. A user who is the first to verify the address of an
	// existing user without accounts gets a new user record with that address, because the existing user's sessions cannot
	// be ended.
	warnSessionsNotEnded warning = "store-ends-no-sessions"
	// warnSessionsNotRevoked: a plugin ends sessions, and Session.Revocation.On is False, so sessions in cookies continue
	// until they expire.
	warnSessionsNotRevoked warning = "sessions-not-revoked"
	// warnDataLarge, once for each Auth: the session data is so large that the cookies of several pending sign-ins and
	// session chunks may exceed the header limit of servers in front.
	warnDataLarge warning = "session-data-large"
)

// badRequest is an error with the response 400 "Bad request." instead of a page.
type badRequest struct {
	cause *Error
	// unknown means that no action has this path. A browser that requests a page gets status 404.
	unknown bool
}

// ErrInvalidGrant means that the provider no longer accepts a refresh token: it has expired, or the user has revoked
// it. The user must sign in again.
var ErrInvalidGrant = oauth.ErrInvalidGrant

func (e *badRequest) Error() string { return e.cause.Error() }

func (e *badRequest) Unwrap() error { return e.cause }

// redactedError is an error whose text omits secrets. They can be in it because a URL, or the error of a callback,
// provider or transport, contains them.
type redactedError struct {
	err     error
	secrets []string
}

// hide returns err with a text that omits these secrets, also in their URL-encoded forms. Secrets of fewer than eight
// characters are not hidden, because ordinary words of the error could contain them.
func hide(err error, secrets ...string) error {
	if err == nil {
		return nil
	}
	e := &redactedError{err: err}
	for _, secret := range secrets {
		if len(secret) >= 8 {
			e.secrets = append(e.secrets, secret, url.QueryEscape(secret), url.PathEscape(secret))
		}
	}
	return e
}

// hideCode returns an error whose text does not contain a code, which is too short for hide.
func hideCode(err error, code Secret) error {
	if err == nil || code == "" {
		return err
	}
	return &redactedError{err: err, secrets: []string{string(code)}}
}

// hideLink hides a link and the values of its query, such as the token. The recipient is not hidden. If err is a panic,
// its value is hidden unless it is an error of the Go runtime, because it may contain a part of the link.
func hideLink(err error, link Secret, recipient string) error {
	if panicked, ok := errors.AsType[*panicError](err); ok {
		panicked.Withhold()
	}
	secrets := []string{string(link)}
	if at, bad := url.Parse(string(link)); bad == nil {
		for _, values := range at.Query() {
			secrets = append(secrets, slices.DeleteFunc(values, func(v string) bool { return v == recipient })...)
		}
	}
	return hide(err, secrets...)
}

// Error returns the text with a placeholder for each secret.
func (e *redactedError) Error() string {
	text := e.err.Error()
	for _, secret := range e.secrets {
		text = strings.ReplaceAll(text, secret, Secret(secret).String())
	}
	return text
}

// Unwrap returns the original error.
func (e *redactedError) Unwrap() error { return e.err }

// As finds an [Error] in the original error, and hides the secrets in its cause, because the cause is logged.
func (e *redactedError) As(target any) bool {
	found, wanted := target.(**Error)
	within, there := errors.AsType[*Error](e.err)
	if !wanted || !there {
		return false
	}
	outer := *within
	if outer.Cause != nil {
		outer.Cause = &redactedError{outer.Cause, e.secrets}
	}
	*found = &outer
	return true
}

// callbackReason says why a sign-in can no longer be completed. The error page receives it in the parameter "reason".
type callbackReason string

// The reasons. Custom error pages of applications read them, so the values must not change.
const (
	// reasonExpired: the browser has no cookie of the flow. It was started too long ago, or in another browser.
	reasonExpired callbackReason = "expired"
	// reasonBrowser: another browser started the flow.
	reasonBrowser callbackReason = "browser"
	// reasonUsed: the code, challenge or link was used before.
	reasonUsed callbackReason = "used"
)

// callbackError marks the cause of an error: the callback can no longer be used. The user may have reloaded it,
// returned to it with the back button, or waited too long.
type callbackError struct {
	error
	reason callbackReason
}

// Unwrap returns the cause.
func (e *callbackError) Unwrap() error { return e.error }

// callbackErrorf is errorf for a callback that can no longer be used.
func callbackErrorf(t ErrorType, reason callbackReason, format string, args ...any) *Error {
	return &Error{Type: t, Cause: &callbackError{fmt.Errorf(format, args...), reason}}
}

// reasonIn returns why a callback can no longer be used. It is empty for other errors.
func reasonIn(err error) callbackReason {
	var over *callbackError
	if errors.As(err, &over) {
		return over.reason
	}
	return ""
}

var errNeedsPost = errors.New("core: a GET action cannot start or change a session: " +
	"use an action with Method POST")
