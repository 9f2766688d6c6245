package core

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/internal/oauth"
)

// ErrorType is the name of an error class, as Auth.js has it (docs/protocol.md §11.1). It is an error itself, so that
// errors.Is(err, core.ErrAccessDenied) asks for the class.
type ErrorType string

// The error classes. What a browser is told: see [ErrorType.Public].
const (
	ErrAccessDenied                  ErrorType = "AccessDenied"
	ErrAccountNotLinked              ErrorType = "AccountNotLinked"
	ErrStore                         ErrorType = "AdapterError"
	ErrAuth                          ErrorType = "AuthError"
	ErrCallbackRoute                 ErrorType = "CallbackRouteError"
	ErrCredentialsSignin             ErrorType = "CredentialsSignin"
	ErrDuplicateConditionalUI        ErrorType = "DuplicateConditionalUI"
	ErrEmailSignIn                   ErrorType = "EmailSignInError"
	ErrPageLoop                      ErrorType = "ErrorPageLoop"
	ErrEvent                         ErrorType = "EventError"
	ErrExperimentalFeatureNotEnabled ErrorType = "ExperimentalFeatureNotEnabled"
	ErrInvalidCallbackURL            ErrorType = "InvalidCallbackUrl"
	ErrInvalidCheck                  ErrorType = "InvalidCheck"
	ErrInvalidEndpoints              ErrorType = "InvalidEndpoints"
	ErrInvalidProvider               ErrorType = "InvalidProvider"
	ErrJWTSession                    ErrorType = "JWTSessionError"
	ErrMissingStore                  ErrorType = "MissingAdapter"
	ErrMissingStoreMethods           ErrorType = "MissingAdapterMethods"
	ErrMissingAuthorize              ErrorType = "MissingAuthorize"
	ErrMissingCSRF                   ErrorType = "MissingCSRF"
	ErrMissingSecret                 ErrorType = "MissingSecret"
	ErrMissingWebAuthnAutocomplete   ErrorType = "MissingWebAuthnAutocomplete"
	ErrOAuthAccountNotLinked         ErrorType = "OAuthAccountNotLinked"
	ErrOAuthCallback                 ErrorType = "OAuthCallbackError"
	ErrOAuthProfileParse             ErrorType = "OAuthProfileParseError"
	ErrOAuthSignIn                   ErrorType = "OAuthSignInError"
	ErrSessionToken                  ErrorType = "SessionTokenError"
	ErrSignOut                       ErrorType = "SignOutError"
	ErrUnknownAction                 ErrorType = "UnknownAction"
	ErrUntrustedHost                 ErrorType = "UntrustedHost"
	ErrVerification                  ErrorType = "Verification"
	ErrWebAuthnVerification          ErrorType = "WebAuthnVerificationError"

	// ErrInvalidConfig is ours: a fault of the configuration for which Auth.js has no name.
	ErrInvalidConfig ErrorType = "InvalidConfig"
	// ErrTooManyRequests is ours: a Limit callback had an attempt wait.
	ErrTooManyRequests ErrorType = "TooManyRequests"
	// ErrTooManyFailures is ours: wrong attempts in a row have used up [AttemptInARow], and the provider signs nobody of
	// that name in until they have got in another way.
	ErrTooManyFailures ErrorType = "TooManyFailures"
)

// Error makes a type an error of its own, the target of errors.Is.
func (t ErrorType) Error() string { return "core: " + string(t) }

// Is reports whether target is [ErrAuth], the base of all classes.
func (t ErrorType) Is(target error) bool { return target == ErrAuth }

// Public is the name a browser may see: the type itself for the few that help a visitor, "Configuration" for all others
// (docs/protocol.md §11.1). The details are in the log.
func (t ErrorType) Public() string {
	switch t {
	case ErrAccessDenied, ErrAccountNotLinked, ErrCredentialsSignin, ErrMissingCSRF, ErrOAuthAccountNotLinked,
		ErrOAuthCallback, ErrTooManyFailures, ErrVerification, ErrWebAuthnVerification:
		return string(t)
	case ErrEmailSignIn:
		return "EmailSignin" // the visitor can mend the address or try again
	}
	return "Configuration"
}

