package webhooks

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/outbox"
)

// change describes how another process finds out whether the change of an event was made.
type change struct {
	UserID string `json:"user,omitempty"`
	// State is the hash of the user's data before the change. It is empty if the data does not show the change; then the
	// event is sent.
	State string `json:"state,omitempty"`
	// Email is the address of a user who is created. The store may choose another ID.
	Email string `json:"email,omitempty"`
}

// ofUser are the events of changes that the data of the user shows: the user, the linked accounts, or the user's
// records, in which plugins store passwords, factors, keys and memberships.
var ofUser = []audit.Name{
	audit.UserCreated, audit.UserDeleted, audit.DeletionScheduled, audit.DeletionCanceled, audit.ProfileChanged,
	audit.AccountLinked, audit.AccountUnlinked, audit.PasswordSet, audit.PasswordChanged, audit.UsernameChanged,
	audit.EmailProved, audit.EmailChanged, audit.EmailUndone,
	audit.FactorAdded, audit.FactorRemoved, audit.FactorsReset, audit.RecoveryUsed, audit.RecoveryRenewed,
	audit.KeyCreated, audit.KeyRotated, audit.KeyRevoked, audit.MemberJoined, audit.MemberChanged, audit.MemberRemoved,
	audit.AdminBanned, audit.AdminUnbanned, audit.AdminEmailVerified, audit.AdminFactorsReset, audit.AdminDeleted,
}

// plannedKey is the key of the context value with the job of an event that was stored before its change.
type plannedKey struct{ *Webhooks }

// announce stores an event before its change.
func (w *Webhooks) announce(ctx context.Context, tx store.RecordStore, e audit.Event) (
	context.Context, func(unknown bool), error,
) {
	if !w.wanted(ctx, e) {
		return nil, nil, nil
	}
	j, err := w.newEvent(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	c := &change{UserID: e.UserID}
	if tx == nil && slices.Contains(ofUser, e.Name) { // in a transaction, the event is stored if the change is
		if c.State, err = w.state(ctx, e.UserID); err != nil {
			return nil, nil, err
		}
		if e.Name == audit.UserCreated {
			c.Email = e.Subject
		}
	}
	j.Value.Change, j.Checkable = c, c.State != ""
	var within outbox.Records
	if tx != nil {
		within = records{tx}
	}
	if err := w.events.Plan(ctx, within, j); err != nil {
		return nil, nil, fmt.Errorf("webhooks: store an event before its change: %w", err)
	}
	return context.WithValue(context.WithoutCancel(ctx), plannedKey{w}, j),
		func(unknown bool) { w.events.Cancel(j, unknown) }, nil
}

// confirm sends an event that was stored before its change. It returns false if ctx has none.
func (w *Webhooks) confirm(ctx context.Context, e audit.Event) bool {
	j, ok := ctx.Value(plannedKey{w}).(*eventJob)
	if ok = ok && j.Value.Type == string(e.Name); ok {
		w.events.Confirm(j)
	}
	return ok
}

// made reports whether the change of an event was made, for a process that ended in between. It returns true if that is
// unknown: a needless event is better than none.
func (w *Webhooks) made(j *eventJob) (bool, error) {
	c := j.Value.Change
	if c == nil || c.State == "" {
		return true, nil
	}
	if c.Email != "" {
		switch u, err := w.host.Store.UserByEmail(j.Context, c.Email); {
		case errors.Is(err, core.ErrNotFound):
			return false, nil
		case err != nil:
			return false, err
		default:
			return true, j.Value.about(u.ID)
		}
	}
	now, err := w.state(j.Context, c.UserID)
	return now != c.State, err
}

// about sets the user of an event.
func (e *event) about(userID string) error {
	var p payload
	if err := json.Unmarshal(e.Body, &p); err != nil {
		return err
	}
	p.Data.UserID = userID
	body, err := json.Marshal(p)
	e.Body = body
	return err
}

// state returns a hash of a user's data. It is that of no data if there is no such user.
func (w *Webhooks) state(ctx context.Context, userID string) (string, error) {
	var data struct {
		User     *core.User
		Accounts []*store.Account
		Records  []*store.Record
	}
	user, err := w.host.Store.User(ctx, userID)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return "", err
	}
	data.User = user
	if w.host.Accounts != nil && user != nil {
		if data.Accounts, err = w.host.Accounts.Accounts(ctx, userID); err != nil && !errors.Is(err, core.ErrNotFound) {
			return "", err
		}
		slices.SortFunc(data.Accounts, func(a, b *store.Account) int {
			return strings.Compare(a.Provider+"\x00"+a.ProviderAccountID, b.Provider+"\x00"+b.ProviderAccountID)
		})
	}
	if data.Records, err = w.records.UserRecords(ctx, userID, ""); err != nil {
		return "", err
	}
	text, err := json.Marshal(data)
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(hash[:]), nil
}
