package core

import (
	"context"
	"encoding/json"
	"time"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// authenticatedAt returns the auth_time of the ID token, at most now. known is false if there is none. An invalid value
// is the zero time.
func (t *TokenSet) authenticatedAt(now time.Time) (at time.Time, known bool) {
	claim := t.Claims[authTime]
	if claim == nil {
		return time.Time{}, false
	}
	number, _ := claim.(json.Number)
	seconds, ok := exactjson.Floor([]byte(number))
	switch {
	case !ok || seconds <= 0:
		return time.Time{}, true
	case seconds > now.Unix():
		return now, true
	}
	return time.Unix(seconds, 0), true
}

// dateAuthentication determines when the provider authenticated the user. A provider may sign in a user without any
// interaction, also after a sign-out here: an attacker at an unlocked browser could sign the user out and in again. So
// the sign-in counts as recent only if the ID token or the configuration says so, or if it creates the user. Otherwise
// the time is unknown, or the AuthTime of the current session if it is the same user.
func (s *signIns) dateAuthentication(ctx context.Context, c *call, id *identity) error {
	if !id.byOAuth() || !s.sessions.facts {
		return nil
	}
	if at, known := id.oauth.tokens.authenticatedAt(s.sessions.now()); known {
		id.authTime = &at
	}
	id.oauth.unconfirmed = id.authTime == nil && id.oauth.client.Reauthenticates != True
	if id.started == flowSwitches {
		return nil
	}
	current, err := c.session.current(ctx)
	if err != nil || current == nil {
		return err
	}
	id.oauth.current, id.oauth.currentAuthTime = current.user.ID, current.authTime
	return nil
}