// onSignInPage reports whether the error is shown on the sign-in page, where the visitor can try again.
func (t ErrorType) onSignInPage() bool {
	switch t {
	case ErrAccountNotLinked, ErrCredentialsSignin, ErrEmailSignIn, ErrMissingCSRF, ErrOAuthAccountNotLinked,
		ErrOAuthCallback, ErrOAuthSignIn, ErrTooManyFailures:
		return true
	}
	return false
}

// level is the log level of a class. ERROR is for what the operator, a provider or the store must mend. What a visitor
// or a stranger brings about is no ERROR: INFO where it happens every day, WARN where many of them may mean an attack,
// or cookies that get lost on their way.
func (t ErrorType) level() slog.Level {
	switch t {
	case ErrAccessDenied, ErrAccountNotLinked, ErrCredentialsSignin, ErrInvalidCallbackURL, ErrInvalidProvider,
		ErrOAuthAccountNotLinked, ErrUnknownAction, ErrVerification:
		return slog.LevelInfo
	case ErrInvalidCheck, ErrJWTSession, ErrMissingCSRF, ErrTooManyFailures, ErrTooManyRequests,
		ErrWebAuthnVerification:
		return slog.LevelWarn
	}
	return slog.LevelError
}

// told is a cause with a log level of its own, in place of its class's.
type told struct {
	error
	level slog.Level
}

func (e *told) Unwrap() error { return e.error }

// mistake marks a cause as a visitor's under a class that otherwise names faults.
func mistake(err error) error { return &told{err, slog.LevelInfo} }

// suspicion marks a cause as a mistake that may be an attack.
func suspicion(err error) error { return &told{err, slog.LevelWarn} }

// fault marks a cause as the application's, a provider's or the store's under a class that otherwise names mistakes of
// visitors.
func fault(err error) error { return &told{err, slog.LevelError} }

// level is the log level of an error: ERROR for a panic, else that of its cause or its class.
func (e *Error) level() slog.Level {
	var panicked *panicError
	var marked *told
	switch {
	case errors.As(e, &panicked):
		return slog.LevelError
	case errors.As(e, &marked):
		return marked.level
	}
	return e.Type.level()
}

// Error is a failure with the class that Auth.js gives it. errors.Is with an [ErrorType] asks for the class, errors.As
// for the value; Unwrap leads to the cause. Its text is for logs: a browser sees Type.Public alone.
type Error struct {
	// Type is the class.
	Type ErrorType
	// Code goes to the sign-in page beside CredentialsSignin, "credentials" when empty. It must not tell what was wrong in
	// detail; characters that are not printable ASCII are dropped, and 64 are kept at most.
	Code string
	// Cause is what went wrong, nil when the type says it all.
	Cause error
}

// NewError returns an error of that type. An application uses it in callbacks: core.NewError(core.ErrAccessDenied,
// cause).
func NewError(t ErrorType, cause error) *Error { return &Error{Type: t, Cause: cause} }

// errorf is NewError with a formatted cause.
func errorf(t ErrorType, format string, args ...any) *Error {
	return &Error{Type: t, Cause: fmt.Errorf(format, args...)}
}

// Error has type and cause.
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

// LogValue gives type, code and cause as attributes of their own, the cause bounded.
func (e *Error) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("type", string(e.Type))}
	if e.Code != "" {
		attrs = append(attrs, slog.String("code", e.Code))
	}
	if e.Cause != nil {
		attrs = append(attrs, slog.String("cause", bounded(e.Cause.Error())))
	}
	return slog.GroupValue(attrs...)
}

// asError returns err as an *Error. If err wraps an *Error with further text, the result has type and code of that
// error and err as its cause, so that the whole text is logged. If err wraps none, the result has the given type, and
// err with the marks as its cause.
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

// under keeps the cause of an error and gives it another type.
func (e *Error) under(t ErrorType) *Error {
	if e.Type == t {
		return e
	}
	return &Error{Type: t, Cause: e}
}

