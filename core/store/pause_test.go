package store_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// TestPause waits for less than it is told, not always as long, and no longer than the context lasts.
func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := map[time.Duration]bool{}
		for range 20 {
			start := time.Now()
			if err := store.Pause(t.Context(), time.Minute); err != nil {
				t.Fatal(err)
			}
			took := time.Since(start)
			seen[took] = true
			if took >= time.Minute {
				t.Errorf("it took %v", took)
			}
		}
		if len(seen) < 2 {
			t.Errorf("twenty pauses took the same: %v", seen)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		defer cancel()
		if err := store.Pause(ctx, 1000*time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("beyond the end of its context: %v", err)
		}
	})
}
