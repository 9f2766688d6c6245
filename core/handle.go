package core

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// Handle answers a request to the auth routes. It is the one entry; what it returns is never nil, and is what callers of the
// reference's raw mode get. A request outside the base path is answered 400: adapters route only their own paths here.
func (a *Auth) Handle(ctx context.Context, r *Request) *Response { return Serve(ctx, a, r) }

// Serve chooses the Auth for a request and lets it answer. Adapters call it.
func Serve(ctx context.Context, s Selector, r *Request) *Response {
	a, err := choose(ctx, s, r)
	if err != nil {
		return misconfigured(ctx, r, err)
	}
	if v := VisitOf(ctx, a); v != nil { // the hook is in front of the auth routes too
		v.leave()
	}
	a.mounted.serves()
	x := &exchange{Auth: a, r: r}
	response, err := guarded("auth handler", func() (*Response, error) { return x.serve(ctx) })
	if err != nil {
		response = x.fail(ctx, err, response)
	}
	return x.finish(response)
}

// serve walks a request through its stations. A station that fails may still return a Response, whose cookies are kept.
func (x *exchange) serve(ctx context.Context) (*Response, error) {
	if err := x.route(); err != nil {
		return nil, err
	}
	if err := x.open(); err != nil {
		return nil, err
	}
	if err := x.checkCallbackURL(); err != nil {
		return nil, err
	}
	if err := x.readBody(ctx); err != nil {
		return nil, err
	}
	if x.providerID != "" && x.provider == nil {
		return nil, errorf(AuthError, "%w", mistake(errors.New("the path names a provider that is not configured")))
	}
	rule, ok := rules[route{x.r.Method, x.action}]
	if !rule.bare {
		if err := x.checkCSRF(); err != nil {
			return nil, err
		}
	}
	if err := x.settleCallbackURL(ctx); err != nil {
		return nil, err
	}
	if !ok {
		return nil, errorf(UnknownAction, "%s %s is no action", x.r.Method, x.action)
	}
	if rule.csrf != nil && rule.csrf(x) && !x.csrfVerified {
		return nil, errorf(MissingCSRF, "%s: %s", x.action, x.csrfRefusal)
	}
	if rule.session {
		if err := x.settleSession(ctx); err != nil {
			return nil, err
		}
	}
	response, err := rule.act(x, ctx)
	if err != nil || response == nil {
		return response, err
	}
	if !rule.bare {
		response.Cookies = append(x.opening, response.Cookies...)
	}
	return response, nil
}

// route is a method and an action.
type route struct{ method, action string }

// rule is what an action demands, and the function that does it.
type rule struct {
	act func(*exchange, context.Context) (*Response, error)
	// csrf tells whether the request must repeat the CSRF token; nil: never.
	csrf func(*exchange) bool
	// bare answers carry none of the opening cookies, and nobody asks for their CSRF token.
	bare bool
	// session actions depend on who is signed in.
	session bool
}

func always(*exchange) bool { return true }

// ifForm: callbacks of credentials and confirmed links are ordinary form posts; those of OAuth come from the provider and are
// guarded by its checks, and those of passkeys come with a token or an Origin.
func ifForm(x *exchange) bool {
	p := x.provider
	return p != nil && (p.credentials != nil || p.email != nil && p.email.ConfirmLink != Off)
}

// rules lists every action: the guards at one look.
var rules = map[route]rule{
	{"GET", "session"}:        {act: (*exchange).getSession, session: true},
	{"GET", "csrf"}:           {act: (*exchange).getCSRF},
	{"GET", "providers"}:      {act: (*exchange).getProviders, bare: true},
	{"GET", "signin"}:         {act: (*exchange).signInPage},
	{"GET", "signout"}:        {act: (*exchange).signOutPage},
	{"GET", "callback"}:       {act: (*exchange).callback, session: true},
	{"GET", "error"}:          {act: (*exchange).errorPage},
	{"GET", "verify-request"}: {act: (*exchange).verifyRequestPage},

	{"GET", "webauthn-options"}: {act: (*exchange).webAuthnOptions, session: true},

	{"POST", "session"}:  {act: (*exchange).postSession, csrf: always, session: true},
	{"POST", "signin"}:   {act: (*exchange).signIn, csrf: always, session: true},
	{"POST", "signout"}:  {act: (*exchange).signOut, csrf: always},
	{"POST", "callback"}: {act: (*exchange).callback, csrf: ifForm, session: true},

	{"POST", "backchannel-logout"}: {act: (*exchange).backChannelLogout, bare: true},
}

