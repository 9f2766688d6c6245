package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// Guard decides whether a signed-in visitor may go on: nil lets them, [ErrForbidden] does not, a *[StepUp] does once
// they have proved again who they are. Any other error means that it could not be found out, and is answered as a
// session that could not be read: a guard fails closed. It is asked at each request, and is safe for concurrent use.
type Guard func(ctx context.Context, s *Session) error

// ErrForbidden is what a [Guard] returns for a visitor who may not go on, whoever they are: 403.
var ErrForbidden = errors.New("core: forbidden")

// StepUp is what a [Guard] returns for a visitor who may go on once they have proved again who they are: browsers are
// sent to the sign-in page, API clients get 401 with the error insufficient_user_authentication (RFC 9470 section 3).
type StepUp struct {
	// MaxAge is how long ago the proof may be; zero: any time.
	MaxAge time.Duration
}

// Error says what is asked for.
func (e *StepUp) Error() string {
	return "core: the visitor has to prove again who they are, and not longer ago than " + e.MaxAge.String()
}

// Fresh is a guard for what needs a recent proof: the visitor signed in, or proved again who they are, within d. A
// session without facts, such as one that Auth.js began, counts as old.
func Fresh(d time.Duration) Guard {
	return func(_ context.Context, s *Session) error {
		if s.asOf().Sub(s.AuthTime) > d {
			return &StepUp{MaxAge: d}
		}
		return nil
	}
}

// objection is the answer to what a guard returned. Its error is in the log where a visitor cannot mend it.
func (v *Visit) objection(err error) *Response {
	var again *StepUp
	switch {
	case errors.As(err, &again):
		return v.askAgain(again)
	case errors.Is(err, ErrForbidden):
		return v.forbid(err)
	}
	v.at.log.failure(v.Context, asError(err, ErrAuth, fault), v.at.attrs()...)
	return v.nobodyKnows(err)
}

// askAgain asks a visitor to prove again who they are: a browser at the sign-in page, which leads back, an API client
// by the challenge of RFC 9470 section 3.
func (v *Visit) askAgain(again *StepUp) *Response {
	if asks := v.at.caller(); asks == browser || asks == htmx {
		cookie, err := v.auth.parts.requestStepUp(&v.at, again)
		if err != nil {
			return v.nobodyKnows(err)
		}
		v.collected.keep(&v.at, []Cookie{cookie})
	}
	return v.askToSignIn(again.problem())
}

// forbid responds with 403: a page for a browser, which says who is signed in and offers another account, and a problem
// document (RFC 9457) for others.
func (v *Visit) forbid(err error) *Response {
	v.at.log.failure(v.Context, asError(err, ErrAccessDenied), v.at.attrs()...)
	at, response := v.answering(), &Response{Err: err, Status: http.StatusForbidden}
	if v.at.readsPages() {
		view := v.forbiddenView(at)
		response = v.pages.render(v.Context, at, response, view.Nonce, v.pages.views.Error(view))
	} else {
		problem := &Problem{Status: http.StatusForbidden, Code: "forbidden"}
		response = problem.document(at, response)
	}
	return v.at.refer(finish(v.at.r, v.guarding(response)))
}

// forbiddenView is the page for a user who is signed in and may not open this page.
func (v *Visit) forbiddenView(at *arrival) ui.ErrorView {
	view := ui.ErrorView{
		Page: v.pages.shell(at), Error: "Forbidden", Reference: v.at.ref(),
		URL: or(v.at.home, "/"), Host: hostOf(v.at.origin), BackURL: v.cameFrom(),
	}
	if s, err := v.Session(); err == nil && s != nil && s.User != nil {
		view.SignedInAs = or(s.User.Email, s.User.Name)
	}
	if token, err := v.token(); err == nil {
		view.SwitchAction, view.CSRFToken, view.CallbackURL = v.at.base+"/signout", token, v.at.here()
	}
	return view
}

// cameFrom returns the page of this site from which the browser came, and "" if it is the same page or another site.
func (v *Visit) cameFrom() string {
	from := v.at.header("Referer")
	back, err := sameOrigin(from, v.at.at, nil)
	if from == "" || err != nil || v.at.r.Method != http.MethodGet || back == absolute(v.at.origin, v.at.here()) ||
		strings.HasPrefix(back, v.at.base+"/") { // the sign-in page
		return ""
	}
	return back
}

