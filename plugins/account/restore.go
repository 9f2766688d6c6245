package account

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
)

// restoreTries is the number of attempts to restore an address that a concurrent request or another user takes
// meanwhile.
const restoreTries = 3

// restores restores a user's previous email address.
type restores struct {
	host  *core.PluginHost
	links *links
}

// takeBack restores the address, deletes the links that were sent to other addresses since, ends all sessions, and
// removes the sign-in methods that were added since the change. link is the undo link's record, which it does not
// delete. A concurrent request of the attacker may still change the address. takeBack checks for that at the end, when
// no session is left that could start another change.
func (r *restores) takeBack(
	ctx context.Context, c *core.ActionRequest, link *store.Record, v *undo,
) (removed []added, err error) {
	for range restoreTries {
		if err := r.restore(ctx, c, link.UserID, v); err != nil {
			return nil, err
		}
		r.links.forget(ctx, link.UserID)
		r.forgetUndos(ctx, link, v.Made)
		if err := r.endAll(ctx, link.UserID); err != nil {
			return nil, err
		}
		more, err := r.removeAdded(ctx, c, link.UserID, v)
		if removed = append(removed, more...); err != nil {
			return nil, err
		}
		switch user, err := r.host.Store.User(ctx, link.UserID); {
		case err != nil:
			return nil, err
		case user.Email == v.Address:
			more, err = r.removeAdded(ctx, c, link.UserID, v)
			return append(removed, more...), err
		}
	}
	return nil, errBusy
}

// restore writes the previous address to the user.
func (r *restores) restore(ctx context.Context, c *core.ActionRequest, userID string, v *undo) error {
	user, err := r.host.Store.User(ctx, userID)
	if err != nil || user.Email == v.Address {
		return err
	}
	restored := user.Clone()
	restored.Email, restored.EmailVerified, restored.Null = v.Address, v.Proved, restored.Null&^store.NullEmail
	for range restoreTries {
		after, err := r.host.Store.UpdateUser(ctx, restored)
		if err == nil {
			c.UpdatedUser(ctx, user, after)
			return nil
		}
		if !errors.Is(err, core.ErrConflict) {
			return err
		}
		if err := r.vacate(ctx, c, v.Address); err != nil {
			return err
		}
	}
	return errBusy
}

// vacate removes the address from a user who never verified it. Otherwise an attacker who moved the address away could
// register it again, with a profile that its provider does not vouch for, and its owner could never get it back. It
// returns [core.ErrConflict] if that user has verified the address.
func (r *restores) vacate(ctx context.Context, c *core.ActionRequest, address string) error {
	squatter, err := r.host.Store.UserByEmail(ctx, address)
	switch {
	case errors.Is(err, core.ErrNotFound): // that user gave it up meanwhile
		return nil
	case err != nil:
		return err
	}
	if proved, err := readsMail(ctx, r.host.Accounts, squatter); err != nil || proved {
		return cmp.Or(err, core.ErrConflict)
	}
	left := squatter.Clone()
	left.Email, left.Null = "", left.Null|store.NullEmail
	if left, err = r.host.Store.UpdateUser(ctx, left); err != nil {
		return fmt.Errorf("account: remove the address from a user who never verified it: %w", err)
	}
	c.UpdatedUser(ctx, squatter, left)
	c.Audit(ctx, audit.Event{
		Name: audit.EmailChanged, Outcome: audit.OK, Reason: audit.ReasonProved, UserID: left.ID,
	})
	return nil
}

// endAll ends all sessions of the user, if the configuration allows it.
func (r *restores) endAll(ctx context.Context, userID string) error {
	_, err := r.host.Auth.EndSessions(ctx, userID, core.EndOptions{})
	switch {
	case notListed(err):
		r.host.Logger.WarnContext(ctx, "account: an address was restored, but its user's sessions stay valid until "+
			"they expire", "user_id", userID, "error", err)
	case err != nil && !errors.Is(err, core.ErrNotFound):
		return err
	}
	return nil
}

// forgetUndos deletes the other undo links that were created since the given time, because they may be in the
// attacker's mailboxes.
func (r *restores) forgetUndos(ctx context.Context, taken *store.Record, since time.Time) {
	userID := taken.UserID
	records, err := r.links.records.UserRecords(ctx, userID, kindUndo)
	for _, record := range records {
		var v undo
		if json.Unmarshal(record.Value, &v) == nil && v.Made.Before(since) {
			continue
		}
		if record.Key == taken.Key {
			continue
		}
		_, gone := r.links.records.DeleteRecord(ctx, kindUndo, record.Key)
		if gone != nil && !errors.Is(gone, core.ErrNotFound) {
			err = errors.Join(err, gone)
		}
	}
	if err != nil {
		r.host.Logger.ErrorContext(ctx, "account: links that undo a later change stay valid until they expire",
			"user_id", userID, "error", err)
	}
}