// finish makes the Response ready to be written: redirect, headers of every answer, and JSON in place of a redirect for
// clients that ask for it.
func (x *exchange) finish(r *Response) *Response {
	if r.Header == nil {
		r.Header = http.Header{}
	}
	h := r.Header
	if r.Redirect != "" {
		h["Location"] = []string{r.Redirect}
		r.Status = http.StatusFound
		if x.wantsURL() {
			r.Status = http.StatusOK
			h["Content-Type"] = contentJSON
			r.Body = append(exactjson.AppendText([]byte(`{"url":`), r.Redirect), '}')
			if r.Err != nil {
				delete(h, "Location")
			}
		}
	}
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
	if _, ok := h["Cache-Control"]; !ok {
		h["Cache-Control"] = noStore
	}
	h["X-Content-Type-Options"] = noSniff
	h["Referrer-Policy"] = sameOriginReferrer
	own(h)
	return r
}

// own gives a header values of its own, in one allocation: whoever gets a Response may change it without changing other answers.
func own(h http.Header) {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	all := make([]string, 0, n)
	for name, values := range h {
		from := len(all)
		all = append(all, values...)
		h[name] = all[from:len(all):len(all)]
	}
}

// Header values that never change: shared among the stations, so never written to. What leaves the house has its own, see own.
var (
	contentJSON        = []string{"application/json"}
	contentHTML        = []string{"text/html; charset=utf-8"}
	noStore            = []string{"private, no-cache, no-store"}
	noSniff            = []string{"nosniff"}
	sameOriginReferrer = []string{"same-origin"} // no-referrer would make browsers send Origin: null with our forms
	zero               = []string{"0"}
	noCache            = []string{"no-cache"}
)

// wantsURL tells whether the client asked for {"url": …} in place of redirects.
func (x *exchange) wantsURL() bool { return len(x.r.Header["X-Auth-Return-Redirect"]) > 0 }

// jsonResponse is an API answer that no cache keeps.
func jsonResponse(body []byte) *Response {
	return &Response{Body: body, Header: http.Header{
		"Content-Type": contentJSON, "Cache-Control": noStore, "Expires": zero, "Pragma": noCache,
	}}
}

var badRequestBody = []byte(`"Bad request."`)

// fail turns an error into an answer (WIRE 11): the one place that decides what a browser is told. Everything else is in the
// log, under the same reference.
func (x *exchange) fail(ctx context.Context, err error, partial *Response) *Response {
	e := asError(err, AuthError)
	x.logError(ctx, e, x.logAttrs()...)
	response := &Response{Err: e}
	if partial != nil {
		response.Cookies = partial.Cookies
	}
	var bad *badRequest
	var body *bodyError
	var soon *tooMany
	switch {
	case errors.As(err, &soon):
		return x.askPatience(ctx, soon, response)
	case errors.As(err, &bad):
		response.Status, response.Body = http.StatusBadRequest, badRequestBody
		response.Header = http.Header{"Content-Type": contentJSON}
		return response
	case errors.As(err, &body):
		response.Status, response.Body = body.status, badRequestBody
		response.Header = http.Header{"Content-Type": contentJSON}
		return response
	case e.Type == UntrustedHost || e.Type == InvalidCallbackURL:
		return x.serverError(ctx, response)
	case x.action == "session" && (e.Type == SessionTokenError || e.Type == JWTSessionError): // nobody knows who is signed in
		return x.serverError(ctx, response)
	case x.r.Method == "POST" && x.action == "session":
		response.Status, response.Body = http.StatusBadRequest, []byte("null")
		response.Header = http.Header{"Content-Type": contentJSON}
		return response
	}
	params := []string{"error", e.Type.Public()}
	if e.Type == CredentialsSignin {
		params = append(params, "code", safeCode(e.Code))
	}
	own, action := x.pages.Error, "error"
	if e.Type == OAuthProfileParseError { // the visitor can try another account: back to the sign-in page
		params[1], own, action = string(OAuthCallbackError), x.pages.SignIn, "signin"
	}
	if e.Type.onSignInPage() {
		own, action = x.pages.SignIn, "signin"
	}
	target, pageErr := x.page(own, action, params...)
	if pageErr != nil { // New has checked the pages
		return x.serverError(ctx, response)
	}
	response.Redirect = absolute(x.origin, target)
	return response
}

// absolute puts the origin in front of a path.
func absolute(origin, target string) string {
	if target != "" && target[0] == '/' {
		return origin + target
	}
	return target
}

// logAttrs tells where a failure happened, in words that hold nothing a visitor typed but a known provider's ID.
func (x *exchange) logAttrs() []slog.Attr {
	attrs := []slog.Attr{slog.String("reference", x.ref())}
	if x.action != "" {
		attrs = append(attrs, slog.String("action", x.action))
	}
	if x.provider != nil {
		attrs = append(attrs, slog.String("provider", x.provider.id))
	}
	return attrs
}

// safeCode bounds the code of a CredentialsSignin error to 64 printable characters; the URL encodes them.
func safeCode(code string) string {
	out := make([]byte, 0, 64)
	for i := 0; i < len(code) && len(out) < cap(out); i++ {
		if c := code[i]; c >= 0x20 && c < 0x7f {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return "credentials"
	}
	return string(out)
}
