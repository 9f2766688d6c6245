package core

import (
	"errors"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/internal/oauth"
)

type (
	// Error is a failure with its type. Its text is for logs. See [autherr.Error] in package core/autherr for its fields.
	Error = autherr.Error
	// ErrorType is the name of an error type. See [autherr.Type] in package core/autherr for its methods.
	ErrorType = autherr.Type
)

// The error types that applications use. Package core/autherr says of all types what a browser sees.
const (
	// ErrAccessDenied means that the SignIn callback denied the sign-in, or failed.
	ErrAccessDenied = autherr.AccessDenied
	// ErrAccountNotLinked means that a passkey, its name or an email address belongs to another user.
	ErrAccountNotLinked = autherr.AccountNotLinked
	// ErrStore means that the store failed. If it was unavailable, the response is 503.
	ErrStore = autherr.Store
	// ErrAuth is an error without another type. errors.Is finds it in every error of Latchkey.
	ErrAuth = autherr.Auth
	// ErrCredentialsSignin means that Authorize refused the credentials.
	ErrCredentialsSignin = autherr.CredentialsSignin
	// ErrEmailSignIn means that an email address is invalid, or that the sign-in email could not be sent.
	ErrEmailSignIn = autherr.EmailSignIn
	// ErrMissingStore means that email, passkeys or database sessions need Config.Store.
	ErrMissingStore = autherr.MissingStore
	// ErrMissingStoreMethods means that the store lacks an interface that the configuration needs.
	ErrMissingStoreMethods = autherr.MissingStoreMethods
	// ErrMissingCSRF means that a POST is from another site or lacks the CSRF token of its cookie.
	ErrMissingCSRF = autherr.MissingCSRF
	// ErrMissingSecret means that there is no secret, or an empty one.
	ErrMissingSecret = autherr.MissingSecret
	// ErrOAuthAccountNotLinked means that the account or its email address belongs to another user (docs/accounts.md).
	ErrOAuthAccountNotLinked = autherr.OAuthAccountNotLinked
	// ErrSessionToken means that a database session could not be read.
	ErrSessionToken = autherr.SessionToken
	// ErrUnknownAction means that no action has this path: the response is 400.
	ErrUnknownAction = autherr.UnknownAction
	// ErrUntrustedHost means that the configuration does not trust the Host header.
	ErrUntrustedHost = autherr.UntrustedHost
	// ErrVerification means that a sign-in link was used, has expired, or is unknown.
	ErrVerification = autherr.Verification
	// ErrInvalidConfig is any other configuration error, for example a short secret.
	ErrInvalidConfig = autherr.InvalidConfig
	// ErrTooManyRequests means that a rate limit applies. The response is 429.
	ErrTooManyRequests = autherr.TooManyRequests
)

// NewError returns an error of type t. Applications use it in callbacks: core.NewError(core.ErrAccessDenied, cause).
func NewError(t ErrorType, cause error) *Error { return autherr.New(t, cause) }

// errorf is NewError with a formatted cause.
func errorf(t ErrorType, format string, args ...any) *Error {
	return autherr.Errorf(t, format, args...)
}

// ErrInvalidGrant means that the provider no longer accepts a refresh token: it has expired, or the user has revoked
// it. The user must sign in again.
var ErrInvalidGrant = oauth.ErrInvalidGrant

var errNeedsPost = errors.New("core: a GET action cannot start or change a session: " +
	"use an action with Method POST")
