// Package errortypes has the table of the error types that browsers, programs or the log treat in a special way
// (docs/protocol.md §11.1). Types are named as in Auth.js.
package errortypes

import (
	"log/slog"
	"net/http"
)

// Type says how errors of a type are shown.
type Type struct {
	// Public is the name that a browser may see.
	Public string
	// Level is the log level. ERROR is for problems that the operator, a provider or the store must fix. Errors that a
	// client can cause are INFO if they are common, and WARN if many of them may mean an attack or lost cookies.
	Level slog.Level
	// OnSignInPage means that the sign-in page shows the error, because the user can try again there.
	OnSignInPage bool
	// Status and Code are those of the problem document. If they are zero, the cause of the error decides.
	Status int
	Code   string
}

// Of returns the properties of the type with a name. Browsers see "Configuration" for others.
func Of(name string) Type {
	if t, special := types[name]; special {
		return t
	}
	return Type{Public: configuration, Level: slog.LevelError}
}

const (
	configuration = "Configuration"

	info, warn, fault = slog.LevelInfo, slog.LevelWarn, slog.LevelError
)

var types = map[string]Type{
	"AccessDenied":          {"AccessDenied", info, false, 0, ""},
	"AccountNotLinked":      {"AccountNotLinked", info, true, http.StatusForbidden, "account_not_linked"},
	"ChallengeFailed":       {"ChallengeFailed", info, true, 0, ""},
	"CredentialsSignin":     {"CredentialsSignin", info, true, 0, ""},
	"EmailSignInError":      {"EmailSignin", fault, true, http.StatusBadRequest, "email_signin"},
	"InvalidCallbackUrl":    {configuration, info, false, 0, ""},
	"InvalidCheck":          {configuration, warn, false, 0, ""},
	"InvalidProvider":       {configuration, info, false, 0, ""},
	"JWTSessionError":       {configuration, warn, false, 0, ""},
	"MissingCSRF":           {"MissingCSRF", warn, true, 0, ""},
	"OAuthAccountNotLinked": {"OAuthAccountNotLinked", info, true, http.StatusForbidden, "account_not_linked"},
	"OAuthCallbackError":    {"OAuthCallbackError", fault, true, http.StatusBadRequest, "oauth_callback"},
	"OAuthSignInError":      {configuration, fault, true, 0, ""},
	"TooManyFailures":       {"TooManyFailures", warn, true, http.StatusForbidden, "too_many_failures"},
	"TooManyRequests":       {configuration, warn, false, 0, ""},
	"UnknownAction":         {configuration, info, false, http.StatusNotFound, "unknown_action"},
	"Verification":          {"Verification", info, false, http.StatusBadRequest, "verification"},
	"WebAuthnVerificationError": {
		"WebAuthnVerificationError", warn, false, http.StatusUnauthorized, "webauthn_verification",
	},
}
