package batch_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/internal/batch"
)

// call requests the length of a word.
type call struct {
	word   string
	length int
}

var errEngine = errors.New("the engine failed")

// engine simulates a database: it responds after a round trip and records the calls of each trip.
type engine struct {
	calls *batch.Calls[*call]
	trip  time.Duration
	fails func(words []string) error

	mu    sync.Mutex
	trips [][]string
	ended []error // errors of the contexts after the trips
	under []any   // values of the contexts
	now   int
	most  int
}

type visitor struct{}

func newEngine(limit int) *engine {
	e := &engine{trip: time.Second, fails: func([]string) error { return nil }}
	e.calls = batch.New(limit,
		func(ctx context.Context, c *call) error { return e.answer(ctx, []*call{c}) },
		func(ctx context.Context, all []*call) error {
			if len(all) < 2 {
				return errors.New("a batch of one call")
			}
			return e.answer(ctx, all)
		})
	return e
}

func (e *engine) answer(ctx context.Context, all []*call) error {
	var words []string
	for _, c := range all {
		words = append(words, c.word)
	}
	e.mu.Lock()
	e.trips = append(e.trips, words)
	e.under = append(e.under, ctx.Value(visitor{}))
	e.now++
	e.most = max(e.most, e.now)
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.now--
		e.ended = append(e.ended, ctx.Err())
	}()
	select {
	case <-time.After(e.trip): //nolint:forbidigo // synctest
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := e.fails(words); err != nil {
		return err
	}
	for _, c := range all {
		c.length = len(c.word)
	}
	return nil
}

// begin requests the lengths of words, one user after the other, and returns a function that waits for the results.
func (e *engine) begin(t *testing.T, words ...string) func() {
	t.Helper()
	var all sync.WaitGroup
	for _, word := range words {
		all.Go(func() {
			c := &call{word: word}
			if err := e.calls.Do(context.WithValue(t.Context(), visitor{}, word), c); err != nil || c.length != len(word) {
				t.Errorf("%s: %d, %v", word, c.length, err)
			}
		})
		synctest.Wait()
	}
	return all.Wait
}

func (e *engine) want(t *testing.T, trips ...[]string) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.EqualFunc(e.trips, trips, slices.Equal) {
		t.Errorf("round trips %q, want %q", e.trips, trips)
	}
}

// TestTogether: calls run as single calls below the limit. The others form a batch when a call ends.
func TestTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit int
		words []string
		trips [][]string
		took  time.Duration
	}{
		"one":                 {2, []string{"a"}, [][]string{{"a"}}, time.Second},
		"below the limit":     {2, []string{"a", "bb"}, [][]string{{"a"}, {"bb"}}, time.Second},
		"one more":            {2, []string{"a", "bb", "ccc"}, [][]string{{"a"}, {"bb"}, {"ccc"}}, 2 * time.Second},
		"more":                {1, []string{"a", "bb", "ccc"}, [][]string{{"a"}, {"bb", "ccc"}}, 2 * time.Second},
		"the same word twice": {1, []string{"a", "bb", "bb"}, [][]string{{"a"}, {"bb", "bb"}}, 2 * time.Second},
		"the minimum is one":  {0, []string{"a", "bb"}, [][]string{{"a"}, {"bb"}}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e, began := newEngine(c.limit), time.Now()
				e.begin(t, c.words...)()
				e.want(t, c.trips...)
				if took := time.Since(began); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				synctest.Wait() // no call is running
				e.trips = nil
				e.begin(t, "again")()
				e.want(t, []string{"again"})
			})
		})
	}
}

// TestLater: a call that arrives after the start of a batch does not join it, because it would not see changes made
// before its Do.
func TestLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(1)
		first := e.begin(t, "a", "b", "c")
		time.Sleep(1500 * time.Millisecond) //nolint:forbidigo // synctest: b and c are asked for
		e.begin(t, "d", "e")()
		first()
		e.want(t, []string{"a"}, []string{"b", "c"}, []string{"d", "e"})
		if got := fmt.Sprint(e.under); got != "[a b d]" {
			t.Errorf("the contexts are those of %s", got)
		}
	})
}

// TestMost: a batch has a maximum size, and further calls form the next batch.
func TestMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(1)
		words := make([]string, 1+2*batch.Most+1)
		e.begin(t, words...)()
		var sizes []int
		for _, trip := range e.trips {
			sizes = append(sizes, len(trip))
		}
		if !slices.Equal(sizes, []int{1, batch.Most, batch.Most, 1}) {
			t.Errorf("round trips of %v", sizes)
		}
	})
}

