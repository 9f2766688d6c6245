package memory

import (
	"context"
	"maps"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// cleaner implements DeleteExpired.
type cleaner struct{ *sharedData }

// DeleteExpired implements [store.Cleaner]. It deletes everything in one step, or nothing if ctx has ended.
func (s *cleaner) DeleteExpired(ctx context.Context, now time.Time) (n int, err error) {
	err = s.locked(ctx, func(d *data) error {
		n = len(d.sessions) + len(d.tokens)
		maps.DeleteFunc(d.sessions, func(_ string, v store.Session) bool { return v.Expires.Before(now) })
		maps.DeleteFunc(d.tokens, func(_ tokenKey, v store.VerificationToken) bool { return v.Expires.Before(now) })
		n -= len(d.sessions) + len(d.tokens)
		n += d.deleteRecords(func(r store.Record) bool { return ended(r, now) })
		return nil
	})
	return n, store.WithLeft(ctx, err, func(ctx context.Context) (rows int, more bool, err error) {
		err = s.locked(ctx, func(d *data) error { rows = d.expired(now); return nil })
		return min(rows, store.MostLeft), rows > store.MostLeft, err
	})
}

func ended(r store.Record, now time.Time) bool { return !r.Expires.IsZero() && r.Expires.Before(now) }

// expired returns the number of rows that DeleteExpired would delete.
func (d *data) expired(now time.Time) (n int) {
	for _, v := range d.sessions {
		if v.Expires.Before(now) {
			n++
		}
	}
	for _, v := range d.tokens {
		if v.Expires.Before(now) {
			n++
		}
	}
	for _, r := range d.records {
		if ended(r, now) {
			n++
		}
	}
	return n
}
