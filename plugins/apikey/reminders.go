package apikey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

// reminderKind is the kind of the records of emails before a key expires. The key of a record is the day of
// the email and the ID of the API key, "2030-01-02.Wq3…", so that a process finds those that are due.
const reminderKind = "api-key-reminder"

// maxReminders is the maximum number of emails of a run, so that they do not displace other emails. The next runs send
// the rest.
const maxReminders = 100

// reminder is the value of a record.
type reminder struct {
	Due     time.Time `json:"due"`
	Expires time.Time `json:"expires"`
}

// day returns the beginning of the record keys of a day.
func day(at time.Time) string { return at.UTC().Format(time.DateOnly) + "." }

// plan stores when to remind the owner of a new key. An error is logged: the key works without it.
func (k *Keys) plan(ctx context.Context, key *Key) {
	due := key.Expires.Add(-k.options.ExpiryWarning)
	if !k.reminds() || key.UserID == "" || !due.After(key.Created) {
		return
	}
	value, err := json.Marshal(reminder{due, key.Expires})
	if err == nil {
		err = k.records.CreateRecord(ctx, &store.Record{
			Kind: reminderKind, Key: day(due) + key.ID, UserID: key.UserID, Value: value, Expires: key.Expires,
		})
	}
	if err != nil {
		k.host.Logger.WarnContext(ctx, "apikey: no email before this key expires", "key", key.ID, "error", err)
	}
}

// reminds reports whether emails are sent before keys expire.
func (k *Keys) reminds() bool { return k.options.ExpiryWarning > 0 && k.host.RecordLister != nil }

// remind emails the owners of keys that expire soon. Reminders that are older than the warning time are of keys that
// have expired.
func (k *Keys) remind(ctx context.Context) error {
	now, sent := k.host.Now(), map[string]bool{}
	for at := now.Add(-k.options.ExpiryWarning); ; at = at.Add(24 * time.Hour) {
		if at.After(now) {
			at = now
		}
		if err := k.remindOf(ctx, day(at), now, sent); err != nil || len(sent) >= maxReminders {
			return err
		}
		if at.Equal(now) {
			return nil
		}
	}
}

// remindOf sends the reminders of a day.
func (k *Keys) remindOf(ctx context.Context, prefix string, now time.Time, sent map[string]bool) error {
	for cursor := ""; ; {
		page, next, err := k.host.RecordLister.ListRecords(ctx, reminderKind, prefix, cursor, 100)
		if err != nil {
			return fmt.Errorf("apikey: list reminders: %w", err)
		}
		for _, r := range page {
			var due reminder
			if err := json.Unmarshal(r.Value, &due); err != nil {
				k.host.Logger.WarnContext(ctx, "apikey: malformed reminder", slog.Any("error", err))
				continue
			}
			if due.Due.After(now) {
				continue
			}
			if err := k.send(ctx, r, due, sent); err != nil {
				return err
			}
			if len(sent) >= maxReminders {
				return nil
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
}

// send deletes a reminder, and emails the owner of the key. Of several processes, one deletes it. Keys of a user that
// are due at the same time are one email.
func (k *Keys) send(ctx context.Context, r *store.Record, due reminder, sent map[string]bool) error {
	found, err := k.find(ctx, r.Key[len(day(due.Due)):]) // first: after a failure, the next run sends it
	revoked := errors.Is(err, core.ErrNotFound)
	if err != nil && !revoked {
		return err
	}
	switch _, err := k.records.DeleteRecord(ctx, r.Kind, r.Key); {
	case errors.Is(err, core.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("apikey: delete a reminder: %w", err)
	case revoked, !found.Expires.Equal(due.Expires) || sent[found.UserID]: // revoked or replaced
		return nil
	}
	sent[found.UserID] = true
	k.host.NotifySecurity(ctx, core.SecurityNotice{
		Kind: mailkind.KeyExpiring, UserID: found.UserID, Method: found.ID, At: found.Expires, Action: name,
	})
	return nil
}
