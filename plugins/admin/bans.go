package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/recordstore"
)

// The kinds of store records. The key of a ban is the user ID. For each ban there is a second record until the task has
// ended the user's sessions and credentials again.
const (
	kindBan     = "ban"
	kindBanning = "banning"
)

// Ban excludes a user from signing in.
type Ban struct {
	// Reason is for other administrators: 1 to 200 printable characters. The user does not see it.
	Reason string `json:"reason"`
	// By is the ID of the administrator. It is empty if a program has banned the user.
	By string `json:"by,omitempty"`
	// At is when the user was banned. [Admin.Ban] sets it.
	At time.Time `json:"at"`
	// Until is when the ban ends. The zero value means that it does not end.
	Until time.Time `json:"until,omitzero"`
}

// storedBan is the value of a ban's record.
type storedBan struct {
	Ban
	// Settling is when the task began to end the user's sessions and credentials again, or zero.
	Settling time.Time `json:"settling,omitzero"`
}

func (b *storedBan) active(now time.Time) bool { return b.Until.IsZero() || b.Until.After(now) }

// The errors of [Admin.Ban].
var (
	ErrReason = errors.New("admin: the reason must have 1 to 200 printable characters")
	ErrUntil  = errors.New("admin: the end of the ban is in the past or more than 100 years away")
)

const (
	maxReason = 200
	maxBan    = 100 * 365 * 24 * time.Hour
	maxTries  = 5
	// settleTime limits the time in which the task ends a user's sessions and credentials. Unban waits for it, with
	// unbanTries pauses of up to unbanPause.
	settleTime = 30 * time.Second
	unbanTries = 40
	unbanPause = 100 * time.Millisecond
)

func isReason(s string) bool {
	return s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxReason &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// CredentialEnder is a plugin with credentials that act for users without a session, such as API keys. A ban ends the
// credentials of all such plugins. It is the interface of the same name in plugins/account.
type CredentialEnder interface {
	// EndCredentials ends the credentials of a user. It must be idempotent.
	EndCredentials(ctx context.Context, userID string) error
}

// Ban bans a user, or replaces the user's ban. It ends the sessions, the refresh tokens and the API keys of the user.
// With StrategyJWT, other processes follow within Revocation.Every. It returns [core.ErrNotFound] if there is no such
// user, [ErrReason] or [ErrUntil]. After any other error the user may be banned already, and a task ends the sessions
// later.
func (a *Admin) Ban(ctx context.Context, userID string, b Ban) error {
	err := a.host.AuditChange(ctx, audit.Event{
		Name: audit.AdminBanned, Outcome: audit.OK, UserID: userID, ActorID: b.By, Note: b.Reason,
	}, func(ctx context.Context) error { return a.ban(ctx, userID, &b) })
	if err != nil {
		return err
	}
	return a.endAll(ctx, userID)
}

// ban stores a ban. The record for the task is stored first: if this process stops, the task continues.
func (a *Admin) ban(ctx context.Context, userID string, b *Ban) error {
	b.At = a.host.Now().UTC().Truncate(time.Millisecond)
	b.Until = b.Until.UTC().Truncate(time.Second)
	switch {
	case !isReason(b.Reason):
		return ErrReason
	case !b.Until.IsZero() && (!b.Until.After(b.At) || b.Until.After(b.At.Add(maxBan))):
		return ErrUntil
	}
	value, err := json.Marshal(b)
	if err != nil {
		return err
	}
	err = a.records.CreateRecord(ctx, &store.Record{
		Kind: kindBanning, Key: userID + "." + b.At.Format(time.RFC3339Nano), UserID: userID, Value: value,
	})
	if err != nil && !errors.Is(err, core.ErrConflict) { // a ban of the same millisecond
		return fmt.Errorf("admin: ban: %w", err)
	}
	for range maxTries {
		r, old, err := a.find(ctx, userID)
		switch {
		case errors.Is(err, core.ErrNotFound):
			err = a.records.CreateRecord(ctx, &store.Record{
				Kind: kindBan, Key: userID, UserID: userID, Value: value, Expires: b.Until,
			})
		case err == nil:
			r.Expires = b.Until
			err = a.update(ctx, r, &storedBan{*b, old.Settling})
		}
		if !errors.Is(err, core.ErrConflict) {
			return err
		}
	}
	return core.ErrConflict
}

// find returns the stored ban of a user, which may have ended. It returns [core.ErrNotFound] if there is none. For a
// malformed ban it returns an error and the record.
func (a *Admin) find(ctx context.Context, userID string) (*store.Record, *storedBan, error) {
	r, err := a.records.Record(ctx, kindBan, userID)
	if err != nil {
		return nil, nil, err
	}
	b := new(storedBan)
	if err := json.Unmarshal(r.Value, b); err != nil {
		return r, new(storedBan), fmt.Errorf("admin: the ban of user %s is malformed: %w", userID, err)
	}
	return r, b, nil
}

// update stores a changed ban. It returns [core.ErrConflict] if the record was changed or deleted since it was read.
func (a *Admin) update(ctx context.Context, r *store.Record, b *storedBan) (err error) {
	if r.Value, err = json.Marshal(b); err != nil {
		return err
	}
	if err = a.records.UpdateRecord(ctx, r); errors.Is(err, core.ErrNotFound) {
		err = core.ErrConflict
	}
	return err
}

// BanOf returns the ban of a user, or nil if the user is not banned. It reads the store once.
func (a *Admin) BanOf(ctx context.Context, userID string) (*Ban, error) {
	_, b, err := a.find(ctx, userID)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case !b.active(a.host.Now()):
		return nil, nil
	}
	return &b.Ban, nil
}

