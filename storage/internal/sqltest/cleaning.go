package sqltest

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// countdown is a context that is canceled after a number of calls to its methods, so that it ends within a call of the
// store.
type countdown struct {
	context.Context
	cancel context.CancelFunc
	calls  atomic.Int64
}

func newCountdown(parent context.Context, calls int64) context.Context {
	c := &countdown{}
	c.Context, c.cancel = context.WithCancel(parent)
	c.calls.Store(calls)
	return c
}

func (c *countdown) count() {
	if c.calls.Add(-1) <= 0 {
		c.cancel()
	}
}

// Err implements [context.Context].
func (c *countdown) Err() error { c.count(); return c.Context.Err() }

// Done implements [context.Context].
func (c *countdown) Done() <-chan struct{} { c.count(); return c.Context.Done() }

// Cleaning checks that DeleteExpired works in batches: if its context ends, the completed batches stay deleted and are
// counted.
func Cleaning(t *testing.T, s Store) {
	t.Helper()
	const rows = 1000
	must(t, s.Migrate(t.Context()))
	Fill(t, s, rows)
	now := time.UnixMilli(1893553445678).Add(time.Hour)
	left := func() (n int) {
		for user := range rows / 10 {
			list, err := s.Sessions(t.Context(), "u"+strconv.Itoa(user))
			must(t, err)
			n += len(list)
		}
		return n
	}
	for looks := int64(4); ; looks += 4 {
		n, err := s.DeleteExpired(newCountdown(t.Context(), looks), now)
		if err == nil {
			t.Fatalf("%d rows went in one step, or nothing looked at the context between two", n)
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v, want that of the context", err)
		}
		if n > 0 {
			if there := left(); n >= rows || there > rows-n {
				t.Errorf("%d of %d rows went, %d are there", n, rows, there)
			}
			break
		}
	}
	// The database may complete the interrupted batch now, and DeleteExpired does not count its rows. It is the second
	// batch, of at most 200 rows.
	before := left()
	n, err := s.DeleteExpired(t.Context(), now)
	must(t, err)
	if n > before || n < before-200 || left() != 0 {
		t.Errorf("%d rows went of %d, %d are there", n, before, left())
	}
}

// Deadlock checks that a transaction runs again if the database aborts it because of a deadlock.
func Deadlock(t *testing.T, s Store) {
	t.Helper()
	must(t, s.Migrate(t.Context()))
	for _, id := range []string{"a", "b"} {
		_, err := s.CreateUser(t.Context(), &store.User{ID: id})
		must(t, err)
	}
	var met, all sync.WaitGroup
	met.Add(2)
	runs := make([]int, 2)
	for i, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		all.Go(func() {
			err := s.InTransaction(t.Context(), func(ctx context.Context, tx store.Store) error {
				runs[i]++
				if _, err := tx.UpdateUser(ctx, &store.User{ID: order[0], Name: strconv.Itoa(i)}); err != nil {
					return err
				}
				if runs[i] == 1 { // each has locked one row and waits for the other
					met.Done()
					met.Wait()
				}
				_, err := tx.UpdateUser(ctx, &store.User{ID: order[1], Name: strconv.Itoa(i)})
				return err
			})
			if err != nil {
				t.Errorf("transaction %d, begun %d times: %v", i, runs[i], err)
			}
		})
	}
	all.Wait()
	if runs[0]+runs[1] < 3 {
		t.Errorf("begun %v times: there was no deadlock", runs)
	}
	a, err := s.User(t.Context(), "a")
	must(t, err)
	b, err := s.User(t.Context(), "b")
	must(t, err)
	if a.Name != b.Name {
		t.Errorf("names %q and %q: one transaction came between the halves of the other", a.Name, b.Name)
	}

	runs[0] = 0
	failure := errors.New("of the caller's own")
	err = s.InTransaction(t.Context(), func(context.Context, store.Store) error { runs[0]++; return failure })
	if !errors.Is(err, failure) || runs[0] != 1 {
		t.Errorf("error %v after %d runs: only what the engine undid is begun again", err, runs[0])
	}
}