// Any is a guard that lets those pass whom one of the guards lets pass, asked in their order. Where none does, a
// *[StepUp] of one of them is the answer, which the visitor can meet; else what could not be found out; else
// [ErrForbidden]. Any of nothing lets nobody pass.
func Any(guards ...Guard) Guard {
	guards = slices.Clone(guards)
	return func(ctx context.Context, s *Session) error {
		err, weight := ErrForbidden, 0
		for _, ask := range guards {
			objection := ask(ctx, s)
			if objection == nil {
				return nil
			}
			if n := weightOf(objection); n > weight {
				err, weight = objection, n
			}
		}
		return err
	}
}

// weightOf orders objections by how much they leave open.
func weightOf(objection error) int {
	switch {
	case errors.As(objection, new(*StepUp)):
		return 2
	case !errors.Is(objection, ErrForbidden):
		return 1
	}
	return 0
}

// All is a guard that lets those pass whom each of the guards lets pass, as a list of them does: for use within [Any].
func All(guards ...Guard) Guard {
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

// Role is a guard that lets those pass who have one of the roles, compared as they are written. What a role may do is
// a function of T: see [Data.Is].
func Role[T interface{ Roles() []string }](d *Data[T], anyOf ...string) Guard {
	anyOf = slices.Clone(anyOf)
	return d.Is(func(data T) bool {
		return slices.ContainsFunc(data.Roles(), func(role string) bool { return slices.Contains(anyOf, role) })
	})
}

// sessionRequired tells the sign-in page that a guard has sent the visitor; the clients of Auth.js send it too. It is
// no failure: nothing of it is in the log.
const sessionRequired = "SessionRequired"

// Require returns the session, or the answer to give in its place, in the language of the client: a browser is sent to
// the sign-in page with 303, HTMX gets 401 with HX-Redirect, on which it navigates, and scripts, API clients,
// WebSockets and streams of events get 401 with a challenge and a problem document. Where the session could not be
// read it is 500 or 503: a guard fails closed (docs/protocol.md §7.9). HEAD is answered as GET. The guards are asked in
// their order; the first that objects decides the answer.
func (v *Visit) Require(guards ...Guard) (*Session, *Response) {
	session, err := v.Session()
	switch {
	case err != nil:
		return nil, v.nobodyKnows(err)
	case session == nil || session.User == nil:
		return nil, v.askToSignIn(v.signInProblem())
	}
	for _, ask := range guards {
		if err := guard("guard", func() error { return ask(v, session) }); err != nil {
			return nil, v.objection(err)
		}
	}
	return session, nil
}

// RequireWhere is Require for the requests that where picks, and lets all others through with neither session nor
// answer; nil: it picks all. [Under] picks by the path. A panic in where is answered as a session that could not be
// read.
func (v *Visit) RequireWhere(where func(*Request) bool, guards ...Guard) (*Session, *Response) {
	if where != nil {
		picked, err := guarded("condition of a guard", func() (bool, error) { return where(v.at.r), nil })
		if err != nil {
			return nil, v.objection(err)
		}
		if !picked {
			return nil, nil
		}
	}
	return v.Require(guards...)
}

// signInProblem is what a client is told that is not signed in and shows no pages.
func (v *Visit) signInProblem() *Problem {
	if _, presented, malformed := v.at.bearer(); presented {
		return bearerProblem(v.at.origin, malformed)
	}
	return &Problem{
		Status: http.StatusUnauthorized, Code: "session_required", Detail: "Sign in first.",
		challenge: `Bearer realm="` + v.at.origin + `"`,
	}
}

// askToSignIn leads to the sign-in page and back: a browser by 303, HTMX by a header. Others get the problem, and its
// challenge (RFC 9110 section 11.6.1).
func (v *Visit) askToSignIn(problem *Problem) *Response {
	response := &Response{}
	target, pageErr := v.at.page(
		v.pages.config.SignIn, "signin", "error", sessionRequired, "callbackUrl", v.at.here(),
	)
	asks := v.at.caller()
	if asks == browser && pageErr == nil {
		response.Status, response.Redirect = http.StatusSeeOther, target
		response.Header.Set("Location", target)
		if v.pages.config.SignIn == "" && v.auth.mounted.misses() {
			v.at.log.warn(v.Context, warnNotMounted, slog.String("hint", "a guard redirects to the sign-in page, and no auth "+
				"route was requested so far: call the adapter's Mount, at BasePath "+v.at.basePath))
		}
	} else {
		response = problem.document(v.answering(), response)
		response.Header.Set("Www-Authenticate", problem.challenge)
	}
	if asks == htmx && pageErr == nil {
		response.Header.Set("Hx-Redirect", target)
	}
	return v.guarding(response)
}

// guarding adds what every answer of a guard has: no cache keeps it, or gives it to another kind of client.
func (v *Visit) guarding(response *Response) *Response {
	if response.Header.Get("Cache-Control") == "" {
		response.Header.Set("Cache-Control", noStore)
	}
	response.Header.Set("X-Content-Type-Options", "nosniff")
	v.at.varies(&response.Header, "Accept, Cookie")
	return response
}

// nobodyKnows is the response if the session could not be read: 500, 503 if the store is unavailable, or 404 without a
// tenant, as the error page for a browser, else as JSON. It redirects nowhere: a custom error page may have the same
// guard.
func (v *Visit) nobodyKnows(err error) *Response {
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
	at.varies(&response.Header, "Accept, Cookie")
	return v.at.refer(finish(v.at.r, response))
}

// Under returns a condition for the RequireSessionWhere of the adapters: the request's path is one of the prefixes or
// below it. Under("/admin") matches /admin and /admin/users, but not /administration. Write the prefix of a group of
// routes too: Under("/app/admin"). The comparison ignores case and decodes percent-encoding first.
//
// In doubt the condition is true, so that a guard fails closed. The path that the client sent and the path that the
// router uses ([Request].Path: behind http.StripPrefix, or rewritten by a middleware) can differ: one of them is
// enough. A path that routers read in different ways, with dot segments or doubled or encoded slashes, counts as being
// below every prefix. Under panics if a prefix does not begin with a slash.
func Under(prefixes ...string) func(*Request) bool {
	clean := make([]string, len(prefixes))
	for i, prefix := range prefixes {
		if !strings.HasPrefix(prefix, "/") {
			panic(fmt.Sprintf("core: Under(%q): a prefix begins with a slash", prefix))
		}
		clean[i] = strings.TrimRight(prefix, "/")
	}
	below := func(path string) bool {
		return slices.ContainsFunc(clean, func(prefix string) bool {
			return len(path) >= len(prefix) && strings.EqualFold(path[:len(prefix)], prefix) &&
				(len(path) == len(prefix) || path[len(prefix)] == '/')
		})
	}
	return func(r *Request) bool {
		target, plain := plainPath(r.Target)
		if !plain || below(target) {
			return true
		}
		if r.Path == target && r.MountPrefix == "" {
			return false
		}
		return !isPlain(r.Path) || below(rooted(r.Path)) || below(rooted(strings.TrimPrefix(r.Path, r.MountPrefix)))
	}
}

// At returns a condition that calls where with the path that the router uses at the guard. The request hook may have
// run in front of the middleware that changed the path. It returns nil if where is nil.
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

// rooted puts a slash in front of a path that lost it when a prefix was stripped.
func rooted(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return "/" + path
}

// plainPath is the decoded path of a request's target; false: routers may disagree on what it is.
func plainPath(target string) (path string, plain bool) {
	_, raw, _ := weburl.SplitTarget(target)
	path, err := url.PathUnescape(raw)
	if err != nil || !strings.HasPrefix(path, "/") || strings.Count(path, "/") != strings.Count(raw, "/") ||
		!isPlain(path) {
		return "", false
	}
	return path, true
}

// isPlain reports whether routers agree on a decoded path: it has no empty segments and no dot segments.
func isPlain(path string) bool {
	if strings.Contains(path, "//") || strings.ContainsAny(path, "\\\x00") {
		return false
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return false
		}
	}
	return true
}
