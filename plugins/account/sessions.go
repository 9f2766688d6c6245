package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/core"
)

// sessionsOf lists the user's sessions, the current one first. It returns nil if the configuration cannot list
// sessions.
func sessionsOf(ctx context.Context, auth *core.Auth, userID, current string) ([]Session, error) {
	infos, err := auth.Sessions(ctx, userID)
	switch {
	case notListed(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("account: list the sessions: %w", err)
	}
	all := make([]Session, 0, len(infos))
	for _, s := range infos {
		shown := Session{
			ID: s.ID, Current: s.Current || s.ID == current, Made: s.CreatedAt, Seen: s.LastSeen, Agent: s.UserAgent,
			Methods: s.AuthMethods, Provider: s.Provider, Expires: s.Expires,
		}
		if s.Network.IsValid() {
			shown.Network = s.Network.String()
			if s.Network.IsSingleIP() {
				shown.Network = s.Network.Addr().String()
			}
		}
		all = append(all, shown)
	}
	slices.SortStableFunc(all, func(x, y Session) int {
		if x.Current != y.Current {
			if x.Current {
				return -1
			}
			return 1
		}
		return 0
	})
	return all, nil
}

// notListed reports whether an error means that the configuration cannot list or end sessions.
func notListed(err error) bool {
	var e *core.Error
	return errors.As(err, &e) && (e.Type == core.ErrInvalidConfig || e.Type == core.ErrMissingStoreMethods)
}

// sessionRevoker ends sessions.
type sessionRevoker struct{}

// post handles POST account/end. The field session is a public session ID, "others" or "all".
func (e *sessionRevoker) post(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := currentSession(ctx, c)
	if err != nil {
		return nil, err
	}
	which := c.Field("session")
	options := core.EndOptions{One: which}
	switch which {
	case "":
		return refuse(c, http.StatusNotFound, codeNotFound)
	case "all":
		options = core.EndOptions{}
	case "others":
		if session.ID == "" { // a session without an ID would end with the others
			return refuse(c, http.StatusConflict, codeNotListed)
		}
		options = core.EndOptions{Except: session.ID}
	}
	ended, err := c.EndSessions(ctx, options)
	switch {
	case notListed(err):
		return refuse(c, http.StatusConflict, codeNotListed)
	case errors.Is(err, core.ErrNotFound):
		return refuse(c, http.StatusNotFound, codeNotFound)
	case err != nil:
		return nil, fmt.Errorf("account: end sessions: %w", err)
	}
	answer := struct {
		Ended int `json:"ended"`
	}{ended}
	switch which {
	case "all", session.ID:
	case "others":
		return done(ctx, c, "ended-others", answer)
	default:
		return done(ctx, c, "ended", answer)
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, answer), nil
	}
	return c.Redirect(c.Home), nil
}