// Unban lifts the ban of a user. by is the ID of the administrator, or empty. It returns [core.ErrNotFound] if the user
// is not banned, [ErrReason], and [core.ErrConflict] if the sessions are still being ended after about two seconds: try
// again. The user signs in again; ended sessions and API keys stay ended.
func (a *Admin) Unban(ctx context.Context, userID, by, reason string) error {
	return a.host.AuditChange(ctx, audit.Event{
		Name: audit.AdminUnbanned, Outcome: audit.OK, UserID: userID, ActorID: by, Note: reason,
	}, func(ctx context.Context) error { return a.unban(ctx, userID, reason) })
}

func (a *Admin) unban(ctx context.Context, userID, reason string) error {
	if !isReason(reason) {
		return ErrReason
	}
	for range unbanTries {
		r, b, err := a.find(ctx, userID)
		if r == nil {
			return err
		}
		now := a.host.Now()
		// Otherwise the task is running, and could end a session that starts after the ban.
		if now.After(b.Settling.Add(settleTime)) {
			b.Until = now.UTC()
			if err = a.update(ctx, r, b); err == nil {
				_, err = a.records.DeleteRecord(ctx, kindBan, userID)
			}
			if !errors.Is(err, core.ErrConflict) {
				return err
			}
		}
		if err := recordstore.Pause(ctx, unbanPause); err != nil {
			return err
		}
	}
	return core.ErrConflict
}

// gate refuses the sign-ins of banned users.
func (a *Admin) gate(ctx context.Context, p *core.PendingSignIn) (next string, err error) {
	return "", a.check(ctx, p.User.ID)
}

// check returns an error for a banned user.
func (a *Admin) check(ctx context.Context, userID string) error {
	b, err := a.BanOf(ctx, userID)
	if err == nil && b != nil {
		return core.NewError(core.ErrAccessDenied, &audit.Denial{
			Reason: audit.ReasonBanned, UserID: userID, Err: errors.New("the user is banned"),
		})
	}
	return err
}

// endAll ends the sessions and the credentials of a user.
func (a *Admin) endAll(ctx context.Context, userID string) error {
	_, err := a.endSessions(ctx, userID, core.EndOptions{})
	for _, plugin := range a.host.Plugins() {
		if ender, ok := plugin.(CredentialEnder); ok {
			if failed := ender.EndCredentials(ctx, userID); failed != nil {
				err = errors.Join(err, fmt.Errorf("admin: end the credentials of %T: %w", plugin, failed))
			}
		}
	}
	return err
}

// endSessions ends sessions of a user. If the configuration cannot, Advise reports it.
func (a *Admin) endSessions(ctx context.Context, userID string, o core.EndOptions) (int, error) {
	if !a.host.CanEndSessions() {
		return 0, nil
	}
	ended, err := a.host.Auth.EndSessions(ctx, userID, o)
	if err != nil {
		err = fmt.Errorf("admin: end the sessions of a user: %w", err)
	}
	return ended, err
}

// settleAfter is the time after a ban when no request from before the ban can create a session or a key.
const settleAfter = 2 * time.Minute

// finish is the task that ends the sessions and credentials of banned users again, because the process that banned them
// may have stopped in between.
func (a *Admin) finish(ctx context.Context) (all error) {
	for cursor := ""; ; {
		page, next, err := a.host.RecordLister.ListRecords(ctx, kindBanning, "", cursor, 100)
		if err != nil {
			return errors.Join(all, fmt.Errorf("admin: list bans: %w", err))
		}
		for _, r := range page {
			all = errors.Join(all, a.settle(ctx, r))
		}
		if next == "" || ctx.Err() != nil {
			return all
		}
		cursor = next
	}
}

func (a *Admin) settle(ctx context.Context, r *store.Record) error {
	var b Ban
	if err := json.Unmarshal(r.Value, &b); err != nil {
		return fmt.Errorf("admin: the record %s is malformed: %w", r.Key, err)
	}
	if a.host.Now().Before(b.At.Add(settleAfter)) {
		return nil
	}
	err := a.endAgain(ctx, r.UserID)
	if err == nil {
		_, err = a.records.DeleteRecord(ctx, kindBanning, r.Key)
	}
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	return err
}

// endAgain ends the sessions and the credentials of a user who is still banned. Meanwhile the ban cannot be lifted.
func (a *Admin) endAgain(ctx context.Context, userID string) error {
	banned, err := a.setSettling(ctx, userID, a.host.Now().UTC())
	if err != nil || !banned {
		return err
	}
	bounded, end := context.WithTimeout(ctx, settleTime)
	defer end()
	err = a.endAll(bounded, userID)
	_, failed := a.setSettling(context.WithoutCancel(ctx), userID, time.Time{})
	return errors.Join(err, failed)
}

// setSettling sets the field Settling of a user's ban. It reports whether the user is banned.
func (a *Admin) setSettling(ctx context.Context, userID string, at time.Time) (banned bool, err error) {
	for range maxTries {
		r, b, err := a.find(ctx, userID)
		switch {
		case errors.Is(err, core.ErrNotFound):
			return false, nil
		case err != nil:
			return false, err
		case !b.active(a.host.Now()):
			return false, nil
		}
		b.Settling = at
		if err := a.update(ctx, r, b); !errors.Is(err, core.ErrConflict) {
			return err == nil, err
		}
	}
	return false, core.ErrConflict
}
