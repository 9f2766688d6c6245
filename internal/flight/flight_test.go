package flight_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/internal/flight"
)

// answer is the flight type of the tests.
type answer = flight.Flight[string, int]

// pass sleeps with the fake clock of synctest.
func pass(d time.Duration) { <-time.NewTimer(d).C }

// hanging returns a function that waits for the end of its context and sends the cause to why.
func hanging(why chan<- error) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		<-ctx.Done()
		why <- context.Cause(ctx)
		return 0, ctx.Err()
	}
}

// exit ends its goroutine.
func exit(context.Context) (int, error) {
	runtime.Goexit()
	return 7, nil
}

// after returns a function that returns a value after a delay.
func after(d time.Duration, value int, err error) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		pass(d)
		return value, err
	}
}

func TestOneAsksAllWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[string, int]
		asked := 0
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				f := g.Join(t.Context(), "a", func(context.Context) (int, error) {
					pass(time.Second)
					asked++
					return 7, nil
				})
				if v, err := f.Wait(t.Context()); v != 7 || err != nil {
					t.Errorf("a caller got %d, %v", v, err)
				}
			})
		}
		all.Wait()
		if asked != 1 {
			t.Errorf("%d flights for 1000 callers", asked)
		}
	})
}

func TestKeysFlyApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[string, int]
		a, b := g.Join(t.Context(), "a", after(2*time.Second, 1, nil)), g.Join(t.Context(), "b", after(time.Second, 2, nil))
		start := time.Now()
		if v, _ := b.Wait(t.Context()); v != 2 || time.Since(start) != time.Second {
			t.Errorf("b is %d after %v", v, time.Since(start))
		}
		if v, _ := a.Wait(t.Context()); v != 1 {
			t.Errorf("a is %d", v)
		}
	})
}

// TestNextCallerAsksAnew checks that the result of a completed flight is not reused.
func TestNextCallerAsksAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[string, int]
		failure := errors.New("failed")
		for i, want := range []error{nil, failure, nil} {
			v, err := g.Join(t.Context(), "a", after(time.Second, i, want)).Wait(t.Context())
			if v != i || !errors.Is(err, want) {
				t.Errorf("flight %d brought %d, %v", i, v, err)
			}
		}
	})
}

func TestCallersLeave(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name  string
		board func(g *flight.Group[string, int], f *answer) // in addition to two callers who leave after a second
		want  error                                         // why the flight ends
		after time.Duration
	}{
		{"the last one ends it", func(*flight.Group[string, int], *answer) {}, flight.ErrAbandoned, time.Second},
		{
			"a kept flight goes on",
			func(_ *flight.Group[string, int], f *answer) { f.Keep() },
			context.DeadlineExceeded, time.Minute,
		},
		{
			"a caller who does not wait does not leave",
			func(g *flight.Group[string, int], _ *answer) { g.Find("a") },
			context.DeadlineExceeded, time.Minute,
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := flight.Group[string, int]{Timeout: time.Minute}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				why := make(chan error, 1)
				start := time.Now()
				first, second := g.Join(ctx, "a", hanging(why)), g.Find("a")
				row.board(&g, first)
				var all sync.WaitGroup
				for _, f := range []*answer{first, second} {
					all.Go(func() {
						if _, err := f.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("a caller who left got %v", err)
						}
					})
				}
				all.Wait()
				if took := time.Since(start); took != time.Second {
					t.Errorf("the callers left after %v", took)
				}
				if got := <-why; !errors.Is(got, row.want) || time.Since(start) != row.after {
					t.Errorf("the flight ended after %v: %v", time.Since(start), got)
				}
			})
		})
	}
}

func TestOneLeavesAndOneStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[string, int]
		ctx, leave := context.WithCancel(t.Context())
		stays := g.Join(ctx, "a", after(time.Minute, 7, nil))
		leaves := g.Find("a")
		leave()
		if _, err := leaves.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("who left got %v", err)
		}
		if v, err := stays.Wait(t.Context()); v != 7 || err != nil {
			t.Errorf("who stayed got %d, %v", v, err)
		}
	})
}

