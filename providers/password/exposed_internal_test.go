package password

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/latchkey-go/latchkey/core"
)

// TestBreachedAnswerCounts: an answer that arrives in time is not lost. It would be if the end of the call canceled the
// context that the sign-in waits for, because select chooses at random.
func TestBreachedAnswerCounts(t *testing.T) {
	t.Parallel()
	rules := &policy{breached: func(context.Context, core.Secret) (bool, error) { return true, nil }}
	var lost atomic.Int64
	synctest.Test(t, func(t *testing.T) {
		const workers, calls = 16, 8_000
		b := &breaches{policy: rules, slots: make(chan struct{}, workers*calls)}
		for range workers {
			go func() {
				for range calls {
					if breached, err := b.ask(t.Context(), "correct horse battery"); err != nil || !breached {
						lost.Add(1)
					}
				}
			}()
		}
		synctest.Wait()
	})
	if n := lost.Load(); n > 0 {
		t.Errorf("%d of 128,000 answers were lost", n)
	}
}
