package sessiondata

import (
	"context"
	"errors"
	"slices"
	"sync"
	"weak"
)

// Keepers are the keepers of one source. It does not keep them alive. The zero value is empty. It is safe for
// concurrent use.
type Keepers struct {
	mu  sync.Mutex
	all []weak.Pointer[Keeper]
}

// Add adds a keeper.
func (k *Keepers) Add(keeper *Keeper) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = slices.DeleteFunc(k.all, func(w weak.Pointer[Keeper]) bool { return w.Value() == nil })
	k.all = append(k.all, weak.Make(keeper))
}

// Refresh calls Keeper.Refresh of all keepers that still exist.
func (k *Keepers) Refresh(ctx context.Context, userID string) error {
	k.mu.Lock()
	all := slices.Clone(k.all)
	k.mu.Unlock()
	var errs []error
	for _, weakly := range all {
		if keeper := weakly.Value(); keeper != nil {
			errs = append(errs, keeper.Refresh(ctx, userID))
		}
	}
	return errors.Join(errs...)
}
