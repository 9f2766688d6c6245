package core

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// sentLinks remembers for a few minutes the addresses that a sign-in link was sent to. A request for another link
// within that time gets the same response and sends no email: the link that was sent works, so an attacker can neither
// flood a mailbox nor, by using up the limit of an address, keep its owner from a link. It is nil, and every request
// sends an email as in Auth.js, if known browsers are off or the store keeps no records.
type sentLinks struct {
	records  store.RecordStore
	secret   string
	provider string
	life     time.Duration // of an entry
	now      func() time.Time
}

const (
	sentLinkKind = "link-sent"
	// sentLinkLife is the life of an entry, and at most half of the life of a link.
	sentLinkLife = 5 * time.Minute
)

func newSentLinks(m *flowMaker, p *EmailProvider) *sentLinks {
	if m.limits.known == nil || m.store.records == nil {
		return nil
	}
	return &sentLinks{
		records: m.store.records, secret: m.site.secrets[0], provider: p.ID, now: m.config.Now,
		life: min(sentLinkLife, p.MaxAge/2),
	}
}

// key returns the record key of a sent link. It includes the origin, because the link points to the origin of its
// request: a link that an attacker requests through another host must not suppress the one that the owner requests.
func (l *sentLinks) key(origin, address string) string {
	return digest(l.secret, sentLinkKind, l.provider+"\x00"+origin+"\x00"+address)
}

// recent reports whether a link to this origin was sent to an address and has not been used. If the store fails it
// returns false.
func (l *sentLinks) recent(ctx context.Context, origin, address string) bool {
	if l == nil {
		return false
	}
	r, err := l.read(ctx, origin, address)
	return err == nil && r.Expires.After(l.now())
}

func (l *sentLinks) read(ctx context.Context, origin, address string) (*store.Record, error) {
	return guarded("Store.Record", func() (*store.Record, error) {
		return present(l.records.Record(ctx, sentLinkKind, l.key(origin, address)))
	})
}

// note remembers a link that was sent. If that fails the next request sends another one.
func (l *sentLinks) note(ctx context.Context, c *call, address string) {
	if l == nil {
		return
	}
	r := &store.Record{
		Kind: sentLinkKind, Key: l.key(c.origin, address), Value: []byte("1"), Expires: l.now().Add(l.life),
	}
	err := guard("Store.CreateRecord", func() error { return l.records.CreateRecord(ctx, r) })
	if errors.Is(err, ErrConflict) { // an entry that has expired
		var old *store.Record
		if old, err = l.read(ctx, c.origin, address); err == nil {
			r.Version = old.Version
			err = guard("Store.UpdateRecord", func() error { return l.records.UpdateRecord(ctx, r) })
		}
	}
	if err != nil && !errors.Is(err, ErrConflict) && !errors.Is(err, ErrNotFound) {
		c.log.failure(ctx, errorf(ErrStore, "remember a link that was sent: %w", err), c.attrs()...)
	}
}

// forget removes the entry of a link that has been used.
func (l *sentLinks) forget(ctx context.Context, origin, address string) {
	if l == nil {
		return
	}
	_, _ = guarded("Store.DeleteRecord", func() (*store.Record, error) {
		return l.records.DeleteRecord(ctx, sentLinkKind, l.key(origin, address))
	})
}
