package deadline_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/internal/deadline"
)

type key struct{}

var errLeft = errors.New("the visitor has left")

// TestEnds compares a context with one of context.WithTimeout in the same situations: both must give the same results,
// whether Done was called before or is called afterwards.
func TestEnds(t *testing.T) {
	t.Parallel()
	type leave = context.CancelCauseFunc
	for name, happens := range map[string]func(leave leave, end func()){
		"nothing":                          func(leave, func()) {},
		"almost all of its time":           func(leave, func()) { pass(time.Second - 1) },
		"all of its time":                  func(leave, func()) { pass(time.Second) },
		"its end":                          func(_ leave, end func()) { end() },
		"its end, twice":                   func(_ leave, end func()) { end(); end() },
		"its end after its time":           func(_ leave, end func()) { pass(time.Minute); end() },
		"its time after its end":           func(_ leave, end func()) { end(); pass(time.Minute) },
		"its parent's end":                 func(leave leave, _ func()) { leave(errLeft) },
		"its parent's end after its end":   func(leave leave, end func()) { end(); leave(errLeft) },
		"its parent's end after its time":  func(leave leave, _ func()) { pass(time.Hour); leave(errLeft) },
		"its parent's end before its time": func(leave leave, _ func()) { leave(errLeft); pass(time.Hour) },
	} {
		for asked, before := range map[string]func(context.Context){
			"the channel was asked for": func(ctx context.Context) { ctx.Done() },
			"nobody asked":              func(context.Context) {},
			"a child was there":         func(ctx context.Context) { context.AfterFunc(ctx, func() {}) },
		} {
			if unseen := asked == "nobody asked"; unseen && strings.HasSuffix(name, "end after its time") {
				continue // the order of the two is only known if Done was called
			}
			t.Run(name+", "+asked, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					parent, leave := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
					defer leave(nil)
					want, cancel := context.WithTimeout(parent, time.Second)
					defer cancel()
					got := deadline.After(parent, time.Second)
					defer got.End()
					before(want)
					before(got)
					happens(leave, func() { cancel(); got.End() })
					pair{got, want}.same(t)
				})
			})
		}
	}
}

// pass sleeps with the fake clock of synctest.
func pass(d time.Duration) {
	ctx, end := context.WithTimeout(context.Background(), d)
	defer end()
	<-ctx.Done()
}

// pair is a context of this package and the corresponding one of the standard library.
type pair struct{ got, want context.Context }

// same compares all results of both contexts, and checks that they do not change.
func (p pair) same(t *testing.T) {
	t.Helper()
	got, want := p.got, p.want
	synctest.Wait()
	for range 2 {
		if g, w := got.Err(), want.Err(); !errors.Is(g, w) || (g == nil) != (w == nil) {
			t.Errorf("Err: %v, want %v", g, w)
		}
		if g, w := context.Cause(got), context.Cause(want); !errors.Is(g, w) || (g == nil) != (w == nil) {
			t.Errorf("cause: %v, want %v", g, w)
		}
		if g, w := isDone(got), isDone(want); g != w {
			t.Errorf("done: %v, want %v", g, w)
		}
		g, _ := got.Deadline()
		w, _ := want.Deadline()
		if !g.Equal(w) {
			t.Errorf("deadline: %v, want %v", g, w)
		}
		if got.Value(key{}) != want.Value(key{}) {
			t.Errorf("value: %v, want %v", got.Value(key{}), want.Value(key{}))
		}
	}
}

func isDone(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// TestErrBeforeDone: if Err has reported the timeout, the channel is closed.
func TestErrBeforeDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := deadline.After(t.Context(), time.Second)
		pass(time.Second)
		if err := c.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error %v", err)
		}
		if !isDone(c) {
			t.Error("the channel is open")
		}
		c.End()
		if err := c.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("afterwards the error is %v", err)
		}
	})
}

