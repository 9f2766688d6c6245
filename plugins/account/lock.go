package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// errBusy is returned if another request holds the account lock for too long.
var errBusy = errors.New("account: another change of this account is under way")

// locks serializes changes to a user's sign-in methods.
type locks struct {
	records store.RecordStore
	now     func() time.Time
	log     *slog.Logger
}

// withLock runs work under the user's lock, across processes. Without it, two concurrent requests that each remove a
// different sign-in method could remove the last one. The lock is a record that expires in case its holder died. The
// timeout of work is well before that.
func (l *locks) withLock(ctx context.Context, userID string, work func(ctx context.Context) error) error {
	if err := l.take(ctx, userID); err != nil {
		return err
	}
	bounded, end := context.WithTimeout(ctx, workTimeout)
	defer end()
	err := work(bounded)
	if _, lost := l.records.DeleteRecord(context.WithoutCancel(ctx), kindLock, userID); lost != nil && err == nil &&
		!errors.Is(lost, core.ErrNotFound) {
		l.log.WarnContext(ctx, "account: an account stays locked until the lock expires", "error", lost)
	}
	return err
}

// take acquires the lock. It waits about two seconds for another holder.
func (l *locks) take(ctx context.Context, userID string) error {
	for wait := 5 * time.Millisecond; ; wait *= 2 {
		taken, err := l.try(ctx, userID)
		switch {
		case err != nil:
			return fmt.Errorf("account: lock: %w", err)
		case taken:
			return nil
		case wait > time.Second:
			return errBusy
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("account: lock: %w", ctx.Err())
		}
	}
}

// try acquires the lock if it is free or expired.
func (l *locks) try(ctx context.Context, userID string) (taken bool, err error) {
	now := l.now()
	fresh := &store.Record{
		Kind: kindLock, Key: userID, UserID: userID, Value: []byte(`{}`), Expires: now.Add(lockTTL),
	}
	err = l.records.CreateRecord(ctx, fresh)
	if err == nil || !errors.Is(err, core.ErrConflict) {
		return err == nil, err
	}
	left, err := l.records.Record(ctx, kindLock, userID)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return false, nil // it was released just now
	case err != nil:
		return false, err
	case left.Expires.After(now):
		return false, nil
	}
	left.Expires = fresh.Expires
	err = l.records.UpdateRecord(ctx, left) // of concurrent requests, one succeeds
	if errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
