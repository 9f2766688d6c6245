package keyvalue

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/keyvalue/optimistic"
)

// database runs operations on an engine. It implements [optimistic.Database].
type database struct {
	name   string // prefix of errors
	engine Engine
}

// attempts is the maximum number of attempts at an operation after conflicts, and transactionAttempts of those at a
// transaction. They are high because many may conflict, and only one of them succeeds each time.
const (
	attempts            = 200
	transactionAttempts = 50
)

// longestPause is the maximum pause before a retry.
const longestPause = 20 * time.Millisecond

// step is one operation. Its result is documents.
type step = optimistic.Step[*view, []string]

// run runs an operation, alone or within the transaction.
func (s *Store) run(ctx context.Context, operation string, do step) (out []string, err error) {
	if s.tx != nil {
		out, err = s.tx.Run(ctx, do)
	} else {
		out, err = optimistic.Run(ctx, s.db, do)
	}
	return out, s.failed(ctx, operation, err)
}

// InTransaction implements [store.Transactor]. It runs do and commits all its writes at the end; reads in do see them.
// If a concurrent change affects what do has read, do runs again, up to 50 times while ctx lasts: it must therefore
// reset what it has stored outside of tx. tx is a *Store and safe for concurrent use. If a nested transaction fails,
// only its own writes are undone, and the outer one continues.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	if s.tx != nil {
		return s.tx.Nested(ctx, func() error { return do(ctx, s) })
	}
	begin := func(t *transaction) error { return do(ctx, &Store{db: s.db, tx: t}) }
	return optimistic.InTransaction(ctx, s.db, transactionAttempts, begin)
}

type transaction = optimistic.Transaction[*view, []string]

func (d *database) View() *view { return &view{engine: d.engine} }

// Commit also renews or deletes copies of changed users. If that fails, a later call completes it: the operation itself
// has succeeded.
func (d *database) Commit(ctx context.Context, v *view) error {
	if err := v.commit(ctx); err != nil {
		return err
	}
	for user := range v.stale {
		_ = d.settleSome(ctx, user, false)
	}
	return nil
}

func (d *database) Again(ctx context.Context, n int, err error) error {
	var left *leftoverError
	switch {
	case n >= attempts && errors.Is(err, ErrChanged):
		return errors.New("too many write conflicts")
	case errors.As(err, &left) && n < attempts:
		return d.settle(ctx, left.user)
	case !errors.Is(err, ErrChanged):
		return err
	case n == 1:
		return nil
	}
	return d.Wait(ctx, n)
}

// Wait pauses for a time that increases and is random, so that conflicting operations do not conflict again.
func (d *database) Wait(ctx context.Context, n int) error {
	pause := longestPause
	if n < 6 {
		pause = time.Millisecond << n / 2
	}
	return store.Pause(ctx, pause)
}

func (d *database) Save(v *view) (restore func(*view)) {
	before := v.clone()
	return func(v *view) { v.pending = before }
}

func (d *database) Same(a, b []string) bool { return slices.Equal(a, b) }

func (d *database) Failed(ctx context.Context, operation string, err error) error {
	return store.OpError(ctx, d.name, operation, err)
}

// leftoverError means that a record belongs to a deleted user whose deletion was interrupted.
type leftoverError struct{ user string }

func (*leftoverError) Error() string { return "a record of a deleted user has not been removed yet" }

func (s *Store) failed(ctx context.Context, operation string, err error) error {
	return s.db.Failed(ctx, operation, err)
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

// found returns the texts of records. It returns ErrNotFound if one does not exist.
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
