package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// added is a sign-in method that was added after an email change. method is nil for a password.
type added struct{ method *core.SignInMethod }

func (a added) name(l ui.Locale) string {
	switch {
	case a.method == nil:
		return l.Say(textPassword)
	case a.method.Passkey:
		return l.Say(textPasskey)
	}
	return a.method.Name
}

// snapshot stores the user's current sign-in methods in v.
func (r *restores) snapshot(ctx context.Context, userID string, v *undo) error {
	methods, err := r.host.SignInMethods(ctx, userID)
	if err != nil {
		return fmt.Errorf("account: list the sign-in methods: %w", err)
	}
	v.Had = make([]string, len(methods))
	for i, m := range methods {
		v.Had[i] = m.ID
	}
	_, v.Password, err = r.password(ctx, userID)
	return err
}

// password returns the user's password record and the time the password was set. The record is nil if there is no
// password.
func (r *restores) password(ctx context.Context, userID string) (*store.Record, time.Time, error) {
	records, err := r.links.records.UserRecords(ctx, userID, kindPassword)
	if err != nil || len(records) == 0 {
		return nil, time.Time{}, err
	}
	var p struct {
		Set time.Time `json:"set"`
	}
	if err := json.Unmarshal(records[0].Value, &p); err != nil {
		return nil, time.Time{}, fmt.Errorf("account: decode the password record: %w", err)
	}
	return records[0], p.Set, nil
}

// removeAdded removes the sign-in methods that the user did not have at the time of the email change.
func (r *restores) removeAdded(ctx context.Context, c *core.ActionRequest, userID string, v *undo) (all []added, err error) {
	since := v.Made.Truncate(time.Second)
	methods, err := r.host.RemoveSignInMethods(ctx, userID, func(m core.SignInMethod) bool {
		if v.Had != nil {
			return !slices.Contains(v.Had, m.ID)
		}
		return !m.Added.Before(since) // a zero time is before since
	})
	for i := range methods {
		all = append(all, added{&methods[i]})
		name := audit.AccountUnlinked
		if methods[i].Passkey {
			name = audit.PasskeyRemoved
		}
		c.Audit(ctx, audit.Event{
			Name: name, Outcome: audit.OK, Reason: audit.ReasonUndone, UserID: userID, Provider: methods[i].Provider,
		})
	}
	if err != nil {
		return all, err
	}
	record, set, err := r.password(ctx, userID)
	known := v.Had != nil && set.Equal(v.Password) || v.Had == nil && set.Before(since)
	if err != nil || record == nil || known {
		return all, err
	}
	switch _, err := r.links.records.DeleteRecord(ctx, kindPassword, record.Key); {
	case errors.Is(err, core.ErrNotFound):
		return all, nil
	case err != nil:
		return all, fmt.Errorf("account: remove a password: %w", err)
	}
	return append(all, added{}), nil
}
