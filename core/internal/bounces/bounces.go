// Package bounces remembers the email addresses whose mail server has refused an email permanently.
package bounces

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/purposekey"
)

// Kind is the kind of the records, and the purpose of the digests of addresses that are their keys.
const Kind = "email-bounce"

// life is the lifetime of a record.
const life = 90 * 24 * time.Hour

// Bounces has the reports. Addresses must be canonical.
type Bounces struct {
	Records store.RecordStore
	Secrets []string // digests are made with the first
	Now     func() time.Time
}

// report is the value of a record.
type report struct {
	At time.Time `json:"at"` // of the last report
}

// Add stores a report about the address of a user. The user may be unknown. Of concurrent reports one is stored, which
// is enough.
func (b *Bounces) Add(ctx context.Context, address, userID string) error {
	now := b.Now()
	value, err := json.Marshal(report{now.UTC()})
	if err != nil {
		return err
	}
	r, err := b.record(ctx, address)
	switch {
	case err == nil && r.UserID == userID:
		r.Value, r.Expires = value, now.Add(life)
		err = b.Records.UpdateRecord(ctx, r)
	case err == nil: // the address has another user by now
		if _, err = b.Records.DeleteRecord(ctx, Kind, r.Key); err != nil {
			break
		}
		fallthrough
	case errors.Is(err, store.ErrNotFound):
		err = b.Records.CreateRecord(ctx, &store.Record{
			Kind: Kind, Key: b.keys(address)[0], UserID: userID, Value: value, Expires: now.Add(life),
		})
	}
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// keys returns the keys of the record of an address, under all secrets.
func (b *Bounces) keys(address string) []string {
	return purposekey.Digests(b.Secrets, Kind, address)
}

// record returns the record of an address, or store.ErrNotFound.
func (b *Bounces) record(ctx context.Context, address string) (*store.Record, error) {
	for _, key := range b.keys(address) {
		r, err := b.Records.Record(ctx, Kind, key)
		if !errors.Is(err, store.ErrNotFound) {
			return r, err
		}
	}
	return nil, store.ErrNotFound
}

// Since reports whether a report about an address was made at or after a time. An error of the store is no reason to
// give up an email.
func (b *Bounces) Since(ctx context.Context, address string, since time.Time) bool {
	if b.Records == nil {
		return false
	}
	r, err := b.record(ctx, address)
	var last report
	return err == nil && json.Unmarshal(r.Value, &last) == nil && !last.At.Before(since)
}

// In reports whether one of a user's records is a report about an address after a time.
func (b *Bounces) In(records []*store.Record, address string, after time.Time) bool {
	keys := b.keys(address)
	return slices.ContainsFunc(records, func(r *store.Record) bool {
		var last report
		return r.Kind == Kind && slices.Contains(keys, r.Key) && r.Expires.After(b.Now()) &&
			json.Unmarshal(r.Value, &last) == nil && last.At.After(after)
	})
}
