package emaillinks

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/purposekey"
)

// Sent remembers for a few minutes which addresses a sign-in link was sent to. Another request for a link within
// that time gets the same response and sends no email, because the first link still works. An attacker can therefore
// not flood a mailbox. Nor can they use up the rate limit of an address so that its owner gets no link.
//
// With codes, every browser needs its own email. So another request sends an email until the limit of the address
// is used up. Then the link of the last email also works in the browser of the request, and no email is sent.
//
// It is nil without codes if known browsers are off or the store has no records. Every request then sends an email, as
// in Auth.js.
type Sent struct {
	Records  store.RecordStore
	Secret   string
	Provider string
	Life     time.Duration // of an entry
	Now      func() time.Time
}

const (
	sentKind = "link-sent"
	// SentLife is the life of an entry, and at most half of the life of a link. With codes it is half of the life of
	// a link, because the limit of an address may last long.
	SentLife = 5 * time.Minute
)

// key returns the record key of a sent link. It includes the origin, because the link points to the origin of its
// request: a link that an attacker requests through another host must not suppress the one that the owner requests.
func (l *Sent) key(origin, address string) string {
	return purposekey.Digest(l.Secret, sentKind, l.Provider+"\x00"+origin+"\x00"+address)
}

// Recent returns the stored token of the last link to this origin that was sent to an address and has not been used. If
// there is none or the store fails it returns "".
func (l *Sent) Recent(ctx context.Context, origin, address string) (stored string) {
	if l == nil {
		return ""
	}
	r, err := l.read(ctx, origin, address)
	if err != nil || !r.Expires.After(l.Now()) || json.Unmarshal(r.Value, &stored) != nil {
		return ""
	}
	return stored
}

func (l *Sent) read(ctx context.Context, origin, address string) (*store.Record, error) {
	return l.Records.Record(ctx, sentKind, l.key(origin, address))
}

// Note remembers a link that was sent, by its stored token. If that fails the next request sends another one.
func (l *Sent) Note(ctx context.Context, origin, address, stored string) error {
	if l == nil {
		return nil
	}
	value, err := json.Marshal(stored)
	if err != nil { // a string
		return err
	}
	r := &store.Record{
		Kind: sentKind, Key: l.key(origin, address), Value: value, Expires: l.Now().Add(l.Life),
	}
	err = l.Records.CreateRecord(ctx, r)
	if errors.Is(err, store.ErrConflict) { // an entry that has expired
		var old *store.Record
		if old, err = l.read(ctx, origin, address); err == nil {
			r.Version = old.Version
			err = l.Records.UpdateRecord(ctx, r)
		}
	}
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) { // another request was faster
		return nil
	}
	return err
}

// Forget removes the entry of a link that has been used.
func (l *Sent) Forget(ctx context.Context, origin, address string) {
	if l == nil {
		return
	}
	_, _ = l.Records.DeleteRecord(ctx, sentKind, l.key(origin, address))
}
