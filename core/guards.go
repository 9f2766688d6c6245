package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/reauth"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/internal/callbackurl"
	"github.com/latchkey-go/latchkey/internal/headers"
	"github.com/latchkey-go/latchkey/internal/negotiate"
	"github.com/latchkey-go/latchkey/internal/profiletext"
	"github.com/latchkey-go/latchkey/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// RecentSignIn returns a guard that requires a sign-in or a re-authentication within the last d. A session without a
// sign-in time, such as one that Auth.js created, counts as old.
func RecentSignIn(d time.Duration) Guard {
	return func(_ context.Context, s *Session) error {
		if s.asOf().Sub(s.AuthTime) > d {
			return &StepUp{MaxAge: d}
		}
		return nil
	}
}

// Strong returns a guard that requires two different kinds of factor in the session: a passkey with user verification,
// or a one-time password or passkey together with a password or a sign-in with a provider. A link or code by email
// never counts. [amr.Multiple], which a plugin or [SessionOptions] sets, is sufficient.
func Strong() Guard {
	return func(_ context.Context, s *Session) error {
		if !reauth.TwoFactors(s.Methods) {
			return &StepUp{Strong: true}
		}
		return nil
	}
}

// ACR returns a guard that requires one of the authentication context class references in [Session.ACR], such as
// "urn:example:gold". The user gets one by signing in with an OpenID Connect provider that reports it. The request to
// the provider contains the values as acr_values. ACR panics if there are no values, or if one is empty or has
// characters other than printable ASCII without space, quotation mark and backslash (RFC 9470 section 3).
func ACR(values ...string) Guard {
	values = slices.Clone(values)
	if len(values) == 0 || !slices.Equal(reauth.ParseACR(strings.Join(values, " ")), values) {
		panic(fmt.Sprintf("core: ACR(%q): pass authentication context class references of 1 to %d printable ASCII "+
			"characters without space, quotation mark and backslash, at most %d of them", values, profiletext.MaxACR,
			reauth.MaxACRs))
	}
	return func(_ context.Context, s *Session) error {
		if s.ACR == "" || !slices.Contains(values, s.ACR) {
			return &StepUp{ACR: slices.Clone(values)}
		}
		return nil
	}
}

// asOf returns the time to compare AuthTime with.
func (s *Session) asOf() time.Time {
	if s.readAt.IsZero() {
		return time.Now() //nolint:forbidigo // a Session that the application built, for example in a test
	}
	return s.readAt
}

// guardErrorResponse returns the response to a guard's error. Errors that the user cannot fix are logged.
func (v *Visit) guardErrorResponse(err error) *Response {
	var again *StepUp
	var problem *Problem
	switch {
	case errors.As(err, &again):
		if session, _ := v.Session(); session != nil && session.Actor != "" { // no sign-in is allowed
			return v.forbiddenResponse(err)
		}
		return v.stepUpResponse(again)
	case errors.As(err, &problem) && problem.SignIn:
		return v.signInResponse(problem)
	case errors.Is(err, ErrForbidden):
		return v.forbiddenResponse(err)
	}
	v.at.log.failure(v.Context, errormarks.As(err, ErrAuth, errormarks.ByServer), v.at.attrs()...)
	return v.sessionErrorResponse(err)
}

// stepUpResponse requires re-authentication: it redirects a browser to the action reauth, which returns to this page,
// and sends an API client the challenge of RFC 9470 section 3.
func (v *Visit) stepUpResponse(again *StepUp) *Response {
	if !v.auth.sessions.facts { // no action could satisfy the guard
		v.at.logWithoutFacts(v.Context)
		return v.signInResponse(again.problem())
	}
	return v.pageOrProblem(v.at.reauthURL(again, v.at.currentPage()), again.problem())
}

// logWithoutFacts logs that no sign-in satisfies a guard such as [RecentSignIn].
func (v *arrival) logWithoutFacts(ctx context.Context) {
	v.log.failure(ctx, errorf(ErrInvalidConfig, "a guard requires a recent or a stronger sign-in, but sessions do not "+
		"record when and how the user signed in, so no sign-in satisfies it: set Session.Revocation.On, or add a plugin "+
		"that calls PluginHost.TrackAuthentication"), v.attrs()...)
}

// forbiddenResponse responds with 403. A browser gets a page that shows who is signed in and offers to use another
// account. Other clients get a problem document (RFC 9457).
func (v *Visit) forbiddenResponse(err error) *Response {
	v.at.log.failure(v.Context, errormarks.As(err, ErrAccessDenied), v.at.attrs()...)
	at, response := v.answering(), &Response{Err: err}
	if v.at.readsPages() {
		response = v.pages.errorView(v.Context, at, response, http.StatusForbidden, v.forbiddenView())
	} else {
		problem := &Problem{Status: http.StatusForbidden, Code: "forbidden"}
		response = problem.document(at, response)
	}
	return v.complete(response)
}

