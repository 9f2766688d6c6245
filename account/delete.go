package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// deletePhrase is what a visitor types to delete their account.
const deletePhrase = "delete my account"

// deletions are how people delete their accounts.
type deletions struct {
	host    *core.Host
	letters *letters
	clear   func(ctx context.Context, u *core.User) error // Options.Delete
}

// post answers POST account/delete: phrase is [deletePhrase]. The application is asked first, then all sessions
// end, then the user goes with everything that the store has of them.
func (d *deletions) post(ctx context.Context, c *core.Call) (*core.Response, error) {
	session, err := here(ctx, c)
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
	if err := d.clear(ctx, user.Clone()); err != nil {
		return nil, err
	}
	// Before the user goes: under jwt it is the user's record that ends their sessions.
	_, err = c.EndSessions(ctx, core.EndOptions{})
	ended := err == nil
	if err != nil && !notListed(err) && !errors.Is(err, core.ErrNotFound) {
		return nil, fmt.Errorf("account: end the sessions of a user who goes: %w", err)
	}
	if err := d.host.UserDeleter.DeleteUser(ctx, user.ID); err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, fmt.Errorf("account: delete the user: %w", err)
	}
	if ended { // under jwt a session may have begun before the user was deleted
		if _, err := d.host.Auth.EndSessions(ctx, user.ID, core.EndOptions{}); err != nil {
			d.host.Logger.ErrorContext(ctx, "account: a session may have outlived a deleted user", "user_id", user.ID,
				"error", err)
		}
	}
	told(ctx, c, core.AuditUserDeleted, session)
	if d.letters.mail != nil && user.Email != "" {
		letter := core.Letter{To: user.Email, Kind: core.LetterDeleted, At: d.host.Now()}
		d.letters.notify(ctx, c, user.ID, letter)
	}
	if ended {
		return d.answer(ctx, c)
	}
	if err := c.SignOut(ctx); err != nil { // the user is gone; the cookies go too
		d.host.Logger.InfoContext(ctx, "account: sign-out after a deletion", "error", err)
	}
	return d.answer(ctx, c)
}

func (d *deletions) answer(ctx context.Context, c *core.Call) (*core.Response, error) {
	if c.WantsJSON {
		return c.Answer(ctx, http.StatusOK, map[string]bool{"deleted": true}), nil
	}
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, deletedPage(page, c.Home, c.Host())), nil
}
