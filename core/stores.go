package core

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/observed"
	"github.com/latchkey-go/latchkey/core/internal/storecalls"
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

// storeCall returns the function that makes the calls of the store. Core observes the calls in a transaction and
// recovers from their panics; plugins get the store of a transaction without either.
func storeCall(w observed.Calls, limit time.Duration) storecalls.Call {
	return storecalls.Limited(w, limit, func(err error) bool { return errors.As(err, new(*Error)) })
}

func userByAccount(ctx context.Context, s Store, account *Account) (*User, error) {
	return s.UserByAccount(ctx, account.Provider, account.ProviderAccountID)
}
