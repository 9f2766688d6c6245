package admin

import (
	"context"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
)

// checkImpersonation decides whether a user may impersonate another one. Core calls it with each request of an
// impersonated session.
func (a *Admin) checkImpersonation(ctx context.Context, by *core.Session, userID string) error {
	if err := a.options.Guard(ctx, by); err != nil {
		return err
	}
	protected, err := a.options.IsAdmin(ctx, userID)
	if err == nil && protected {
		err = core.ErrForbidden
	}
	return err
}

func (a *Admin) postImpersonate(
	ctx context.Context, c *core.ActionRequest, _ *core.Session, u *core.User,
) (changed, error) {
	return changed{}, c.Impersonate(ctx, u.ID)
}

// stopped is the response to POST admin/end-impersonation.
type stopped struct {
	// Restored reports that the administrator is signed in again.
	Restored bool `json:"restored"`
}

// endImpersonationAction returns the action that ends an impersonation. The user of the session is not an
// administrator, so Options.Guard does not run.
func (a *Admin) endImpersonationAction() core.Action {
	signedIn := func(context.Context, *core.Session) error { return nil }
	return core.Action{
		Method: http.MethodPost, Name: name, Verb: verbEndImpersonation, Impersonated: true,
		Require: []core.Guard{signedIn}, Handle: inBrowser(a.postEndImpersonation),
	}
}

func (a *Admin) postEndImpersonation(
	ctx context.Context, c *core.ActionRequest, s *core.Session,
) (*core.Response, error) {
	restored, err := c.EndImpersonation(ctx)
	if err != nil {
		return nil, err
	}
	c.Audit(ctx, audit.Event{
		Name: audit.AdminImpersonationEnded, Outcome: audit.OK, UserID: s.UserID, ActorID: s.Actor, SessionID: s.ID,
	})
	switch {
	case c.WantsJSON:
		return c.JSON(ctx, http.StatusOK, stopped{restored}), nil
	case restored:
		return c.Redirect(c.URL(name+"/user", "user", s.UserID)), nil
	}
	return c.Redirect(c.URL("signin")), nil
}