// TestAbandonedFlightIsForgotten has a caller arrive after all others have left a flight that has not ended yet.
func TestAbandonedFlightIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var landed []int
		g := flight.Group[string, int]{Landed: func(_ string, v int, _ error) { landed = append(landed, v) }}
		ctx, leave := context.WithCancel(t.Context())
		leave()
		_, _ = g.Join(ctx, "a", after(time.Minute, 1, nil)).Wait(ctx) // ignores its context
		if g.Find("a") != nil {
			t.Error("an abandoned flight is found")
		}
		if v, err := g.Join(t.Context(), "a", after(time.Second, 2, nil)).Wait(t.Context()); v != 2 || err != nil {
			t.Errorf("the next caller got %d, %v", v, err)
		}
		pass(time.Hour)
		if len(landed) != 1 || landed[0] != 2 {
			t.Errorf("Landed was called for %v", landed)
		}
	})
}

// TestStarterLeavesItsValues: a flight has the values of the context that started it, but does not end with it.
func TestStarterLeavesItsValues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type name struct{}
		var g flight.Group[string, int]
		ctx, leave := context.WithCancel(context.WithValue(t.Context(), name{}, 7))
		f := g.Join(ctx, "a", func(ctx context.Context) (int, error) {
			pass(time.Second)
			return ctx.Value(name{}).(int), ctx.Err()
		})
		leave()
		if v, err := f.Wait(t.Context()); v != 7 || err != nil {
			t.Errorf("the flight brought %d, %v", v, err)
		}
	})
}

func TestLanded(t *testing.T) {
	t.Parallel()
	failure := errors.New("failed")
	rows := []struct {
		name  string
		fly   func(context.Context) (int, error)
		value int
		err   string
	}{
		{"a value", after(0, 7, nil), 7, ""},
		{"an error", after(0, 0, failure), 0, "failed"},
		{"a panic", func(context.Context) (int, error) { panic("at the disco") }, 0, `the request panicked: "at the disco"`},
		{"the end of the goroutine", exit, 0, "ended without a result"},
		{"a long panic", func(context.Context) (int, error) { panic(strings.Repeat("x", 1<<20)) }, 0, `xxx"`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			told := 0
			g := &flight.Group[string, int]{}
			g.Landed = func(key string, v int, err error) {
				told++
				if key != "a" || v != row.value || (err == nil) != (row.err == "") {
					t.Errorf("Landed was called for %q: %d, %v", key, v, err)
				}
				if g.Find("a") == nil {
					t.Error("Landed was called when another flight could have started")
				}
			}
			v, err := g.Join(t.Context(), "a", row.fly).Wait(t.Context())
			if v != row.value || (err == nil) != (row.err == "") {
				t.Errorf("a caller got %d, %v", v, err)
			}
			if err != nil && (!strings.Contains(err.Error(), row.err) || len(err.Error()) > 300) {
				t.Errorf("the error is %q", err)
			}
			if told != 1 {
				t.Errorf("Landed was called %d times before the caller returned", told)
			}
			if g.Find("a") != nil {
				t.Error("the flight is still there")
			}
		})
	}
}

// TestLandedPanics: a panic in Landed ends neither the process nor blocks callers.
func TestLandedPanics(t *testing.T) {
	t.Parallel()
	g := flight.Group[string, int]{Landed: func(string, int, error) { panic("on the ground") }}
	for i := range 2 {
		if v, err := g.Join(t.Context(), "a", after(0, i, nil)).Wait(t.Context()); v != i || err != nil {
			t.Errorf("a caller got %d, %v", v, err)
		}
	}
}

func TestBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := flight.Group[string, int]{Max: 2}
		g.Join(t.Context(), "a", after(time.Hour, 1, nil))
		ctx, leave := context.WithCancel(t.Context())
		leave()
		_, _ = g.Join(ctx, "b", after(time.Minute, 2, nil)).Wait(ctx) // abandoned, and in progress for a minute
		if _, err := g.Join(t.Context(), "c", after(0, 3, nil)).Wait(t.Context()); !errors.Is(err, flight.ErrFull) {
			t.Errorf("the third flight: %v", err)
		}
		if f := g.Find("c"); f != nil {
			t.Error("a flight that did not start is found")
		}
		if f := g.Join(t.Context(), "a", nil); f != g.Find("a") {
			t.Error("a full group refuses those who would join")
		}
		pass(2 * time.Minute)
		if v, err := g.Join(t.Context(), "c", after(0, 3, nil)).Wait(t.Context()); v != 3 || err != nil {
			t.Errorf("when there is room again: %d, %v", v, err)
		}
		pass(time.Hour)
	})
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := flight.Group[string, int]{Timeout: 15 * time.Second}
		why := make(chan error, 1)
		start := time.Now()
		_, err := g.Join(t.Context(), "a", hanging(why)).Wait(t.Context())
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != 15*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}
