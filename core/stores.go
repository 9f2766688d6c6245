package core

import (
	"context"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/observed"
	"github.com/latchkey-go/latchkey/core/internal/storecalls"
)

// stores contains the interfaces of the configured store, or of a transaction, that core calls. All calls pass through
// [storecalls.Limited]. Plugins get the store of a transaction without it.
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
	return stores{storecalls.New(s, storecalls.Limited(w, limit)), s, w}
}

func userByAccount(ctx context.Context, s Store, account *Account) (*User, error) {
	return s.UserByAccount(ctx, account.Provider, account.ProviderAccountID)
}
