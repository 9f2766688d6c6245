package core

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/reauth"
)

// dateAuthentication determines when the provider authenticated the user. A provider may sign in a user without any
// interaction, also after a sign-out here: an attacker at an unlocked browser could sign the user out and in again. So
// the sign-in counts as recent only if the ID token or the configuration says so, or if it creates the user. Otherwise
// the time is unknown, or the AuthTime of the current session if it is the same user.
func (s *signIns) dateAuthentication(ctx context.Context, c *call, id *identity) error {
	if !id.byOAuth() || !s.sessions.facts {
		return nil
	}
	if at, known := reauth.AuthTime(id.oauth.tokens.Claims, s.sessions.now()); known {
		id.authTime = &at
	}
	id.oauth.unconfirmed = id.authTime == nil && id.oauth.client.Reauthenticates != True
	if id.started == flowstate.SwitchesUser {
		return nil
	}
	current, err := c.session.current(ctx)
	if err != nil || current == nil {
		return err
	}
	id.oauth.current, id.oauth.currentAuthTime = current.user.ID, current.authTime
	return nil
}

// reauthURL returns the URL of the page for a guard's requirement. Afterwards the browser opens back.
func (v *arrival) reauthURL(again *StepUp, back string) string {
	return reauth.Address(v.base, "", back, again.Strong, again.ACR)
}

// reauthAddress returns the URL of the page, or of the form of a provider. more lists further parameters.
func (c *call) reauthAddress(r *reauthRequest, back, provider string, more ...string) string {
	return reauth.Address(c.base, provider, back, r.Strong, r.ACR, more...)
}

// Guard decides whether a signed-in user may continue. It returns nil to allow the request, [ErrForbidden] to reject
// it, or a *[StepUp] to require a new sign-in first. Any other error means that the decision failed: the response is
// the same as for a session that could not be read, so that a guard fails closed. A Guard is called for each request
// and must be safe for concurrent use.
type Guard func(ctx context.Context, s *Session) error

// ErrForbidden is returned by a [Guard] if the user may not continue, even after a new sign-in. The response has status
// 403.
var ErrForbidden = errors.New("core: forbidden")

// StepUp is returned by a [Guard] if the user must sign in again (re-authenticate) before they may continue. Browsers
// are redirected to the sign-in page. API clients get 401 with the error insufficient_user_authentication (RFC 9470
// section 3).
type StepUp struct {
	// MaxAge is the maximum time since the last authentication. If it is zero, there is no maximum.
	MaxAge time.Duration
	// Strong requires two different kinds of factor, as [Strong] does.
	Strong bool
	// ACR lists authentication context class references. The user needs one of them, as with [ACR]. If it is empty,
	// none is required.
	ACR []string
}

// Error describes the requirement.
func (e *StepUp) Error() string {
	text := "core: the user must sign in again"
	if e.MaxAge > 0 {
		text += ": the last sign-in may be at most " + e.MaxAge.String() + " old"
	}
	if e.Strong {
		text += ": with two different kinds of factor"
	}
	if len(e.ACR) > 0 {
		text += ": with the authentication context class " + strings.Join(e.ACR, " or ")
	}
	return text
}

// sessionRequired is the value of the error parameter in a guard's redirect to the sign-in page, as in the clients of
// Auth.js. It is not a failure and is not logged.
const sessionRequired = "SessionRequired"
