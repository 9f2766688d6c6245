package sqltest

import (
	"context"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/core/store"
)

// AtOnce runs n concurrent transactions, each on its own connection, and returns when all have ended.
func AtOnce(t *testing.T, s Store, n int) {
	t.Helper()
	var open, ended sync.WaitGroup
	open.Add(n)
	for range n {
		ended.Go(func() {
			there := sync.OnceFunc(open.Done)
			defer there() // if its transaction could not begin, the others do not wait for it
			err := s.InTransaction(t.Context(), func(context.Context, store.Store) error {
				there()
				open.Wait()
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	ended.Wait()
}
