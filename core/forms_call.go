package core

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/latchkey-go/latchkey/internal/callbackurl"
	"github.com/latchkey-go/latchkey/internal/forminput"
)

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
	wrong := copied(&in.wrong)
	query, fields := wrong.Query(in.AuthorizationParams), url.Values{}
	for name, value := range in.Fields {
		if name == "callbackUrl" || name == "providerId" {
			wrong.Field("options", "%s: it has a field of its own", name)
		}
		fields.Set(name, value)
	}
	p := a.byID[in.ProviderID]
	if p == nil && in.ProviderID != "" {
		wrong.Field("providerId", "no provider of this id is configured")
	}
	redirectTo := or(in.inOptions, in.RedirectTo)
	a.site.checkRedirectTo(r, wrong, redirectTo)
	a.site.commonFields(fields, redirectTo, in.CSRFToken)
	route := "/signin"
	switch {
	case p == nil:
	case p.kind == TypeCredentials:
		route = "/callback/" + p.id
	default:
		route = "/signin/" + p.id + "?" + query.Encode()
	}
	return answerInput(ctx, a, r, wrong, route, fields)
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
	wrong, fields := copied(&in.wrong), url.Values{}
	a.site.commonFields(fields, in.RedirectTo, in.CSRFToken)
	return answerInput(ctx, a, r, wrong, "/signout", fields)
}

func copied(e *forminput.Errors) *forminput.Errors {
	return &forminput.Errors{FieldErrors: maps.Clone(e.FieldErrors), FormErrors: slices.Clone(e.FormErrors)}
}

// forInput returns the Auth of a request, or an error response.
func forInput(ctx context.Context, a *Auth, r *Request) (*Auth, *Response) {
	a, err := a.resolve(ctx, r)
	if err != nil {
		c, pages, faults := withoutAuth(r, err)
		return nil, c.refer(finish(r, refuseAll(ctx, c, pages, faults)))
	}
	if r.Method != http.MethodPost {
		return nil, a.site.refuseForm(ctx, r)
	}
	return a, nil
}

// checkRedirectTo reports a malformed redirectTo.
func (s *site) checkRedirectTo(r *Request, wrong *forminput.Errors, redirectTo string) {
	if v, err := s.arrive(r); err == nil && redirectTo != "" { // otherwise the route rejects the request
		if _, err := callbackurl.SameOrigin(redirectTo, v.at, s.appSchemes); err != nil {
			wrong.Field("redirectTo", "expected a path or an http(s) URL")
		}
	}
}

// commonFields sets the form fields that all inputs have.
func (s *site) commonFields(fields url.Values, redirectTo, token string) {
	fields.Set("callbackUrl", or(redirectTo, s.publicPath+"/"))
	if token != "" {
		fields.Set("csrfToken", token)
	}
}

// answerInput calls the route, unless the input is invalid.
func answerInput(
	ctx context.Context, a *Auth, r *Request, wrong *forminput.Errors, route string, fields url.Values,
) *Response {
	if !wrong.Found() {
		return post(ctx, a, r, route, fields)
	}
	body, err := json.Marshal(wrong)
	if err != nil { // cannot happen: it is a map of strings
		body = []byte("{}")
	}
	refused := &Response{Err: (*InvalidInputError)(wrong)}
	return finish(r, refuse(refused, http.StatusUnprocessableEntity, body))
}

// post calls an auth route with fields, as a form on the page of the request would. The route does the CSRF check.
func post(ctx context.Context, a *Auth, r *Request, route string, fields url.Values) *Response {
	inner := *r
	inner.Path, inner.MountPrefix, inner.ContentLength = "", "", 0
	inner.Target = a.site.basePath + route
	inner.Header = r.Header.Clone()
	if inner.Header == nil {
		inner.Header = http.Header{}
	}
	inner.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if staysOnPage(fields) {
		inner.Header["X-Auth-Return-Redirect"] = []string{"1"}
	}
	inner.Body = bytes.NewReader([]byte(fields.Encode()))
	return seeOther(a.Handle(ctx, &inner))
}
