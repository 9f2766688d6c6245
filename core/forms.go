package core

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/latchkey-go/latchkey/internal/forminput"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// SignIn handles a form of the application that starts a sign-in. Its fields are csrfToken, providerId, redirectTo,
// authorizationParams-<name> and those of the provider. The response is a redirect with status 303 (See Other). If the
// form has a field redirect with the value "false", the response is {"url": …} instead. Methods other than POST get
// status 405.
func (a *Auth) SignIn(ctx context.Context, r *Request) *Response {
	return formAction(ctx, a, r, func(a *Auth, id string, params url.Values) string {
		p := a.byID[id]
		if p == nil && id != "" {
			a.log.info(ctx, "a form asks for a provider that is not configured: its field providerId has another value",
				slog.String("provider_id", panics.Bounded(id)))
		}
		return signInRoute(p, params)
	})
}

// signInRoute returns the auth route that starts a sign-in with a provider. Without one, it is the sign-in page.
func signInRoute(p *provider, query url.Values) string {
	switch {
	case p == nil:
		return "/signin"
	case p.kind == TypeCredentials:
		return "/callback/" + p.id
	}
	return "/signin/" + p.id + "?" + query.Encode()
}

// SignOut handles a form of the application that signs the user out. Its fields are csrfToken and redirectTo. Methods
// other than POST get status 405.
func (a *Auth) SignOut(ctx context.Context, r *Request) *Response {
	return formAction(ctx, a, r, func(*Auth, string, url.Values) string { return "/signout" })
}

// formAction converts a form of the application to a request to the corresponding auth route, which does the CSRF
// check. route receives the provider ID and the parameters of the authorization request in the form.
func formAction(
	ctx context.Context, a *Auth, r *Request, route func(a *Auth, id string, params url.Values) string,
) *Response {
	a, refusal := forInput(ctx, a, r)
	if refusal != nil {
		return refusal
	}
	posted, err := readBody(ctx, r)
	if err != nil {
		c := a.site.callOf(r)
		return c.complete(a.pages.fail(ctx, c, err, nil))
	}
	id, params, fields := forminput.Form(&posted, a.site.publicPath+"/")
	return post(ctx, a, r, route(a, id, params), fields, posted.Unread() == "")
}

// forInput returns the Auth of a request, or an error response.
func forInput(ctx context.Context, a *Auth, r *Request) (*Auth, *Response) {
	a, err := a.resolve(ctx, r)
	if err != nil {
		c, pages, faults := withoutAuth(r, err)
		return nil, refuseAll(ctx, c, pages, faults)
	}
	if r.Method != http.MethodPost {
		return nil, a.site.refuseForm(ctx, r)
	}
	return a, nil
}

// post calls an auth route with fields, as a form on the page of the request would. The route does the CSRF check. If
// the body of the request was not read, the route reports why there are no fields.
func post(ctx context.Context, a *Auth, r *Request, route string, fields url.Values, read bool) *Response {
	stays := fields.Get("redirect")
	if stays == "true" || stays == "false" {
		fields.Del("redirect")
	}
	inner := *r
	inner.Path, inner.MountPrefix, inner.ContentLength = "", "", 0
	inner.Target = a.site.basePath + route
	inner.Header = r.Header.Clone()
	if inner.Header == nil {
		inner.Header = http.Header{}
	}
	if read {
		inner.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if stays == "false" { // the response is {"url": …} instead of a redirect, for a script that navigates itself
		inner.Header["X-Auth-Return-Redirect"] = []string{"1"}
	}
	inner.Body = bytes.NewReader([]byte(fields.Encode()))
	response := a.Handle(ctx, &inner)
	if response.Status == http.StatusFound { // the request was a POST
		response.Status = http.StatusSeeOther
	}
	return response
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
	return c.complete(response)
}
