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

// errBusy is the answer where another request holds the lock of an account for longer than is waited.
var errBusy = errors.New("account: another change of this account is under way")

// locks keep requests apart that change how somebody signs in.
type locks struct {
	records store.RecordStore
	now     func() time.Time
	log     *slog.Logger
}

// holding does work while no other request changes how a user signs in, in this process or another: of two requests
// that each leave the other's way behind, the second one sees what the first one did. The lock is a record, whose
// expiry serves where its holder died. Work ends well before that.
func (l *locks) holding(ctx context.Context, userID string, work func(ctx context.Context) error) error {
	if err := l.take(ctx, userID); err != nil {
		return err
	}
	bounded, end := context.WithTimeout(ctx, workFor)
	defer end()
	err := work(bounded)
	if _, lost := l.records.DeleteRecord(context.WithoutCancel(ctx), kindLock, userID); lost != nil && err == nil &&
		!errors.Is(lost, core.ErrNotFound) {
		l.log.WarnContext(ctx, "account: the lock of an account stays until it expires", "error", lost)
	}
	return err
}

// take takes the lock, waiting for another holder for two seconds.
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

// try takes the lock where nobody holds it, and over where its holder is gone.
func (l *locks) try(ctx context.Context, userID string) (taken bool, err error) {
	now := l.now()
	fresh := &store.Record{
		Kind: kindLock, Key: userID, UserID: userID, Value: []byte(`{}`), Expires: now.Add(lockFor),
	}
	err = l.records.CreateRecord(ctx, fresh)
	if err == nil || !errors.Is(err, core.ErrConflict) {
		return err == nil, err
	}
	left, err := l.records.Record(ctx, kindLock, userID)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return false, nil // it was let go just now
	case err != nil:
		return false, err
	case left.Expires.After(now):
		return false, nil
	}
	left.Expires = fresh.Expires
	err = l.records.UpdateRecord(ctx, left) // of several who take it over, one wins
	if errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
