package core

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/internal/challenges"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/ui"
)

// challengeRetry is the Retry-After of a request that was refused because the service is unavailable.
const challengeRetry = 10 * time.Second

var textChallenge = ui.Text{
	Key: "signin.challenge", English: "We couldn't confirm that you're human. Please try again.",
}

// challengeGuard verifies the tokens of Callbacks.Challenge. A nil *challengeGuard accepts every request.
type challengeGuard struct {
	*challenges.Verifier
	limits *limits
}

// widget returns the widget of a page. It is nil if there is none.
func (s *challengeGuard) widget(action string) *ui.Challenge {
	if s == nil {
		return nil
	}
	w := s.Widget
	w.Action = action
	return &w
}

// check returns an error unless the request has a valid token for the action. The error is a *Problem.
func (s *challengeGuard) check(ctx context.Context, c *call, action string) error {
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
	p := challenge.Params{Token: token, Action: action, Host: hostnameOf(c.origin), Header: c.r.Header}
	received := received(c.r)
	if at, own := c.origins.Proxies.Address(&received); own {
		p.RemoteIP = at
	}
	err := s.Check(ctx, p)
	var skipped *challenges.SkippedError
	switch {
	case err == nil:
		if token != "" {
			s.limits.right(ctx, c, attempt)
		}
		return nil
	case errors.As(err, &skipped):
		c.log.failure(ctx, errorf(ErrAuth, "%w", err), c.attrs()...)
		return nil
	case errors.Is(err, challenge.ErrRefused):
		c.note(ctx, audit.Event{Name: audit.Challenge, Outcome: audit.Refused})
		return &Problem{
			Status: http.StatusForbidden, Code: "challenge_failed", Text: textChallenge,
			Cause: &Error{Type: autherr.Challenge, Cause: err},
		}
	}
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
