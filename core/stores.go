package core

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/observed"
	"github.com/latchkey-go/latchkey/core/internal/storecalls"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/core/store"
)

// stores contains the interfaces of the configured store, or of a transaction, that core calls. All calls pass through
// [storeCall].
type stores struct {
	storecalls.Stores
	given Store // without decorator
	watch observed.Calls
}

// newStores decorates the interfaces that s implements. s may be nil. limit is Config.StoreTimeout; 0 means none.
func newStores(s Store, w observed.Calls, limit time.Duration) stores {
	if s == nil {
		return stores{watch: w}
	}
	return stores{storecalls.New(s, storeCall(w, limit)), s, w}
}

// storeCall returns the function that makes the calls of the store: with a time limit, the report to Config.Observe and
// recovery from panics. The recovery is inside and the observation outside, so that a call that panics is reported as
// failed. A transaction is one call. The calls within it have the context of the transaction with its time limit. Core
// observes them and recovers from their panics; plugins get the store of a transaction without either.
func storeCall(w observed.Calls, limit time.Duration) storecalls.Call {
	return func(ctx context.Context, name string, call func(context.Context) error) error {
		told := observe.Call{Target: observe.Store, Name: name}
		return w.Do(ctx, told, func(ctx context.Context) error {
			return guard("Store", func() error { return timed(ctx, limit, call) })
		})
	}
}

func userByAccount(ctx context.Context, s Store, account *Account) (*User, error) {
	return s.UserByAccount(ctx, account.Provider, account.ProviderAccountID)
}

// timed makes a call with a context that expires after limit, or at the caller's own deadline if that is earlier. It
// adds ErrStoreUnavailable to the error of a call that has exceeded its deadline, even if the store has not wrapped
// context.DeadlineExceeded. ErrNotFound and ErrConflict are results and stay unchanged.
func timed(ctx context.Context, limit time.Duration, call func(context.Context) error) error {
	if limit <= 0 {
		return call(ctx)
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := call(bounded)
	var decision *Error // of a function in a transaction
	switch {
	case err == nil || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict):
	case errors.Is(err, context.DeadlineExceeded),
		errors.Is(bounded.Err(), context.DeadlineExceeded) && !errors.As(err, &decision):
		err = store.Unavailable(err)
	}
	return err
}
