package core

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/internal/observed"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/internal/upstream"
	"github.com/latchkey-go/latchkey/ui"
)

const (
	// maxChallenges is the maximum number of tokens that a process verifies concurrently, so that an attacker cannot use
	// up its memory and connections while the service is slow.
	maxChallenges = 64
	// maxVerdict is the maximum size of a response of the service, in bytes.
	maxVerdict = 64 << 10
	// challengeRetry is the Retry-After of a request that was refused because the service is unavailable.
	challengeRetry = 10 * time.Second
)

var textChallenge = ui.Text{
	Key: "signin.challenge", English: "We couldn't confirm that you're human. Please try again.",
}

// challenges verifies the tokens of Callbacks.Challenge. A nil *challenges accepts every request.
type challenges struct {
	challenge.Challenge
	client  *http.Client
	limits  *limits
	watch   observed.Calls
	running chan struct{}
}

func newChallenges(c *Config, l *limits, w observed.Calls) *challenges {
	if c.Callbacks.Challenge == nil {
		return nil
	}
	client := upstream.New(upstream.Options{HTTP: c.HTTPClient, Timeout: challenge.Timeout, MaxBody: maxVerdict})
	return &challenges{
		Challenge: *c.Callbacks.Challenge, client: &http.Client{Transport: client.Transport(upstream.NoRedirects)},
		limits: l, watch: w, running: make(chan struct{}, maxChallenges),
	}
}

// widget returns the widget of a page. It is nil if there is none.
func (s *challenges) widget(action string) *ui.Challenge {
	if s == nil {
		return nil
	}
	w := s.Widget
	w.Action = action
	return &w
}

// check returns an error unless the request has a valid token for the action. The error is a *Problem.
func (s *challenges) check(ctx context.Context, c *call, action string) error {
	if s == nil {
		return nil
	}
	token, _ := c.fields.Text(s.Field)
	attempt := newAttempt(limit.AttemptChallenge, "")
	if token != "" { // a request without a token must not use up the limit of its network
		if err := s.limits.ask(ctx, c, attempt); err != nil {
			return err
		}
	}
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	default:
		return s.unavailable(ctx, c, errors.New("too many tokens are being verified"))
	}
	err := challenge.ErrRefused
	if len(token) <= challenge.MaxToken {
		err = s.verify(ctx, c, challenge.Params{
			Token: token, Action: action, Host: hostnameOf(c.origin), Header: c.r.Header, Client: s.client,
		})
	}
	switch {
	case err == nil:
		if token != "" {
			s.limits.right(ctx, c, attempt)
		}
		return nil
	case errors.Is(err, challenge.ErrRefused):
		c.note(ctx, audit.Event{Name: audit.Challenge, Outcome: audit.Refused})
		return &Problem{
			Status: http.StatusForbidden, Code: "challenge_failed", Text: textChallenge,
			Cause: &Error{Type: errChallenge, Cause: err},
		}
	case ctx.Err() == nil && s.AllowOutage: // a client that disconnects must not look like an outage
		c.log.failure(ctx, errorf(ErrAuth, "the challenge was skipped, its service is unavailable: %w", err), c.attrs()...)
		return nil
	}
	return s.unavailable(ctx, c, err)
}

func (s *challenges) verify(ctx context.Context, c *call, p challenge.Params) error {
	received := received(c.r)
	if at, own := c.origins.Proxies.Address(&received); own {
		p.RemoteIP = at
	}
	ctx, cancel := context.WithTimeout(ctx, challenge.Timeout)
	defer cancel()
	call := observe.Call{Target: observe.Provider, Name: "challenge"}
	return s.watch.Do(ctx, call, func(ctx context.Context) error {
		return guard("Challenge.Verify", func() error { return s.Verify(ctx, p) })
	})
}

func (s *challenges) unavailable(ctx context.Context, c *call, err error) error {
	c.note(ctx, audit.Event{Name: audit.Challenge, Outcome: audit.Failed})
	return &Problem{
		Status: http.StatusServiceUnavailable, Code: "challenge_unavailable", RetryAfter: challengeRetry,
		Cause: errorf(ErrAuth, "verify a challenge: %w", err),
	}
}

// hostnameOf returns the host of an origin without the port.
func hostnameOf(origin string) string {
	u, err := url.Parse(origin)
	if err != nil { // the origin is valid
		return ""
	}
	return u.Hostname()
}

// permitChallenge adds the origins of a widget to the Content-Security-Policy of its page.
func permitChallenge(response *Response, w *ui.Challenge) *Response {
	if w == nil || response.Err != nil {
		return response
	}
	response.permit("script-src", w.ScriptSources...)
	response.permit("style-src", w.StyleSources...)
	response.permit("connect-src", w.ConnectSources...)
	response.permit("frame-src", w.FrameSources...)
	return response
}

// permit adds sources to a directive of the Content-Security-Policy.
func (r *Response) permit(directive string, sources ...string) {
	if len(sources) == 0 {
		return
	}
	policy, added := r.Header.Get("Content-Security-Policy"), "; "+directive+" "+strings.Join(sources, " ")
	if with := strings.Replace(policy, "; "+directive+" ", added+" ", 1); with != policy {
		r.set("Content-Security-Policy", with)
		return
	}
	r.set("Content-Security-Policy", policy+added)
}

// ChallengeWidget returns the widget of Callbacks.Challenge for a form, to be set as the Challenge of its page. action
// says what the form does: a constant of package challenge, or a name of at most 32 letters, digits and hyphens. It
// returns nil if there is no challenge. Call [ActionRequest.CheckChallenge] with the same action when the form is
// posted.
func (c *ActionRequest) ChallengeWidget(action string) *ui.Challenge {
	return c.plugins.challenges.widget(action)
}

// CheckChallenge returns an error unless the request has a valid token of Callbacks.Challenge for the action, or there
// is no challenge. The error is a *[Problem] with the code "challenge_failed" or "challenge_unavailable", or that of a
// limit. A token is valid once: call it last, before the request guesses a secret or sends an email.
func (c *ActionRequest) CheckChallenge(ctx context.Context, action string) error {
	return c.plugins.challenges.check(ctx, c.in, action)
}
