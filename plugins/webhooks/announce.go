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
	// State is the hash of the user's data before the change. It is empty if the data does not show the change; then
	// the event is sent.
	State string `json:"state,omitempty"`
	// Email is the address of a user who is created. The store may choose another ID.
	Email string `json:"email,omitempty"`
}

// part is a part of a user's data.
type part struct {
	user, accounts bool
	// records are the kinds of records. If it is "*", all are part of it.
	records string
}

// parts are the parts of a user's data that changes with an event. The other data of the user can change in the same
// request although the change is not made.
var parts = map[audit.Name]part{
	audit.UserCreated: {user: true}, audit.UserDeleted: {user: true}, audit.AdminDeleted: {user: true},
	audit.GuestUpgraded: {user: true}, audit.GuestMerged: {user: true},
	audit.EmailProved: {user: true}, audit.EmailChanged: {user: true}, audit.EmailUndone: {user: true},
	audit.AdminEmailVerified: {user: true}, audit.ProfileChanged: {user: true, records: "*"},
	audit.AccountLinked: {accounts: true}, audit.AccountUnlinked: {accounts: true},
	audit.PasswordSet: {records: "password"}, audit.PasswordChanged: {records: "password"},
	audit.UsernameChanged: {records: "*"}, audit.DeletionScheduled: {records: "*"},
	audit.DeletionCanceled: {records: "*"},
	audit.FactorAdded:      {records: "*"}, audit.FactorRemoved: {records: "*"}, audit.FactorsReset: {records: "*"},
	audit.RecoveryUsed: {records: "*"}, audit.RecoveryRenewed: {records: "*"}, audit.RecoveryRemoved: {records: "*"},
	audit.AdminFactorsReset: {records: "*"},
	audit.KeyCreated:        {records: "*"}, audit.KeyRotated: {records: "*"}, audit.KeyRevoked: {records: "*"},
	audit.MemberJoined: {records: "*"}, audit.MemberChanged: {records: "*"}, audit.MemberRemoved: {records: "*"},
	audit.AdminBanned: {records: "*"}, audit.AdminUnbanned: {records: "*"},
}

// plannedKey is the key of the context value with the job of an event that was stored before its change.
type plannedKey struct{ *Webhooks }

// announce stores an event before its change.
func (w *Webhooks) announce(ctx context.Context, tx store.RecordStore, e audit.Event) (
	context.Context, func(unknown bool), error,
) {
	if !w.wanted(ctx, tx, e) {
		return nil, nil, nil
	}
	j, err := w.newEvent(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	c := &change{UserID: e.UserID}
	if e.Name == audit.GuestMerged { // the guest is deleted
		c.UserID = e.ActorID
	}
	if shows, ok := parts[e.Name]; ok && tx == nil { // in a transaction, the event is stored if the change is
		if c.State, err = w.state(ctx, c.UserID, shows); err != nil {
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
	if !ok || j.Value.Type != string(e.Name) {
		return false
	}
	if err := j.Value.about(e.UserID); err != nil { // the store may have chosen the ID
		w.logStep(ctx, err)
	}
	w.events.Confirm(j)
	return true
}

// made reports whether the change of an event was made, for a process that ended in between. It returns true if that is
// unknown: a needless event is better than none.
func (w *Webhooks) made(j *eventJob) (bool, error) {
	c, ctx := j.Value.Change, j.Context
	if c == nil || c.State == "" {
		return true, nil
	}
	var user *core.User
	var err error
	if c.Email != "" {
		user, err = w.host.Store.UserByEmail(ctx, c.Email)
	} else {
		user, err = w.host.Store.User(ctx, c.UserID)
	}
	gone := errors.Is(err, core.ErrNotFound)
	if err != nil && !gone {
		return false, err
	}
	switch audit.Name(j.Value.Type) {
	case audit.UserCreated:
		if gone {
			return false, nil
		}
		return true, j.Value.about(user.ID)
	case audit.UserDeleted, audit.AdminDeleted, audit.GuestMerged:
		return gone, nil
	}
	now, err := w.state(ctx, c.UserID, parts[audit.Name(j.Value.Type)])
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

// state returns a hash of a part of a user's data. It is that of no data if there is no such user.
func (w *Webhooks) state(ctx context.Context, userID string, shows part) (string, error) {
	var data struct {
		User     *core.User
		Accounts []string
		Records  []*store.Record
	}
	var err error
	if shows.user {
		if data.User, err = w.host.Store.User(ctx, userID); err != nil && !errors.Is(err, core.ErrNotFound) {
			return "", err
		}
	}
	if shows.accounts && w.host.Accounts != nil {
		linked, err := w.host.Accounts.Accounts(ctx, userID)
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			return "", err
		}
		for _, a := range linked {
			data.Accounts = append(data.Accounts, a.Provider+"\x00"+a.ProviderAccountID)
		}
		slices.Sort(data.Accounts)
	}
	if shows.records != "" {
		data.Records, err = w.records.UserRecords(ctx, userID, strings.TrimSuffix(shows.records, "*"))
		if err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(data)
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(hash[:]), nil
}
