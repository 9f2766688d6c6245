package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// TestWorking: working prints the elapsed time, and returns the error of the work.
func TestWorking(t *testing.T) {
	tick, release := make(chan time.Time), make(chan struct{})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var out strings.Builder
	c := &command{
		out:   &out,
		clock: func() time.Time { now = now.Add(5 * time.Second); return now },
		ticks: func() (<-chan time.Time, func()) { return tick, func() {} },
	}
	broken := errors.New("broken")
	ended := make(chan error)
	go func() {
		ended <- c.working(t.Context(), "making", func(context.Context) error { <-release; return broken })
	}()
	tick <- time.Time{}
	tick <- time.Time{}
	close(release)
	if err := <-ended; !errors.Is(err, broken) {
		t.Errorf("it ended with %v", err)
	}
	if got, want := out.String(), "making: 5s so far\nmaking: 10s so far\n"; got != want {
		t.Errorf("it says %q", got)
	}
}

// slow is a store with 25 expired rows that deletes ten in each call.
type slow struct {
	everything
	left int
	fail error
}

func (s *slow) DeleteExpired(context.Context, time.Time) (int, error) {
	n := min(10, s.left)
	s.left -= n
	switch {
	case s.left > 0:
		return n, &store.LeftError{Rows: s.left, More: s.left > 10, Err: context.DeadlineExceeded}
	case s.fail != nil:
		return n, s.fail
	}
	return n, nil
}

func TestCleanUp(t *testing.T) {
	for _, row := range []struct {
		name string
		fail error
		want string
	}{
		{"in parts", nil, "10 rows deleted, at least 15 left\n20 rows deleted, 5 left\n" +
			"25 rows deleted, no expired rows left\n"},
		{"an engine that fails", errors.New("down"), "10 rows deleted, at least 15 left\n" +
			"20 rows deleted, 5 left\n25 rows deleted\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out, log strings.Builder
			c := &command{
				out: &out, log: &log, clock: time.Now, slice: time.Minute, getenv: func(string) string { return "grace" },
			}
			err := c.cleanUp(t.Context(), &opened{everything: &slow{left: 25, fail: row.fail}})
			if !errors.Is(err, row.fail) || out.String() != row.want {
				t.Errorf("%v, %q", err, out.String())
			}
			if strings.Contains(log.String(), "latchkey clean-up") != (row.fail == nil) {
				t.Errorf("the audit has %s", log.String())
			}
		})
	}
}