// forbiddenView returns the content of the 403 page.
func (v *Visit) forbiddenView() ui.ErrorView {
	view := ui.ErrorView{
		Error: "Forbidden", Reference: v.at.ref(), URL: cmp.Or(v.at.home, "/"), BackURL: v.previousPage(),
	}
	if s, err := v.Session(); err == nil && s != nil && s.User != nil {
		view.SignedInAs = cmp.Or(s.User.Email, s.User.Name)
	}
	if token, err := v.token(); err == nil {
		view.SwitchAction, view.CSRFToken, view.CallbackURL = v.at.base+"/signout", token, v.at.currentPage()
	}
	return view
}

// previousPage returns the previous page of the browser (Referer) if it is another page of this site, else "".
func (v *Visit) previousPage() string {
	from := v.at.header("Referer")
	back, err := callbackurl.SameOrigin(from, v.at.at, nil)
	if from == "" || err != nil || v.at.r.Method != http.MethodGet || back == absolute(v.at.origin, v.at.currentPage()) ||
		strings.HasPrefix(back, v.at.base+"/") { // the sign-in page
		return ""
	}
	return back
}

// AnyOf returns a guard that allows a request if at least one of the guards does. It calls them in order and stops at
// the first that allows the request. If none does, it returns a *[StepUp] if one of them returned one, because the user
// can comply with it; else an error other than [ErrForbidden]; else [ErrForbidden]. AnyOf() without guards
// allows nothing.
func AnyOf(guards ...Guard) Guard {
	guards = slices.Clone(guards)
	return func(ctx context.Context, s *Session) error {
		err, weight := ErrForbidden, 0
		for _, ask := range guards {
			denied := ask(ctx, s)
			if denied == nil {
				return nil
			}
			if n := errorRank(denied); n > weight {
				err, weight = denied, n
			}
		}
		return err
	}
}

// errorRank ranks the errors of guards: a step-up first, then other errors, then ErrForbidden.
func errorRank(denied error) int {
	switch {
	case errors.As(denied, new(*StepUp)):
		return 2
	case !errors.Is(denied, ErrForbidden):
		return 1
	}
	return 0
}

