package password

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// The kinds of store records.
const (
	kindPassword   = "password"
	kindSignUp     = "signup"
	kindReset      = "reset"
	kindInvitation = "invite"
	kindDevice     = "device"
)

// secret is the value of a password record. Its key is the user's ID.
type secret struct {
	Hash hashed    `json:"hash"`
	Set  time.Time `json:"set"`
	// Unproved reports that the password was set before the user's address was verified. It may be an attacker's, and
	// becomes invalid when the address is verified in another way than with this password.
	Unproved bool `json:"unproved,omitempty"`
	// Checked is when the password was last checked for breaches at a sign-in. Breached reports that it is known from
	// one. Both are results for this password: a new one has none.
	Checked  time.Time `json:"checked,omitzero"`
	Breached bool      `json:"breached,omitempty"`
}

// stored is a password record with its version.
type stored struct {
	secret
	version int64
}

// same reports whether the record has not changed. The version alone is not enough, because it restarts if the record
// is deleted.
func (p *stored) same(before *stored) bool {
	return p != nil && before != nil && p.version == before.version &&
		subtle.ConstantTimeCompare([]byte(p.Hash), []byte(before.Hash)) == 1
}

// passwords reads and writes the users' passwords.
type passwords struct {
	records store.RecordStore
	now     func() time.Time
}

// load returns the password of a user, or nil. For an empty ID it calls the store too, so that unknown addresses take
// the same time.
func (p *passwords) load(ctx context.Context, userID string) (*stored, error) {
	record, err := p.records.Record(ctx, kindPassword, cmp.Or(userID, "-"))
	switch {
	case errors.Is(err, core.ErrNotFound), err == nil && record.UserID != userID:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("password: read the password: %w", err)
	}
	out := &stored{version: record.Version}
	if err := json.Unmarshal(record.Value, &out.secret); err != nil {
		return nil, fmt.Errorf("password: decode the record of user %q: %w", userID, err)
	}
	return out, nil
}

// usable returns the password that user can sign in with, or nil. user may be nil.
func (p *passwords) usable(ctx context.Context, user *core.User) (*stored, error) {
	if user == nil {
		return p.load(ctx, "")
	}
	old, err := p.load(ctx, user.ID)
	if old != nil && old.Unproved && !user.EmailVerified.IsZero() {
		return nil, err
	}
	return old, err
}

// set replaces the password old, or creates one if old is nil. unproved reports that the user's address is not
// verified. set returns core.ErrConflict if the password has changed since it was read.
func (p *passwords) set(ctx context.Context, userID string, hash hashed, unproved bool, old *stored) error {
	return p.write(ctx, userID, secret{Hash: hash, Set: p.now().UTC().Truncate(time.Second), Unproved: unproved}, old)
}

// write replaces the record old. It returns the errors of set.
func (p *passwords) write(ctx context.Context, userID string, s secret, old *stored) error {
	value, err := json.Marshal(s)
	if err != nil {
		return err
	}
	record := &store.Record{Kind: kindPassword, Key: userID, UserID: userID, Value: value}
	if old == nil {
		return p.records.CreateRecord(ctx, record)
	}
	switch now, err := p.load(ctx, userID); {
	case err != nil:
		return err
	case !now.same(old): // UpdateRecord would accept a record that was deleted and created again with the same version
		return core.ErrConflict
	}
	record.Version = old.version
	err = p.records.UpdateRecord(ctx, record)
	if errors.Is(err, core.ErrNotFound) {
		return core.ErrConflict
	}
	return err
}

// hashed is an encoded password hash, made by the hasher or accepted by it from another system.
type hashed string

// userByEmail returns the user of an address as the browser sent it, or nil.
func userByEmail(ctx context.Context, users core.Store, typed string) (*core.User, error) {
	return found(core.UserByMailbox(ctx, users, typed))
}

// userByID returns a user, or nil.
func userByID(ctx context.Context, users core.Store, id string) (*core.User, error) {
	return found(users.User(ctx, id))
}

func found(user *core.User, err error) (*core.User, error) {
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("password: find the user: %w", err)
	}
	return user, nil
}

// isMail reports whether a text is a single email address, and returns its canonical form.
func isMail(text string) (string, bool) {
	address, err := core.NormalizeEmail(text)
	return address, err == nil && !strings.ContainsRune(address, 0)
}

// hasAddress reports whether a user can reset the password by email.
func hasAddress(u *core.User) bool { return u.Email != "" && !u.EmailVerified.IsZero() }

// isUnproved reports whether a password of the user can be that of another person, who signed up with the user's
// address. A user without an address has no such risk.
func isUnproved(u *core.User) bool { return u.Email != "" && u.EmailVerified.IsZero() }