// warning is a code passed to the logger at level warn, as the attribute "code".
type warning string

// The warnings.
const (
	warnDebugEnabled         warning = "debug-enabled"
	warnCSRFDisabled         warning = "csrf-disabled"
	warnURLBasePathRedundant warning = "env-url-basepath-redundant"
	warnURLBasePathMismatch  warning = "env-url-basepath-mismatch"
	// warnSharedSessions is ours: of two Auths each accepts the sessions of the other.
	warnSharedSessions warning = "shared-sessions"
	// warnNotMounted is ours: a guard has sent visitors to the built-in sign-in page, and none of them has asked the auth
	// routes for it.
	warnNotMounted warning = "not-mounted"
	// warnSmallHeaderLimit is ours: the router reads so little of a request's header that a visitor with a session and a
	// few sign-ins under way may be answered 431.
	warnSmallHeaderLimit warning = "small-header-limit"
	// warnShortSecret is ours: InsecureShortSecrets let a secret of fewer than 32 bytes pass.
	warnShortSecret warning = "short-secret"
	// warnInsecureHTTP: AllowInsecureHTTP of a provider is On. It is not a warning of Auth.js.
	warnInsecureHTTP warning = "insecure-http"
	// warnNoOrigin is ours: neither URL nor TrustedHosts nor TrustHost is set, so that only loopback hosts are answered.
	warnNoOrigin warning = "no-origin"
	// warnNoProviders is ours: Config.Providers is empty.
	warnNoProviders warning = "no-providers"
	// warnUnusedJWTCallback is ours: Callbacks.JWT is set, and never runs under StrategyDatabase.
	warnUnusedJWTCallback warning = "unused-jwt-callback"
	// warnGoToReplaced is ours: the redirect callback replaced a URL of [GoTo] by the origin.
	warnGoToReplaced warning = "go-to-replaced"
	// warnVisitedElsewhere is ours, once for each Auth: visitors ask for another origin than URL names.
	warnVisitedElsewhere warning = "visited-elsewhere"
	// warnClockSkew is ours, once for each HTTP client: the Date of a provider's response differs from Config.Now by more
	// than a minute.
	warnClockSkew warning = "clock-skew"
	// warnLimitWithoutPeer is ours, once for each Auth: a proxy that TrustedProxies does not name is in front, so that
	// limits do not tell visitors apart.
	warnLimitWithoutPeer warning = "limit-without-peer"
	// warnNoTrustedProxies is ours, once for each Auth: limits count clients, the site is on https, and TrustedProxies is
	// empty.
	warnNoTrustedProxies warning = "no-trusted-proxies"
	// warnAccountsNotListed is ours: the Store is no store.AccountStore. A visitor who is the first to prove the address
	// of a user gets a new user with that address, as core cannot tell whether the accounts of the old one are theirs.
	warnAccountsNotListed warning = "store-lists-no-accounts"
	// warnSessionsNotEnded is ours: the Store is no store.SessionLister. A visitor who is the first to prove the address
	// of a user without accounts gets a new user with that address, as the sessions of the old one cannot be ended.
	warnSessionsNotEnded warning = "store-ends-no-sessions"
	// warnSessionsNotRevoked is ours: a plugin ends sessions, and Session.Revocation.On is Off, so sessions in cookies
	// continue until they expire.
	warnSessionsNotRevoked warning = "sessions-not-revoked"
	// warnDataLarge is ours, once for each Auth: the data of sessions is so large that cookies of several sign-ins and
	// chunks may come to more than servers in front read.
	warnDataLarge warning = "session-data-large"
)

// badRequest marks a request that is answered 400 "Bad request." rather than with a page.
type badRequest struct {
	cause *Error
	// unknown: no action has this path. A browser that asks for a page gets status 404.
	unknown bool
}

// ErrInvalidGrant says that the provider no longer accepts a refresh token: it has ended, or the person took the
// permission back. They must sign in again.
var ErrInvalidGrant = oauth.ErrInvalidGrant

func (e *badRequest) Error() string { return e.cause.Error() }

func (e *badRequest) Unwrap() error { return e.cause }
