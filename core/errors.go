package core

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/internal/errortypes"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// ErrorType is the name of an error type, as in Auth.js (docs/protocol.md §11.1). It implements error: errors.Is(err,
// core.ErrAccessDenied) reports whether err has the type.
type ErrorType string

// The error types. [ErrorType.Public] returns the name that a browser may see. It is "Configuration" unless the comment
// states another one. Types without an exported name are for the log.
const (
	// ErrAccessDenied means that the SignIn callback denied the sign-in, or failed. Browsers see the name.
	ErrAccessDenied ErrorType = "AccessDenied"
	// ErrAccountNotLinked means that a passkey, its name or an email address belongs to another user than the signed-in
	// one. Browsers see the name.
	ErrAccountNotLinked ErrorType = "AccountNotLinked"
	// ErrStore means that the store failed. If it was unavailable or did not respond within Config.StoreTimeout, the
	// response is 503 and "One moment".
	ErrStore ErrorType = "AdapterError"
	// ErrAuth is an error without another type. It is the base type: errors.Is finds it in every error of Latchkey.
	ErrAuth ErrorType = "AuthError"
	// errCallbackRoute means that the callback of a sign-in failed: token endpoint, ID token or userinfo.
	errCallbackRoute ErrorType = "CallbackRouteError"
	// ErrCredentialsSignin means that Authorize refused the credentials. The parameter code tells the sign-in page the
	// reason. Browsers see the name.
	ErrCredentialsSignin ErrorType = "CredentialsSignin"
	// errDuplicateConditionalUI means that two passkey providers use the autofill of the sign-in page.
	errDuplicateConditionalUI ErrorType = "DuplicateConditionalUI"
	// ErrEmailSignIn means that the entered text is not an email address, or that the sign-in email could not be sent.
	// Browsers see "EmailSignin".
	ErrEmailSignIn ErrorType = "EmailSignInError"
	// errPageLoop means that PagesConfig.Error is a page that requires a session.
	errPageLoop ErrorType = "ErrorPageLoop"
	// errEvent means that an event handler failed. It is only logged.
	errEvent ErrorType = "EventError"
	// errExperimentalFeatureNotEnabled means that there is a passkey provider without Config.EnableWebAuthn.
	errExperimentalFeatureNotEnabled ErrorType = "ExperimentalFeatureNotEnabled"
	// errInvalidCallbackURL means that a callback URL is neither a path nor an http(s) URL.
	errInvalidCallbackURL ErrorType = "InvalidCallbackUrl"
	// errInvalidCheck means that state, PKCE, nonce or iss of an authorization response do not match the sign-in that this
	// browser started.
	errInvalidCheck ErrorType = "InvalidCheck"
	// errInvalidEndpoints means that a provider lacks endpoints or an issuer.
	errInvalidEndpoints ErrorType = "InvalidEndpoints"
	// errInvalidProvider means that the configuration of a provider is invalid.
	errInvalidProvider ErrorType = "InvalidProvider"
	// errJWTSession means that a session token could not be read: the session ends, and the error is only logged. If a
	// callback failed, the response is 500 and the session stays.
	errJWTSession ErrorType = "JWTSessionError"
	// ErrMissingStore means that email, passkeys or database sessions need Config.Store.
	ErrMissingStore ErrorType = "MissingAdapter"
	// ErrMissingStoreMethods means that the store lacks an interface that the configuration needs.
	ErrMissingStoreMethods ErrorType = "MissingAdapterMethods"
	// errMissingAuthorize means that CredentialsProvider.Authorize and Admit are nil.
	errMissingAuthorize ErrorType = "MissingAuthorize"
	// ErrMissingCSRF means that a POST is from another site or lacks the CSRF token of its cookie. The log has the reason:
	// no cookie, an invalid cookie, no field, a field with another token, another site, or a body that was not read
	// (multipart/form-data, text/plain). Browsers see the name.
	ErrMissingCSRF ErrorType = "MissingCSRF"
	// ErrMissingSecret means that there is no secret, or an empty one.
	ErrMissingSecret ErrorType = "MissingSecret"
	// errMissingWebAuthnAutocomplete means that passkey autofill needs a field with autocomplete "webauthn".
	errMissingWebAuthnAutocomplete ErrorType = "MissingWebAuthnAutocomplete"
	// ErrOAuthAccountNotLinked means that the account or its email address belongs to another user (docs/accounts.md).
	// Browsers see the name.
	ErrOAuthAccountNotLinked ErrorType = "OAuthAccountNotLinked"
	// errOAuthCallback means that the provider responded with an error. Browsers see the name.
	errOAuthCallback ErrorType = "OAuthCallbackError"
	// errOAuthProfileParse means that a profile cannot be mapped, or has no ID. Browsers see "OAuthCallbackError".
	errOAuthProfileParse ErrorType = "OAuthProfileParseError"
	// errOAuthSignIn means that an OAuth 1.0a sign-in could not start. The browser is redirected to the sign-in page. With
	// OAuth 2 and OpenID Connect the type is AuthError.
	errOAuthSignIn ErrorType = "OAuthSignInError"
	// ErrSessionToken means that a database session could not be read. It is logged and returned to the application.
	ErrSessionToken ErrorType = "SessionTokenError"
	// errSignOut means that a session could not be ended. It is only logged.
	errSignOut ErrorType = "SignOutError"
	// ErrUnknownAction means that no action has this path: the response is 400. A known action with another method
	// redirects to the error page.
	ErrUnknownAction ErrorType = "UnknownAction"
	// ErrUntrustedHost means that the configuration does not trust the Host header.
	ErrUntrustedHost ErrorType = "UntrustedHost"
	// ErrVerification means that a sign-in link was used, has expired, or is unknown. Browsers see the name.
	ErrVerification ErrorType = "Verification"
	// errWebAuthnVerification means that the response of a passkey could not be verified. Browsers see the name.
	errWebAuthnVerification ErrorType = "WebAuthnVerificationError"
	// ErrInvalidConfig is any other configuration error, for example a short secret. Auth.js does not have it.
	ErrInvalidConfig ErrorType = "InvalidConfig"
	// ErrTooManyRequests means that a rate limit applies. The response is 429. Auth.js does not have it.
	ErrTooManyRequests ErrorType = "TooManyRequests"
	// errChallenge means that a CAPTCHA service did not accept the token of a form. Browsers see the name. Auth.js does
	// not have it.
	errChallenge ErrorType = "ChallengeFailed"
	// errTooManyFailures means that consecutive failed attempts have used up limit.AttemptInARow: the provider rejects
	// this identifier until its owner has signed in with another method. Browsers see the name. Auth.js does not have it.
	errTooManyFailures ErrorType = "TooManyFailures"
)

// Error returns the name of the type.
func (t ErrorType) Error() string { return "core: " + string(t) }

// Is reports whether target is [ErrAuth], the base of all types.
func (t ErrorType) Is(target error) bool { return target == ErrAuth }

// Public returns the name that a browser may see: the type itself if it helps the user, else "Configuration"
// (docs/protocol.md §11.1). The details are in the log.
func (t ErrorType) Public() string { return errortypes.Of(string(t)).Public }

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
	var panicked *panics.Error
	var marked *leveledError
	switch {
	case errors.As(e, &panicked):
		return slog.LevelError
	case errors.As(e, &marked):
		return marked.level
	}
	return errortypes.Of(string(e.Type)).Level
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

// badRequest is an error with the response 400 "Bad request." instead of a page.
type badRequest struct {
	cause *Error
	// unknown means that no action has this path. A browser that requests a page gets status 404.
	unknown bool
}

func (e *badRequest) Error() string { return e.cause.Error() }

func (e *badRequest) Unwrap() error { return e.cause }

// ErrInvalidGrant means that the provider no longer accepts a refresh token: it has expired, or the user has revoked
// it. The user must sign in again.
var ErrInvalidGrant = oauth.ErrInvalidGrant

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
