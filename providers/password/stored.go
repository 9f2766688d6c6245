package password

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// The kinds of records.
const (
	kindPassword   = "password"
	kindSignUp     = "signup"
	kindReset      = "reset"
	kindInvitation = "invite"
	kindDevice     = "device"
)

// secret is the record of a password. Its key is the user's ID.
type secret struct {
	Hash hashed    `json:"hash"`
	Set  time.Time `json:"set"`
	// Unproved is true where the password was set before anybody had proved the user's address: it may be a stranger's,
	// and ends when somebody proves the address in another way than with it.
	Unproved bool `json:"unproved,omitempty"`
}

// stored is a password's record with its version.
type stored struct {
	secret
	version int64
}

// same reports whether nothing was stored in between: versions begin anew where a record was deleted.
func (p *stored) same(before *stored) bool {
	return p != nil && before != nil && p.version == before.version &&
		subtle.ConstantTimeCompare([]byte(p.Hash), []byte(before.Hash)) == 1
}

// passwords are those of the users, in the store.
type passwords struct {
	records store.RecordStore
	now     func() time.Time
}

// in are the same passwords in the records of a transaction.
func (p *passwords) in(records store.RecordStore) *passwords { return &passwords{records, p.now} }

// of reads the password of a user; nil: they have none. For nobody, the empty ID, it asks the store all the same, so
// that it has as much to do.
func (p *passwords) of(ctx context.Context, userID string) (*stored, error) {
	key := userID
	if key == "" {
		key = "-"
	}
	record, err := p.records.Record(ctx, kindPassword, key)
	switch {
	case errors.Is(err, core.ErrNotFound), err == nil && record.UserID != userID:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("password: read the password: %w", err)
	}
	out := &stored{version: record.Version}
	if err := json.Unmarshal(record.Value, &out.secret); err != nil {
		return nil, fmt.Errorf("password: the record of user %q cannot be read: %w", userID, err)
	}
	return out, nil
}

// opening is the password that somebody may sign in with, nil for nobody.
func (p *passwords) opening(ctx context.Context, user *core.User) (*stored, error) {
	if user == nil {
		return p.of(ctx, "")
	}
	old, err := p.of(ctx, user.ID)
	if old != nil && old.Unproved && !user.EmailVerified.IsZero() {
		return nil, err
	}
	return old, err
}

// set writes a password that is set now in place of old, nil where the user had none. unproved: nobody has proved the
// user's address. core.ErrConflict: the password has changed since it was read.
func (p *passwords) set(ctx context.Context, userID string, hash hashed, unproved bool, old *stored) error {
	return p.write(ctx, userID, secret{Hash: hash, Set: p.now().UTC().Truncate(time.Second), Unproved: unproved}, old)
}

// write writes the record of a password in place of old, with the errors of set.
func (p *passwords) write(ctx context.Context, userID string, s secret, old *stored) error {
	value, err := json.Marshal(s)
	if err != nil {
		return err
	}
	record := &store.Record{Kind: kindPassword, Key: userID, UserID: userID, Value: value}
	if old == nil {
		return p.records.CreateRecord(ctx, record)
	}
	switch now, err := p.of(ctx, userID); {
	case err != nil:
		return err
	case !now.same(old): // UpdateRecord would take one that was made anew, of the same version, for the old one
		return core.ErrConflict
	}
	record.Version = old.version
	err = p.records.UpdateRecord(ctx, record)
	if errors.Is(err, core.ErrNotFound) {
		return core.ErrConflict
	}
	return err
}