// TestWakes: a goroutine that waits for the channel is woken by the timeout, the parent's end and End.
func TestWakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ends func(leave, end func())
		want error
		took time.Duration
	}{
		"time":   {func(_, _ func()) {}, context.DeadlineExceeded, time.Second},
		"parent": {func(leave, _ func()) { leave() }, context.Canceled, 0},
		"end":    {func(_, end func()) { end() }, context.Canceled, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				parent, leave := context.WithCancel(t.Context())
				defer leave()
				ctx, began := deadline.After(parent, time.Second), time.Now()
				child, forget := context.WithCancel(ctx)
				defer forget()
				var waiting sync.WaitGroup
				for _, waits := range []context.Context{ctx, child} {
					waiting.Go(func() {
						<-waits.Done()
						if took := time.Since(began); took != c.took || !errors.Is(waits.Err(), c.want) {
							t.Errorf("woken after %v: %v", took, waits.Err())
						}
					})
				}
				synctest.Wait()
				c.ends(leave, ctx.End)
				waiting.Wait()
			})
		})
	}
}

// TestSoonerDeadline: an earlier deadline of the parent is kept.
func TestSoonerDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ctx, began := deadline.After(parent, time.Minute), time.Now()
		defer ctx.End()
		if at, ok := ctx.Deadline(); !ok || !at.Equal(began.Add(time.Second)) {
			t.Errorf("lasts until %v, %v", at, ok)
		}
		<-ctx.Done()
		if took := time.Since(began); took != time.Second || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("ended after %v: %v", took, ctx.Err())
		}
	})
}

// TestChildren: children need no goroutine, and neither do children of a child from this package.
func TestChildren(t *testing.T) { //nolint:paralleltest // it counts goroutines
	parent, leave := context.WithCancel(t.Context())
	defer leave()
	outer := deadline.After(parent, time.Hour)
	defer outer.End()
	inner := deadline.After(outer, time.Minute)
	defer inner.End()
	before := runtime.NumGoroutine()
	child, cancel := context.WithCancel(inner)
	defer cancel()
	stop := context.AfterFunc(inner, func() { t.Error("it was stopped") })
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines more", n-before)
	}
	if !stop() {
		t.Error("it has run")
	}
	leave()
	<-child.Done()
	if !errors.Is(child.Err(), context.Canceled) {
		t.Error(child.Err())
	}
}

// TestAllocations: a context needs one allocation if its channel is not used, with a cancelable parent too.
func TestAllocations(t *testing.T) { //nolint:paralleltest // it counts allocations
	parent, leave := context.WithCancel(t.Context())
	defer leave()
	if n := testing.AllocsPerRun(100, func() {
		ctx := deadline.After(parent, time.Hour)
		if _, ok := ctx.Deadline(); !ok || ctx.Err() != nil || ctx.Value(key{}) != nil {
			t.Error("it has ended")
		}
		ctx.End()
	}); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

// TestAtOnce is for the race detector: it makes all calls concurrently.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	for range 100 {
		parent, leave := context.WithCancel(t.Context())
		ctx := deadline.After(parent, time.Hour)
		var all sync.WaitGroup
		for _, do := range []func(){
			leave, ctx.End, func() { <-ctx.Done() }, func() { _ = context.Cause(ctx) }, func() { ctx.Value(key{}) },
			func() { _, _ = ctx.Deadline() }, func() { context.AfterFunc(ctx, func() {}) },
		} {
			all.Go(do)
		}
		all.Wait()
		if !errors.Is(ctx.Err(), context.Canceled) || !isDone(ctx) {
			t.Fatal(ctx.Err())
		}
	}
}

func BenchmarkAfter(b *testing.B) {
	parent, leave := context.WithCancel(b.Context())
	defer leave()
	b.Run("never waited for", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ctx := deadline.After(parent, time.Hour)
			_ = ctx.Err()
			ctx.End()
		}
	})
	b.Run("asked for its channel", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ctx := deadline.After(parent, time.Hour)
			ctx.Done()
			ctx.End()
		}
	})
	b.Run("of the standard library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ctx, end := context.WithTimeout(parent, time.Hour)
			ctx.Done()
			end()
		}
	})
}

// TestSeries: calls in quick succession share a context, and a slow call does not shorten the next timeout.
func TestSeries(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		took    time.Duration // the first call
		limit   time.Duration // of the second call
		left    time.Duration // of the second call's timeout
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

// TestSeriesEnds: no timer or goroutine remains after the end of a series or its request.
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
