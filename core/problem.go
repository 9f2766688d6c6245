package core

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/problems"
	"github.com/latchkey-go/latchkey/core/internal/reauth"
	"github.com/latchkey-go/latchkey/internal/headers"
	"github.com/latchkey-go/latchkey/ui"
)

// Problem is an error that the user may see, returned by an action of a plugin. A client that asks for JSON gets a
// problem document (RFC 9457) with the members type, title, status, code and reference. A browser gets the error page
// with the sentence in Text or Detail.
type Problem struct {
	// Status is the HTTP status. The default is 400.
	Status int
	// Code identifies the problem for programs, for example "password_short".
	Code string
	// Detail is a sentence for users. It is sent to the browser, so it must not contain anything from the request. If it
	// is empty, a general sentence is shown.
	Detail string
	// Text is the sentence, translated into the languages of Config.Locales. If it is the zero value, Detail is used, in
	// English.
	Text ui.Text
	// Field is the name of the form field that the problem is about, or empty if it is about the whole form. It is sent
	// as the member field, and forms of plugins show the sentence at that field.
	Field string
	// Members are further members of the problem document. Members with the name of a standard member are ignored.
	Members map[string]any
	// RetryAfter, if positive, is sent as Retry-After in whole seconds. A CredentialsProvider's Authorize may return such
	// a Problem too, with status 503.
	RetryAfter time.Duration
	// SignIn reports that the user must sign in first. If a guard returns the Problem, a browser is redirected to the
	// sign-in page and returns afterwards. The Problem is not logged.
	SignIn bool
	// Cause is logged and never sent.
	Cause error

	allow     []string // Allow header, with status 405
	challenge string   // WWW-Authenticate header, with status 401
	unlogged  bool     // do not log: the user only needs to sign in
}

// Error returns the status, the code and the cause.
func (p *Problem) Error() string {
	text := "core: problem " + strconv.Itoa(p.status()) + " " + p.Code
	if p.Cause != nil {
		text += ": " + p.Cause.Error()
	}
	return text
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Cause }

func (p *Problem) status() int { return problems.Status(p.Status) }

// problemOf returns the Problem to send to the client for any error.
func problemOf(err error) *Problem {
	var problem *Problem
	if errors.As(err, &problem) {
		return problem
	}
	status, code := problems.Of(err)
	return &Problem{Status: status, Code: code}
}

// document returns the problem document (RFC 9457).
func (p *Problem) document(v *arrival, response *Response) *Response {
	status := p.status()
	document := problems.Document{
		Status: status, Title: v.statusText(status), Code: p.Code, Reference: v.ref(), Detail: p.detail(v), Field: p.Field,
		Members: p.Members,
	}
	body, err := document.JSON()
	if err != nil {
		response.Err = fmt.Errorf("%w: %w", response.Err, err)
	}
	response.Status, response.Body = status, body
	response.Header = headers.New("Content-Type", "application/problem+json")
	v.spoken(response)
	return response
}

// detail returns the sentence of a problem in the language of the request.
func (p *Problem) detail(v *arrival) string {
	if p.Text.Key == "" {
		return p.Detail
	}
	return v.language().Say(p.Text)
}

// statusText returns the title of a problem: the translated reason phrase of its status.
func (v *arrival) statusText(status int) string {
	return v.language().Say(ui.Text{Key: "status." + strconv.Itoa(status), English: http.StatusText(status)})
}

var textAgain = ui.Text{Key: "problem.again", English: "Sign in again first."}

// problem returns the response to an API client whose user must authenticate again (RFC 9470 section 3).
func (e *StepUp) problem() *Problem {
	p := &Problem{Status: http.StatusUnauthorized, Code: "reauth_required", Text: textAgain}
	p.challenge, p.Members = problems.StepUp(e.MaxAge, reauth.ParseACR(strings.Join(e.ACR, " ")), e.Strong)
	return p
}

// refusesChange reports whether an error means that a change was not made, and not that its result is unknown.
func refusesChange(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrConflict) || errors.As(err, new(*Problem))
}
