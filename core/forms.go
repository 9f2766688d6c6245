package core

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/latchkey-go/latchkey/internal/callbackurl"
	"github.com/latchkey-go/latchkey/internal/form"
	"github.com/latchkey-go/latchkey/internal/forminput"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// SignIn handles a form of the application that starts a sign-in. Its fields are csrfToken, providerId, redirectTo,
// authorizationParams-<name> and those of the provider. The response is a redirect with status 303 (See Other). If the
// form has a field redirect with the value "false", the response is {"url": …} instead. Methods other than POST get
// status 405.
func (a *Auth) SignIn(ctx context.Context, r *Request) *Response {
	return formAction(ctx, a, r, func(a *Auth, f form.Fields) string {
		id, _ := f.Text("providerId")
		p := a.byID[id]
		switch {
		case p == nil:
			if id != "" {
				a.log.info(ctx, "a form asks for a provider that is not configured: its field providerId has another value",
					slog.String("provider_id", panics.Bounded(id)))
			}
			return "/signin"
		case p.kind == TypeCredentials:
			return "/callback/" + id
		}
		query := url.Values{}
		for _, name := range f.Names() {
			if param, ok := strings.CutPrefix(name, "authorizationParams-"); ok {
				value, _ := f.Text(name)
				query.Set(param, value)
			}
		}
		return "/signin/" + id + "?" + query.Encode()
	})
}

// SignOut handles a form of the application that signs the user out. Its fields are csrfToken and redirectTo. Methods
// other than POST get status 405.
func (a *Auth) SignOut(ctx context.Context, r *Request) *Response {
	return formAction(ctx, a, r, func(*Auth, form.Fields) string { return "/signout" })
}

// formAction converts a form of the application to a request to the corresponding auth route, which does the CSRF
// check.
func formAction(ctx context.Context, a *Auth, r *Request, route func(*Auth, form.Fields) string) *Response {
	a, refusal := forInput(ctx, a, r)
	if refusal != nil {
		return refusal
	}
	posted, err := readBody(ctx, r)
	if err != nil {
		c := a.site.callOf(r)
		return c.refer(finish(r, a.pages.fail(ctx, c, err, nil)))
	}
	fields := url.Values{}
	for _, name := range posted.Names() {
		if value, ok := posted.Text(name); ok && !strings.HasPrefix(name, "authorizationParams-") {
			fields.Set(name, value)
		}
	}
	if to := fields.Get("redirectTo"); to != "" {
		fields.Set("callbackUrl", to)
	} else if !fields.Has("callbackUrl") {
		fields.Set("callbackUrl", a.site.publicPath+"/")
	}
	fields.Del("redirectTo")
	fields.Del("providerId")
	return post(ctx, a, r, route(a, posted), fields, posted.Unread() == "") // else the route reports why there are none
}

// staysOnPage removes the field redirect from a form. It reports whether the value is "false": the response is then
// {"url": …} instead of a redirect, for a script that navigates itself.
func staysOnPage(fields url.Values) bool {
	said := fields.Get("redirect")
	if said == "true" || said == "false" {
		fields.Del("redirect")
	}
	return said == "false"
}

// refuseForm rejects a form action with another method than POST: following a link must not start a sign-in or end a
// session.
func (s *site) refuseForm(ctx context.Context, r *Request) *Response {
	c := s.callOf(r)
	err := errorf(ErrUnknownAction, "a form action supports only POST, and the method is %.16q: route only POST requests "+
		"to it", r.Method)
	s.log.failure(ctx, err, c.attrs()...)
	response := refuse(&Response{Err: err}, http.StatusMethodNotAllowed, []byte(`{"message":"Send a POST."}`))
	response.set("Allow", http.MethodPost)
	return c.refer(finish(r, response))
}

// seeOther changes the status of a redirect from 302 to 303, because the request was a POST.
func seeOther(response *Response) *Response {
	if response.Status == http.StatusFound {
		response.Status = http.StatusSeeOther
	}
	return response
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
		return post(ctx, a, r, route, fields, true)
	}
	body, err := json.Marshal(wrong)
	if err != nil { // cannot happen: it is a map of strings
		body = []byte("{}")
	}
	refused := &Response{Err: (*InvalidInputError)(wrong)}
	return finish(r, refuse(refused, http.StatusUnprocessableEntity, body))
}

// post calls an auth route with fields, as a form on the page of the request would. The route does the CSRF check. form
// is false if the type of the body stays that of the request.
func post(ctx context.Context, a *Auth, r *Request, route string, fields url.Values, form bool) *Response {
	inner := *r
	inner.Path, inner.MountPrefix, inner.ContentLength = "", "", 0
	inner.Target = a.site.basePath + route
	inner.Header = r.Header.Clone()
	if inner.Header == nil {
		inner.Header = http.Header{}
	}
	if form {
		inner.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if staysOnPage(fields) {
		inner.Header["X-Auth-Return-Redirect"] = []string{"1"}
	}
	inner.Body = bytes.NewReader([]byte(fields.Encode()))
	return seeOther(a.Handle(ctx, &inner))
}