// AllOf returns a guard that allows a request if all guards do. It calls them in order and returns the first error, as
// [Visit.Require] does with several guards. Use it within [AnyOf].
func AllOf(guards ...Guard) Guard {
	guards = slices.Clone(guards)
	return func(ctx context.Context, s *Session) error {
		for _, ask := range guards {
			if err := ask(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}
}

// Require returns the session if the user is signed in and all guards allow the request. Otherwise it returns the
// response to send, which depends on the client: a browser is redirected to the sign-in page with 303; HTMX gets 401
// with HX-Redirect, and Datastar 401 with an event that redirects; scripts, API clients, WebSockets and event streams
// get 401 with a challenge and a problem document. If the session could not be read, the response is 500 or 503:
// Require fails closed (docs/protocol.md §7.9). HEAD gets the same response as GET. The guards are called in order, and
// the first error decides the response.
func (v *Visit) Require(guards ...Guard) (*Session, *Response) {
	session, err := v.Session()
	switch {
	case err != nil:
		return nil, v.sessionErrorResponse(err)
	case session == nil || session.User == nil:
		return nil, v.unauthenticated()
	}
	for _, ask := range guards {
		if err := guard("guard", func() error { return ask(v, session) }); err != nil {
			return nil, v.guardErrorResponse(err)
		}
	}
	return session, nil
}

// RequireWhere is Require for the requests that where selects. For all others it returns nil and nil. If where is nil,
// it selects all requests. [PathPrefix] selects by path. A panic in where gets the same response as a session that
// could not be read.
func (v *Visit) RequireWhere(where func(*Request) bool, guards ...Guard) (*Session, *Response) {
	if where != nil {
		picked, err := guarded("condition of a guard", func() (bool, error) { return where(v.at.r), nil })
		if err != nil {
			return nil, v.guardErrorResponse(err)
		}
		if !picked {
			return nil, nil
		}
	}
	return v.Require(guards...)
}

// signInProblem returns the problem document for an API client that is not signed in.
func (v *Visit) signInProblem() *Problem {
	if _, presented, malformed := v.at.bearer(); presented {
		return bearerProblem(v.at.origin, malformed)
	}
	return &Problem{
		Status: http.StatusUnauthorized, Code: "session_required", Detail: "Sign in first.",
		challenge: `Bearer realm="` + v.at.origin + `"`,
	}
}

// signInResponse returns the response to a client that is not signed in. It redirects a browser to the sign-in page,
// with 303, HTMX with the header HX-Redirect, and Datastar with an event; the sign-in page returns to this page. Other
// clients get the problem document with its challenge (RFC 9110 section 11.6.1).
func (v *Visit) signInResponse(problem *Problem) *Response {
	own := v.pages.config.SignIn // New has checked it
	target, _ := v.at.page(own, "signin", "error", sessionRequired, "callbackUrl", v.at.currentPage())
	return v.pageOrProblem(target, problem)
}

// pageOrProblem redirects a browser to a page of this site. Other clients, and all if target is empty, get the problem
// document.
func (v *Visit) pageOrProblem(target string, problem *Problem) *Response {
	response := &Response{}
	asks := v.at.caller()
	if asks == negotiate.Browser && target != "" {
		response.Status, response.Redirect = http.StatusSeeOther, target
		response.set("Location", target)
		if v.pages.config.SignIn == "" && v.auth.mounted.Redirect() {
			v.at.log.warn(v.Context, warnings.NotMounted, slog.String("hint", "a guard redirects to the sign-in page, and no "+
				"auth route was requested so far: call the adapter's Mount, at BasePath "+v.at.basePath))
		}
	} else {
		response = problem.document(v.answering(), response)
		response.set("Www-Authenticate", problem.challenge)
		response.set("Referrer-Policy", sameOriginReferrer)
	}
	switch {
	case target == "":
	case asks == negotiate.HTMX:
		response.set("Hx-Redirect", target)
	case asks == negotiate.Datastar:
		response.Body = negotiate.DatastarRedirect(target)
		response.set("Content-Type", "text/event-stream")
	}
	headers.Set(response.Header, "Cache-Control", noStore, "X-Content-Type-Options", "nosniff")
	v.at.varies(response, "Accept, Cookie")
	return response
}

// sessionErrorResponse returns the response if the session could not be read: 500, 503 if the store is unavailable, or
// 404 if there is no tenant. A browser gets the error page, other clients get JSON. It never redirects, because the
// application's error page may have the same guard.
func (v *Visit) sessionErrorResponse(err error) *Response {
	at, response := v.answering(), &Response{Err: err}
	page := v.at.readsPages()
	if errors.Is(err, ErrNoTenant) {
		response = v.pages.notFound(v.Context, at, response)
	} else if errors.Is(err, ErrStoreUnavailable) {
		response = v.pages.unavailable(v.Context, at, page, response)
	} else if page {
		response = v.pages.serverErrorPage(v.Context, at, response)
	} else {
		response = serverErrorJSON(&v.at, response)
	}
	return v.complete(response)
}

// complete completes a response that depends on the session and on the kind of client.
func (v *Visit) complete(response *Response) *Response {
	v.at.varies(response, "Accept, Cookie")
	return v.at.complete(response)
}

// PathPrefix returns a condition for the RequireSessionWhere of the adapters. It is true if the request's path equals
// one of the prefixes or is below it: PathPrefix("/admin") matches /admin and /admin/users, but not /administration.
// For a group of routes, include the group's prefix: PathPrefix("/app/admin"). The comparison ignores case and decodes
// percent-encoding first.
//
// If the path is ambiguous, the condition is true, so that a guard fails closed. The path that the client sent can
// differ from the path that the router uses ([Request].Path), behind http.StripPrefix or after a middleware changed it:
// it is enough that one of them matches. A path that routers interpret differently, because it has dot segments or
// doubled or encoded slashes, matches every prefix. PathPrefix panics if a prefix does not begin with a
// slash.
func PathPrefix(prefixes ...string) func(*Request) bool {
	prefixes = slices.Clone(prefixes)
	for i, prefix := range prefixes {
		if !strings.HasPrefix(prefix, "/") {
			panic(fmt.Sprintf("core: PathPrefix(%q): a prefix must begin with a slash", prefix))
		}
		prefixes[i] = strings.TrimRight(prefix, "/")
	}
	return func(r *Request) bool { return weburl.Below(prefixes, r.Target, r.Path, r.MountPrefix) }
}

// At returns a condition that calls where with the path that the router uses at the guard. The request hook may have
// run before a middleware that changed the path. If where is nil, At returns nil.
func At(where func(*Request) bool, path, mountPrefix string) func(*Request) bool {
	if where == nil {
		return nil
	}
	return func(r *Request) bool {
		now := *r
		now.Path, now.MountPrefix = path, mountPrefix
		return where(&now)
	}
}

// unauthenticated returns the response to a request without a session.
func (v *Visit) unauthenticated() *Response {
	if v.at.foreign {
		return v.ProblemResponse(&Problem{
			Status: http.StatusForbidden, Code: "cross_origin",
			Detail: "The session cookie is accepted only in calls of this site's own pages.",
		})
	}
	return v.signInResponse(v.signInProblem())
}

// ProblemResponse returns the response to a program that a guard refuses for its own reason.
func (v *Visit) ProblemResponse(problem *Problem) *Response {
	return v.problemResponse(problem, problem)
}

// problemResponse returns the response to a program with a problem.
func (v *Visit) problemResponse(problem *Problem, err error) *Response {
	v.at.log.failure(v.Context, errormarks.As(err, ErrAccessDenied, errormarks.ByClient), v.at.attrs()...)
	response := problem.document(v.answering(), &Response{Err: err})
	problem.retryAfter(response)
	if problem.challenge != "" {
		response.set("Www-Authenticate", problem.challenge)
	}
	return v.complete(response)
}

// NotImpersonated returns a guard that refuses a session in which an administrator impersonates the user. Use it for
// changes that only the user themselves may make.
func NotImpersonated() Guard {
	return func(_ context.Context, s *Session) error {
		if s.Actor != "" {
			return ErrForbidden
		}
		return nil
	}
}
