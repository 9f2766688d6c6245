package core

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

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
