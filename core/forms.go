package core

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/internal/form"
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
