package hosted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/keyvalue/optimistic"
)

// database runs operations on the API. It implements [optimistic.Database].
type database struct{ *client }

type tables struct{ users, accounts, sessions, usersAccounts, usersSessions, tokens, passkeys, records string }

// attempts is the maximum number of attempts at an operation or a transaction that the database rejects. The usual
// reason is a concurrent call, which the next attempt sees.
const attempts = 20

// step is one operation. Its result is records.
type step = optimistic.Step[*view, []record]

// run runs an operation, alone or within the transaction.
func (s *Store) run(ctx context.Context, operation string, do step) (out []record, err error) {
	if s.tx != nil {
		out, err = s.tx.Run(ctx, do)
	} else {
		out, err = optimistic.Run(ctx, s.db, do)
	}
	return out, s.failed(ctx, operation, err)
}

// InTransaction implements [store.Transactor]. It runs do and sends all its writes in one request at the end, at most
// 1000 operations; reads in do see them. If a concurrent change affects what do has read, do runs again, up to 20 times
// while ctx lasts: it must therefore reset what it has stored outside of tx. tx is a *Store and safe for concurrent
// use. If a nested transaction fails, only its own writes are undone, and the outer one continues.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	if s.tx != nil {
		return s.tx.Nested(ctx, func() error { return do(ctx, s) })
	}
	begin := func(t *transaction) error { return do(ctx, &Store{db: s.db, tables: s.tables, tx: t}) }
	return optimistic.InTransaction(ctx, s.db, attempts, begin)
}

type transaction = optimistic.Transaction[*view, []record]

func (d *database) View() *view {
	return &view{d.client, map[string]any{}, pending{local: map[string]map[string]record{}}}
}

func (d *database) Commit(ctx context.Context, v *view) error {
	if len(v.ops) == 0 {
		return nil
	}
	var done struct {
		Results []any `json:"results"`
	}
	err := v.post(ctx, "/transaction", map[string]any{"operations": v.ops}, &done)
	var rejected *rejectedError
	if errors.As(err, &rejected) {
		return &conflictError{rejected}
	}
	return err
}

// conflictError means that the database rejected writes.
type conflictError struct{ error }

func (d *database) Again(ctx context.Context, n int, err error) error {
	var conflict *conflictError
	if !errors.As(err, &conflict) || n >= attempts {
		return err
	}
	if n > 1 {
		_ = d.Wait(ctx, n-1) // the next check of the context ends it
	}
	return nil
}

// Wait pauses for at most n times 50 ms, so that many calls that write the same records succeed one after another, even
// on a slow machine.
func (d *database) Wait(ctx context.Context, n int) error {
	return store.Pause(ctx, time.Duration(n)*50*time.Millisecond)
}

func (d *database) Save(v *view) (restore func(*view)) {
	before := v.clone()
	return func(v *view) { v.pending = before }
}

// Same compares the parts of results that a caller can see.
func (d *database) Same(a, b []record) bool {
	one, _ := json.Marshal(withoutMeta(a)) // the values were decoded from JSON
	two, _ := json.Marshal(withoutMeta(b))
	return bytes.Equal(one, two)
}

func withoutMeta(list []record) []record {
	var out []record
	for _, r := range list {
		c := record{}
		for name, value := range r {
			if inner, ok := value.(map[string]any); ok {
				value = withoutMeta([]record{inner})[0]
			}
			if name != "xata" {
				c[name] = value
			}
		}
		out = append(out, c)
	}
	return out
}

func (d *database) Failed(ctx context.Context, operation string, err error) error {
	return store.OpError(ctx, "hosted", operation, err)
}

func (s *Store) failed(ctx context.Context, operation string, err error) error {
	return s.db.Failed(ctx, operation, err)
}

// one is run for an operation that returns one record.
func one[T any](ctx context.Context, s *Store, operation string, read func(record) (T, error), do step) (T, error) {
	var none T
	out, err := s.run(ctx, operation, do)
	if err != nil {
		return none, err
	}
	v, err := read(out[0])
	return v, s.failed(ctx, operation, err)
}

// list is run for an operation that returns records of one kind.
func list[T any](
	ctx context.Context, s *Store, operation string, read func(record) (T, error), do step,
) ([]T, error) {
	out, err := s.run(ctx, operation, do)
	if err != nil {
		return nil, err
	}
	var all []T
	for _, r := range out {
		v, err := read(r)
		if err != nil {
			return nil, s.failed(ctx, operation, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// first returns the first record of a query's result, or ErrNotFound.
func first(list []record, err error) (record, error) {
	if err == nil && len(list) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}
