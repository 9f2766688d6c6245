package upstream_test

import (
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/upstream"
)

// TestClockCheck checks that the first large difference of the clocks is reported, and no other.
func TestClockCheck(t *testing.T) {
	t.Parallel()
	clock := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		behind time.Duration
		want   int
	}{
		{0, 0}, {time.Minute, 0}, {-time.Minute, 0}, {61 * time.Second, 1}, {-61 * time.Second, 1},
	} {
		times := 0
		check := upstream.ClockCheck(func() time.Time { return clock }, func(host string, behind time.Duration) {
			if times++; host != "op.example" || behind != row.behind {
				t.Errorf("reported %s, %v", host, behind)
			}
		})
		for range 2 {
			check("op.example", clock.Add(row.behind))
		}
		if times != row.want {
			t.Errorf("behind %v: %d reports", row.behind, times)
		}
	}
}