// TestLeaving: a call that leaves does not affect the others of its batch, and the last one cancels the batch.
func TestLeaving(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after time.Duration // when they leave
		leave []int         // which calls of b, c and d leave
		trips [][]string
		ended error // error of the last batch's context
	}{
		"one, before it is asked for": {time.Second / 2, []int{0}, [][]string{{"a"}, {"b", "c", "d"}}, nil},
		"one, while it is asked for":  {3 * time.Second / 2, []int{1}, [][]string{{"a"}, {"b", "c", "d"}}, nil},
		"all, before":                 {time.Second / 2, []int{2, 1, 0}, [][]string{{"a"}}, nil},
		"all, while": {
			3 * time.Second / 2, []int{0, 1, 2}, [][]string{{"a"}, {"b", "c", "d"}}, context.Canceled,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := newEngine(1)
				first := e.begin(t, "a")
				var leave [3]context.CancelFunc
				var errs [3]error
				var all sync.WaitGroup
				for i, word := range []string{"b", "c", "d"} {
					var ctx context.Context
					ctx, leave[i] = context.WithCancel(t.Context())
					defer leave[i]()
					all.Go(func() { errs[i] = e.calls.Do(ctx, &call{word: word}) })
					synctest.Wait()
				}
				time.Sleep(c.after) //nolint:forbidigo // synctest
				for _, i := range c.leave {
					leave[i]()
					synctest.Wait()
				}
				all.Wait()
				first()
				synctest.Wait()
				for i, err := range errs {
					left := slices.Contains(c.leave, i)
					if left != errors.Is(err, context.Canceled) || !left && err != nil {
						t.Errorf("%d: %v", i, err)
					}
				}
				e.want(t, c.trips...)
				if got := e.ended[len(e.ended)-1]; !errors.Is(got, c.ended) || c.ended == nil && got != nil {
					t.Errorf("the last ended with %v", got)
				}
				e.begin(t, "afterwards", "too")()
			})
		})
	}
}

// TestContexts: the context of a batch ends when the batch is complete.
func TestContexts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var of context.Context
		calls := batch.New(1,
			func(context.Context, *call) error { time.Sleep(time.Second); return nil }, //nolint:forbidigo // synctest
			func(ctx context.Context, _ []*call) error { of = ctx; return ctx.Err() })
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				if err := calls.Do(ctx, &call{}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if !errors.Is(of.Err(), context.Canceled) {
			t.Errorf("the context has %v", of.Err())
		}
	})
}

// TestFailures: an error of a batch is returned to all its calls, and to no others.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails    func(words []string) error
		panicked any
		is       error
	}{
		"error": {func([]string) error { return errEngine }, nil, errEngine},
		"panic": {func([]string) error { panic(errEngine) }, errEngine, nil},
		"end of the goroutine": {
			func([]string) error { runtime.Goexit(); return nil }, nil, errors.New("the batch did not return"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := newEngine(1)
				e.fails = func(words []string) error {
					if slices.Contains(words, "bad") {
						return c.fails(words)
					}
					return nil
				}
				first := e.begin(t, "a")
				var all sync.WaitGroup
				for range 2 {
					all.Go(func() {
						var err error
						panicked := func() (v any) {
							defer func() { v = recover() }()
							err = e.calls.Do(t.Context(), &call{word: "bad"})
							return nil
						}()
						same := errors.Is(err, c.is) || err != nil && c.is != nil && err.Error() == c.is.Error()
						if panicked != c.panicked || !same {
							t.Errorf("%v, panic %v", err, panicked)
						}
					})
				}
				all.Wait()
				first()
				e.begin(t, "c", "d", "e")()
			})
		})
	}
}

// TestConcurrentCalls is for the race detector: each call gets its own result, and the limit is respected.
func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit, users = 3, 200
		e := newEngine(limit)
		var all sync.WaitGroup
		for i := range users {
			all.Go(func() {
				for j := range 5 {
					ctx, leave := context.WithTimeout(t.Context(), time.Duration(i)*20*time.Millisecond)
					c := &call{word: fmt.Sprintf("%*d", i+1, j)}
					switch err := e.calls.Do(ctx, c); {
					case err == nil && c.length != i+1:
						t.Errorf("%d has the answer to %d", i+1, c.length)
					case err != nil && !errors.Is(err, context.DeadlineExceeded):
						t.Error(err)
					}
					leave()
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if e.most != limit || e.now != 0 {
			t.Errorf("%d at once, %d at the end", e.most, e.now)
		}
		if len(e.trips) >= users {
			t.Errorf("%d round trips", len(e.trips))
		}
		e.trips = nil
		e.begin(t, "a", "b", "c")()
		e.want(t, []string{"a"}, []string{"b"}, []string{"c"}) // running is correct, even after a canceled call
	})
}

func BenchmarkCalls(b *testing.B) {
	nothing := func(context.Context, *call) error { return nil }
	calls := batch.New(6, nothing, func(context.Context, []*call) error { return nil })
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		c, ctx := &call{}, b.Context()
		for b.Loop() {
			if err := calls.Do(ctx, c); err != nil {
				b.Fatal(err)
			}
		}
	})
}
