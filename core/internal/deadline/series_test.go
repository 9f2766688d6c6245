package deadline_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/deadline"
)

// TestSeries: calls that follow one another closely share a context, and a slow one takes nothing from the next.
func TestSeries(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		took    time.Duration // the first call
		limit   time.Duration // of the second
		left    time.Duration // that the second has
		renewed bool
	}{
		"at once":         {0, 10 * time.Second, 10 * time.Second, false},
		"soon":            {time.Second, 10 * time.Second, 9 * time.Second, false},
		"late":            {time.Second + 1, 10 * time.Second, 10 * time.Second, true},
		"after a failure": {time.Minute, 10 * time.Second, 10 * time.Second, true},
		"another limit":   {0, 3 * time.Second, 3 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				parent := context.WithValue(t.Context(), key{}, "value")
				s := deadline.InSeries(parent)
				defer s.End()
				first := s.Call(10 * time.Second)
				pass(row.took)
				second := s.Call(row.limit)
				if ends, ok := second.Deadline(); !ok || time.Until(ends) != row.left || second.Err() != nil {
					t.Errorf("the second call has %v, %v", time.Until(ends), second.Err())
				}
				if (first != second) != row.renewed || second.Value(key{}) != "value" {
					t.Errorf("renewed: %v", first != second)
				}
				pass(row.left)
				synctest.Wait()
				if !errors.Is(second.Err(), context.DeadlineExceeded) || s.Err() != nil {
					t.Errorf("after its time: %v, the series %v", second.Err(), s.Err())
				}
			})
		})
	}
}

// TestSeriesEnds: nothing of a series is left when it, or the request that it serves, is over.
func TestSeriesEnds(t *testing.T) {
	t.Parallel()
	for name, over := range map[string]func(s *deadline.Series, leave func()){
		"its end":          func(s *deadline.Series, _ func()) { s.End() },
		"its parent's end": func(_ *deadline.Series, leave func()) { leave() },
	} {
		synctest.Test(t, func(t *testing.T) {
			parent, leave := context.WithCancel(t.Context())
			defer leave()
			s := deadline.InSeries(parent)
			s.End() // before its first call
			first := s.Call(time.Second)
			pass(time.Second / 2)
			second := s.Call(time.Second)
			over(s, leave)
			if !errors.Is(first.Err(), context.Canceled) || !errors.Is(second.Err(), context.Canceled) {
				t.Errorf("%s: %v, %v", name, first.Err(), second.Err())
			}
		})
	}
}
