package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
)

// sessionRevoker ends sessions.
type sessionRevoker struct{}

func (e *sessionRevoker) actions(r *reauth) []core.Action {
	return []core.Action{r.changeWithin(endSessionsWithin, "end", e.post)}
}

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
	answer := endedSessions{ended}
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
