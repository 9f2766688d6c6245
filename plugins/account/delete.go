package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

// deletePhrase is the phrase that users type to delete their account.
const deletePhrase = "delete my account"

// deletions handles account deletion.
type deletions struct {
	host   *core.PluginHost
	sender *sender
	clear  func(ctx context.Context, u *core.User) error // Options.Delete

	schedule *schedule
}

func (d *deletions) actions(r *reauth) []core.Action {
	return []core.Action{r.change("delete", d.post)}
}

// post handles POST account/delete, whose field phrase must be [deletePhrase]. It calls Options.Delete and [SharedData]
// first, then ends all sessions, then deletes the user with all data in the store. With Options.DeleteAfter, it
// schedules that.
func (d *deletions) post(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := currentSession(ctx, c)
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(strings.Join(strings.Fields(c.Field("phrase")), " "), deletePhrase) {
		return refuse(c, http.StatusBadRequest, codePhrase)
	}
	user, err := d.host.Store.User(ctx, session.UserID)
	if err != nil {
		return nil, fmt.Errorf("account: read the user: %w", err)
	}
	if err := checkDelete(ctx, d.host, user); err != nil {
		return nil, err
	}
	if d.schedule.on() {
		return d.schedule.add(ctx, c, session, user)
	}
	if err := d.clear(ctx, user.Clone()); err != nil {
		return nil, err
	}
	if err := forgetUser(ctx, d.host, user); err != nil {
		return nil, err
	}
	// End the sessions before deleting the user: with StrategyJWT the user record is needed to revoke them.
	_, err = c.EndSessions(ctx, core.EndOptions{})
	ended := err == nil
	if err != nil && !notListed(err) && !errors.Is(err, core.ErrNotFound) {
		return nil, fmt.Errorf("account: end the sessions of a deleted user: %w", err)
	}
	email := core.Email{To: user.Email, Kind: mailkind.Deleted, At: d.host.Now()}
	if !user.EmailVerified.IsZero() {
		email = c.AddClient(email)
	}
	if err := announce(ctx, c, audit.UserDeleted, user.ID); err != nil {
		return nil, err
	}
	err = d.sender.notify(ctx, c, user.ID, email, func(ctx context.Context) error {
		if err := d.host.UserDeleter.DeleteUser(ctx, user.ID); err != nil && !errors.Is(err, core.ErrNotFound) {
			return fmt.Errorf("account: delete the user: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if ended { // with StrategyJWT a session may have started before the user was deleted
		if _, err := d.host.Auth.EndSessions(ctx, user.ID, core.EndOptions{}); err != nil {
			d.host.Logger.ErrorContext(ctx, "account: a deleted user's session may still be valid", "user_id", user.ID,
				"error", err)
		}
	}
	auditDone(ctx, c, audit.UserDeleted, session)
	if ended {
		return d.answer(ctx, c)
	}
	if err := c.SignOut(ctx); err != nil { // the user is deleted; delete the cookies too
		d.host.Logger.InfoContext(ctx, "account: sign-out after a deletion", "error", err)
	}
	return d.answer(ctx, c)
}

func (d *deletions) answer(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, deletionOutput{Deleted: true}), nil
	}
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, deletedPage(page)), nil
}
