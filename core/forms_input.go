package core

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"github.com/latchkey-go/latchkey/internal/callbackurl"
	"github.com/latchkey-go/latchkey/internal/forminput"
)

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

// SignInWith starts a sign-in with the values of in instead of a form. If in is nil, it is [Auth.SignIn]. r is the POST
// request that contained the input; its body is not read. The response is that of [Auth.SignIn]: a redirect with status
// 303, or {"url": …} if the request has X-Auth-Return-Redirect. Invalid input gets status 422 with an
// *[InvalidInputError] as JSON, which [Response.Failure] returns.
func (a *Auth) SignInWith(ctx context.Context, r *Request, in *SignInInput) *Response {
	if in == nil {
		return a.SignIn(ctx, r)
	}
	a, refusal := forInput(ctx, a, r)
	if refusal != nil {
		return refusal
	}
	input := &forminput.Input{
		RedirectTo: cmp.Or(in.inOptions, in.RedirectTo), CSRFToken: in.CSRFToken,
		AuthorizationParams: in.AuthorizationParams, Fields: in.Fields,
	}
	wrong := in.wrong.Clone()
	params, fields := input.Post(wrong, a.site.publicPath+"/")
	p := a.byID[in.ProviderID]
	if p == nil && in.ProviderID != "" {
		wrong.Field("providerId", "no provider of this id is configured")
	}
	if v, err := a.site.arrive(r); err == nil && input.RedirectTo != "" { // otherwise the route rejects the request
		if _, err := callbackurl.SameOrigin(input.RedirectTo, v.at, a.site.appSchemes); err != nil {
			wrong.Field("redirectTo", "expected a path or an http(s) URL")
		}
	}
	return answerInput(ctx, a, r, wrong, signInRoute(p, params), fields)
}

// SignOutWith signs the user out with the values of in instead of a form, like [Auth.SignInWith]. An unusable
// RedirectTo does not stop the sign-out: the browser then continues to the home page.
func (a *Auth) SignOutWith(ctx context.Context, r *Request, in *SignOutInput) *Response {
	if in == nil {
		return a.SignOut(ctx, r)
	}
	a, refusal := forInput(ctx, a, r)
	if refusal != nil {
		return refusal
	}
	input, wrong := forminput.Input{RedirectTo: in.RedirectTo, CSRFToken: in.CSRFToken}, in.wrong.Clone()
	_, fields := input.Post(wrong, a.site.publicPath+"/")
	return answerInput(ctx, a, r, wrong, "/signout", fields)
}

// answerInput calls the route, unless the input is invalid.
func answerInput(
	ctx context.Context, a *Auth, r *Request, wrong *forminput.Errors, route string, fields url.Values,
) *Response {
	if !wrong.Found() {
		return post(ctx, a, r, route, fields, true)
	}
	body, _ := wrong.MarshalJSON() // it has only texts
	refused := &Response{Err: (*InvalidInputError)(wrong)}
	return finish(r, refuse(refused, http.StatusUnprocessableEntity, body))
}
