package core

import "github.com/latchkey-go/latchkey/internal/forminput"

// SignInInput contains the arguments of a sign-in that a component of the application starts, like those of useSignIn
// in component frameworks. It can be decoded from the JSON of a script, with the members providerId, redirectTo,
// authorizationParams, options and csrfToken. [Auth.SignInWith] reports invalid members by field.
type SignInInput struct {
	// ProviderID is the provider. If it is empty, the user selects one on the sign-in page.
	ProviderID string
	// RedirectTo is where the browser continues after the sign-in. The default is the root of the application.
	RedirectTo string
	// AuthorizationParams are parameters of the authorization request: a query string, a url.Values, a
	// map[string]string, or in JSON an object. It may be nil.
	AuthorizationParams any
	// Fields are the fields for the provider, such as email, or username and password. In JSON they are the member
	// options, whose redirectTo takes precedence over the outer one.
	Fields map[string]string
	// CSRFToken is the CSRF token of a form. It may be empty if the request has other proof that this site sent it and
	// Config.CSRF accepts that.
	CSRFToken string

	inOptions string // the redirectTo of the options
	wrong     forminput.Errors
}

// SignOutInput contains the arguments of a sign-out that a component of the application starts, like those of
// useSignOut.
type SignOutInput struct {
	// RedirectTo is where the browser continues after the sign-out. The default is the root of the application.
	RedirectTo string
	// CSRFToken is the CSRF token, as in [SignInInput].
	CSRFToken string

	wrong forminput.Errors
}

// InvalidInputError is the error of invalid input to [Auth.SignInWith] or [Auth.SignOutWith]. Its JSON has the format
// of component frameworks: failed; fieldErrors with a list of messages for each invalid field; formErrors with messages
// about the whole input. The messages are for developers and contain no input.
type InvalidInputError struct {
	FieldErrors map[string][]string
	FormErrors  []string
}

// MarshalJSON returns an object with all three members.
func (e *InvalidInputError) MarshalJSON() ([]byte, error) {
	return (*forminput.Errors)(e).MarshalJSON()
}

// Error lists the messages.
func (e *InvalidInputError) Error() string { return (*forminput.Errors)(e).Error() }

// UnmarshalJSON reads an object with the members providerId, redirectTo, authorizationParams, options and csrfToken,
// and ignores others. A member of the wrong type is not an error here: SignInWith rejects it.
func (in *SignInInput) UnmarshalJSON(data []byte) error {
	own, wrong := forminput.SignIn(data)
	*in = SignInInput{
		ProviderID: own.ProviderID, RedirectTo: own.RedirectTo, AuthorizationParams: own.AuthorizationParams,
		Fields: own.Fields, CSRFToken: own.CSRFToken, inOptions: own.InOptions, wrong: wrong,
	}
	return nil
}

// UnmarshalJSON reads an object with the members redirectTo and csrfToken, like that of [SignInInput].
func (in *SignOutInput) UnmarshalJSON(data []byte) error {
	own, wrong := forminput.SignOut(data)
	*in = SignOutInput{RedirectTo: own.RedirectTo, CSRFToken: own.CSRFToken, wrong: wrong}
	return nil
}
