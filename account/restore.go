package account

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// restoreTries is how often an address is written again that a request under way, or a squatter, takes in between.
const restoreTries = 3

// restores give users the address back that they had.
type restores struct {
	host  *core.Host
	links *links
}

// takeBack restores an address, forgets the links that went to others since, ends all sessions, and removes the sign-in
// methods that were added since the change. link is the record of the link, which stays. A change that another request
// was writing meanwhile is found afterwards, when no session is left that could begin another.
func (r *restores) takeBack(
	ctx context.Context, c *core.Call, link *store.Record, v *undo,
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

// restore gives a user the address that they had.
func (r *restores) restore(ctx context.Context, c *core.Call, userID string, v *undo) error {
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

// vacate takes an address from a user who never proved it: whoever moved it away could else register it anew, by a
// profile that nobody vouches for, and its owner would never have it back. [core.ErrConflict]: its user has proved it.
func (r *restores) vacate(ctx context.Context, c *core.Call, address string) error {
	squatter, err := r.host.Store.UserByEmail(ctx, address)
	switch {
	case errors.Is(err, core.ErrNotFound): // they have gone by themselves
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
		return fmt.Errorf("account: take the address from a user who never proved it: %w", err)
	}
	c.UpdatedUser(ctx, squatter, left)
	c.Audit(ctx, core.AuditEvent{
		Name: core.AuditEmailChanged, Outcome: core.OutcomeOK, Reason: core.ReasonProved, UserID: left.ID,
	})
	return nil
}

// endAll ends all sessions of a user, where this configuration can.
func (r *restores) endAll(ctx context.Context, userID string) error {
	_, err := r.host.Auth.EndSessions(ctx, userID, core.EndOptions{})
	switch {
	case notListed(err):
		r.host.Logger.WarnContext(ctx, "account: an address was restored, and sessions of its user go on until they "+
			"expire", "user_id", userID, "error", err)
	case err != nil && !errors.Is(err, core.ErrNotFound):
		return err
	}
	return nil
}

// forgetUndos removes the ways back from changes that were made after since, but the one that is taken: the mailboxes
// that would take them may be a stranger's.
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
		r.host.Logger.ErrorContext(ctx, "account: links that undo a later change stay until they expire",
			"user_id", userID, "error", err)
	}
}
