package keyvalue

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/store"
)

// pageSize is the number of names, and then of their records, that are read together. batchNames is the number of them
// that one commit deletes: deleting a session takes five operations.
const (
	pageSize   = 100
	batchNames = 20
)

// errLast is returned by a pick function together with the last names that it needs.
var errLast = errors.New("no further names are needed")

// namesFunc processes some names of a set and returns the names that it has selected or deleted.
type namesFunc func(ctx context.Context, v *view, names []string) ([]string, error)

// inBatches walks through a set, selects names with pick and deletes them with remove. Each batch has its own commit.
// Within a transaction it is a single step. It returns the number of deleted names.
func (s *Store) inBatches(ctx context.Context, operation, set string, pick, remove namesFunc) (int, error) {
	batch := func(names []string) step {
		return func(ctx context.Context, v *view) ([]string, error) { return remove(ctx, v, names) }
	}
	all := func(ctx context.Context, v *view, do func(step) ([]string, error)) (out []string, err error) {
		err = v.pages(ctx, set, pageSize, func(names []string) error {
			picked, end := pick(ctx, v, names)
			if end != nil && !errors.Is(end, errLast) {
				return end
			}
			if s.tx == nil {
				clear(v.known) // the set may have millions of names
			}
			for some := range slices.Chunk(picked, batchNames) {
				gone, err := do(batch(some))
				out = append(out, gone...)
				if err != nil {
					return err
				}
			}
			return end
		})
		if errors.Is(err, errLast) {
			err = nil
		}
		return out, err
	}
	if s.tx != nil {
		out, err := s.run(ctx, operation, func(ctx context.Context, v *view) ([]string, error) {
			return all(ctx, v, func(do step) ([]string, error) { return do(ctx, v) })
		})
		return len(out), err
	}
	if err := ctx.Err(); err != nil {
		return 0, s.failed(ctx, operation, err)
	}
	var failed error // contains the operation
	out, err := all(ctx, s.db.View(), func(do step) (gone []string, err error) {
		gone, failed = s.run(ctx, operation, do)
		return gone, failed
	})
	if failed != nil {
		return len(out), failed
	}
	return len(out), s.failed(ctx, operation, err)
}

// keys returns the keys of one kind for names.
func keys(kind string, names []string) (out []string) {
	for _, name := range names {
		out = append(out, key(kind, name))
	}
	return out
}

// owned reads the records of one kind that belong to a user, by the names in the user's set.
func owned(set, kind, userID string) step {
	return func(ctx context.Context, v *view) (out []string, err error) {
		if impossible(userID) {
			return nil, nil
		}
		err = v.pages(ctx, key(set, escaped(userID)), pageSize, func(names []string) error {
			values, err := v.peek(ctx, keys(kind, names)...)
			for _, value := range values {
				if value.Found { // it may be deleted meanwhile
					out = append(out, value.Text)
				}
			}
			return err
		})
		return out, err
	}
}

// createOwned creates a record that belongs to a user.
func (s *Store) createOwned(ctx context.Context, operation, kind, name, user, document string) error {
	_, err := s.run(ctx, operation, func(ctx context.Context, v *view) ([]string, error) {
		values, err := v.get(ctx, key(kind, name), key("user", user))
		switch {
		case err != nil:
			return nil, err
		case !values[1].Found && !values[0].Found:
			return nil, store.ErrNotFound
		}
		if values[0].Found {
			if err := v.free(ctx, kind, name, values[0]); err != nil {
				return nil, err
			}
		}
		if !values[1].Found {
			return nil, store.ErrNotFound
		}
		v.put(key(kind, name), document)
		v.add(key("user-"+kind+"s", user), name)
		return nil, nil
	})
	return err
}
