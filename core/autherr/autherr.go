// Package autherr has the errors of Latchkey and their types, which are named as in Auth.js (docs/protocol.md §11.1).
// Package core has aliases for what applications use, as package os has for io/fs: an application imports only core.
package autherr

import (
	"fmt"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/internal/errortypes"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// Type is the name of an error type, as in Auth.js (docs/protocol.md §11.1). It implements error: errors.Is(err,
// autherr.AccessDenied) reports whether err has the type.
type Type string

// The error types. [Type.Public] returns the name that a browser may see. It is "Configuration" unless the comment
// states another one.
const (
	// AccessDenied means that the SignIn callback denied the sign-in, or failed. Browsers see the name.
	AccessDenied Type = "AccessDenied"
	// AccountNotLinked means that a passkey, its name or an email address belongs to another user than the signed-in
	// one. Browsers see the name.
	AccountNotLinked Type = "AccountNotLinked"
	// Store means that the store failed. If it was unavailable or did not respond within Config.StoreTimeout, the
	// response is 503 and "One moment".
	Store Type = "AdapterError"
	// Auth is an error without another type. It is the base type: errors.Is finds it in every error of Latchkey.
	Auth Type = "AuthError"
	// CallbackRoute means that the callback of a sign-in failed: token endpoint, ID token or userinfo.
	CallbackRoute Type = "CallbackRouteError"
	// CredentialsSignin means that Authorize refused the credentials. The parameter code tells the sign-in page the
	// reason. Browsers see the name.
	CredentialsSignin Type = "CredentialsSignin"
	// DuplicateConditionalUI means that two passkey providers use the autofill of the sign-in page.
	DuplicateConditionalUI Type = "DuplicateConditionalUI"
	// EmailSignIn means that the entered text is not an email address, or that the sign-in email could not be sent.
	// Browsers see "EmailSignin".
	EmailSignIn Type = "EmailSignInError"
	// PageLoop means that PagesConfig.Error is a page that requires a session.
	PageLoop Type = "ErrorPageLoop"
	// Event means that an event handler failed. It is only logged.
	Event Type = "EventError"
	// ExperimentalFeatureNotEnabled means that there is a passkey provider without Config.EnableWebAuthn.
	ExperimentalFeatureNotEnabled Type = "ExperimentalFeatureNotEnabled"
	// InvalidCallbackURL means that a callback URL is neither a path nor an http(s) URL.
	InvalidCallbackURL Type = "InvalidCallbackUrl"
	// InvalidCheck means that state, PKCE, nonce or iss of an authorization response do not match the sign-in that this
	// browser started.
	InvalidCheck Type = "InvalidCheck"
	// InvalidEndpoints means that a provider lacks endpoints or an issuer.
	InvalidEndpoints Type = "InvalidEndpoints"
	// InvalidProvider means that the configuration of a provider is invalid.
	InvalidProvider Type = "InvalidProvider"
	// JWTSession means that a session token could not be read: the session ends, and the error is only logged. If a
	// callback failed, the response is 500 and the session stays.
	JWTSession Type = "JWTSessionError"
	// MissingStore means that email, passkeys or database sessions need Config.Store.
	MissingStore Type = "MissingAdapter"
	// MissingStoreMethods means that the store lacks an interface that the configuration needs.
	MissingStoreMethods Type = "MissingAdapterMethods"
	// MissingAuthorize means that CredentialsProvider.Authorize and Admit are nil.
	MissingAuthorize Type = "MissingAuthorize"
	// MissingCSRF means that a POST is from another site or lacks the CSRF token of its cookie. The log has the reason:
	// no cookie, an invalid cookie, no field, a field with another token, another site, or a body that was not read
	// (multipart/form-data, text/plain). Browsers see the name.
	MissingCSRF Type = "MissingCSRF"
	// MissingSecret means that there is no secret, or an empty one.
	MissingSecret Type = "MissingSecret"
	// MissingWebAuthnAutocomplete means that passkey autofill needs a field with autocomplete "webauthn".
	MissingWebAuthnAutocomplete Type = "MissingWebAuthnAutocomplete"
	// OAuthAccountNotLinked means that the account or its email address belongs to another user (docs/accounts.md).
	// Browsers see the name.
	OAuthAccountNotLinked Type = "OAuthAccountNotLinked"
	// OAuthCallback means that the provider responded with an error. Browsers see the name.
	OAuthCallback Type = "OAuthCallbackError"
	// OAuthProfileParse means that a profile cannot be mapped, or has no ID. Browsers see "OAuthCallbackError".
	OAuthProfileParse Type = "OAuthProfileParseError"
	// OAuthSignIn means that an OAuth 1.0a sign-in could not start. The browser is redirected to the sign-in page. With
	// OAuth 2 and OpenID Connect the type is AuthError.
	OAuthSignIn Type = "OAuthSignInError"
	// SessionToken means that a database session could not be read. It is logged and returned to the application.
	SessionToken Type = "SessionTokenError"
	// SignOut means that a session could not be ended. It is only logged.
	SignOut Type = "SignOutError"
	// UnknownAction means that no action has this path: the response is 400. A known action with another method
	// redirects to the error page.
	UnknownAction Type = "UnknownAction"
	// UntrustedHost means that the configuration does not trust the Host header.
	UntrustedHost Type = "UntrustedHost"
	// Verification means that a sign-in link was used, has expired, or is unknown. Browsers see the name.
	Verification Type = "Verification"
	// WebAuthnVerification means that the response of a passkey could not be verified. Browsers see the name.
	WebAuthnVerification Type = "WebAuthnVerificationError"
	// InvalidConfig is any other configuration error, for example a short secret. Auth.js does not have it.
	InvalidConfig Type = "InvalidConfig"
	// TooManyRequests means that a rate limit applies. The response is 429. Auth.js does not have it.
	TooManyRequests Type = "TooManyRequests"
	// Challenge means that a CAPTCHA service did not accept the token of a form. Browsers see the name. Auth.js does
	// not have it.
	Challenge Type = "ChallengeFailed"
	// TooManyFailures means that consecutive failed attempts have used up limit.AttemptInARow: the provider rejects
	// this identifier until its owner has signed in with another method. Browsers see the name. Auth.js does not have it.
	TooManyFailures Type = "TooManyFailures"
)

// Error returns the name of the type.
func (t Type) Error() string { return "core: " + string(t) }

// Is reports whether target is [Auth], the base of all types.
func (t Type) Is(target error) bool { return target == Auth }

// Public returns the name that a browser may see: the type itself if it helps the user, else "Configuration"
// (docs/protocol.md §11.1). The details are in the log.
func (t Type) Public() string { return errortypes.Of(string(t)).Public }

// Error is a failure with its type. errors.Is with a [Type] compares the type, errors.As returns the value, and Unwrap
// returns the cause. Its text is for logs: a browser sees only Type.Public.
type Error struct {
	// Type is the error type.
	Type Type
	// Code is passed to the sign-in page together with CredentialsSignin. The default is "credentials". It must not reveal
	// details of the failure. Characters other than printable ASCII are removed, and it is cut to 64 characters.
	Code string
	// Cause is the underlying error. It may be nil.
	Cause error
}

// New returns an error of type t.
func New(t Type, cause error) *Error { return &Error{Type: t, Cause: cause} }

// Errorf returns an error of type t whose cause has the text of [fmt.Errorf].
func Errorf(t Type, format string, args ...any) *Error { return New(t, fmt.Errorf(format, args...)) }

// Error returns type and cause.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Type.Error()
	}
	return e.Type.Error() + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is the error's type, or [Auth], the base of all types.
func (e *Error) Is(target error) bool {
	t, ok := target.(Type)
	return ok && (t == e.Type || t == Auth)
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
