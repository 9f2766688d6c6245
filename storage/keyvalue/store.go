package keyvalue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// Store is a store on an engine that knows keys and values only: a [store.Store] with all the interfaces beside it. It
// is safe for concurrent use; the package of an engine makes it.
//
// Errors begin with the engine and the operation and never hold a value. A taken key is [store.ErrConflict], absence is
// [store.ErrNotFound].
type Store struct {
	name   string // begins errors
	engine Engine
	tx     *transaction // nil outside transactions
}

var (
	_ store.SessionStore           = (*Store)(nil)
	_ store.VerificationTokenStore = (*Store)(nil)
	_ store.AuthenticatorStore     = (*Store)(nil)
	_ store.AuthenticatorDeleter   = (*Store)(nil)
	_ store.Transactor             = (*Store)(nil)
	_ store.AccountStore           = (*Store)(nil)
	_ store.UserDeleter            = (*Store)(nil)
	_ store.SessionLister          = (*Store)(nil)
	_ store.Cleaner                = (*Store)(nil)
	_ store.RecordStore            = (*Store)(nil)
)

// New returns a Store on an engine, whose name begins its errors. It asks the engine nothing.
func New(name string, engine Engine) *Store { return &Store{name: name, engine: engine} }

// Close releases what the engine opened itself: a handle that was given stays open.
func (s *Store) Close() error {
	if s.tx != nil {
		return fmt.Errorf("%s: close: this is the store of a transaction", s.name)
	}
	if err := s.engine.Close(); err != nil {
		return fmt.Errorf("%s: close: %w", s.name, err)
	}
	return nil
}

// Ping reaches for the engine.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.engine.Read(ctx, Query{Keys: []string{"ping"}})
	return s.failed(ctx, "ping", err)
}

// attempts is how often an operation is tried whose reads others have changed. Of operations that collide one gets
// through, so that many may collide.
const attempts = 200

// longestPause is how long an attempt waits at most after one that failed.
const longestPause = 20 * time.Millisecond

// step is one operation on a view: it reads, and then says what to write. It returns documents. It may run several
// times, each time on what the engine holds by then, and must not depend on anything that its caller may change
// meanwhile.
type step func(ctx context.Context, v *view) ([]string, error)

// run runs an operation until no other has changed what it read, and writes what it wants written.
func (s *Store) run(ctx context.Context, operation string, do step) ([]string, error) {
	if s.tx != nil {
		out, err := s.tx.run(ctx, s, do)
		return out, s.failed(ctx, operation, err)
	}
	for n := 1; ; n++ {
		v := s.view()
		out, err := s.try(ctx, v, do)
		if err == nil {
			// What is left to settle a later call settles; what was asked for has been done.
			for user := range v.stale {
				_ = s.settleSome(ctx, user, false)
			}
			return out, nil
		}
		if err = s.again(ctx, n, err); err != nil {
			return nil, s.failed(ctx, operation, err)
		}
	}
}

// try is one attempt of an operation.
func (s *Store) try(ctx context.Context, v *view, do step) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out, err := do(ctx, v)
	if err != nil || v.empty() {
		return out, err
	}
	return out, s.engine.Commit(ctx, v.change())
}

// again makes ready for another attempt, or returns why there is none.
func (s *Store) again(ctx context.Context, n int, err error) error {
	var left *leftoverError
	switch {
	case n >= attempts && errors.Is(err, ErrChanged):
		return errors.New("others kept changing the same records")
	case errors.As(err, &left) && n < attempts:
		return s.settle(ctx, left.user)
	case !errors.Is(err, ErrChanged):
		return err
	case n == 1:
		return nil
	}
	return wait(ctx, n)
}

// wait waits before the attempt that follows the n-th, longer each time, and at random, so that those who met do not
// meet again.
func wait(ctx context.Context, n int) error {
	pause := longestPause
	if n < 6 {
		pause = time.Millisecond << n / 2
	}
	return store.Pause(ctx, pause)
}

// leftoverError says that something belongs to a user who is gone, whose deletion was interrupted.
type leftoverError struct{ user string }

func (*leftoverError) Error() string { return "what a deleted user left behind is in the way" }

// failed names the operation and turns errors into those of the contract.
func (s *Store) failed(ctx context.Context, operation string, err error) error {
	return store.OpError(ctx, s.name, operation, err)
}

// one is run for an operation that returns one document.
func one[T any](
	ctx context.Context, s *Store, operation string, read func(document string) (T, error), do step,
) (T, error) {
	var none T
	out, err := s.run(ctx, operation, do)
	if err != nil {
		return none, err
	}
	v, err := read(out[0])
	return v, s.failed(ctx, operation, err)
}

// list is run for an operation that returns documents of one kind.
func list[T any](
	ctx context.Context, s *Store, operation string, read func(document string) (T, error), do step,
) ([]T, error) {
	out, err := s.run(ctx, operation, do)
	if err != nil {
		return nil, err
	}
	var all []T
	for _, document := range out {
		v, err := read(document)
		if err != nil {
			return nil, s.failed(ctx, operation, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// found is the text of a record that is there.
func found(values []Value, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(values))
	for _, v := range values {
		if !v.Found {
			return nil, store.ErrNotFound
		}
		out = append(out, v.Text)
	}
	return out, nil
}
