package keyvalue

import (
	"context"
	"errors"
	"slices"
	"time"
)

// pageSize is how many names, and then their records, are read at a time.
const pageSize = 100

// named works on some names of a set and returns those that it was about.
type named func(ctx context.Context, v *view, names []string) ([]string, error)

func everything(_ context.Context, _ *view, names []string) ([]string, error) { return names, nil }

// inBatches goes through a set, picks names and removes what they name, a few at a time, each batch by a commit of its own. In a
// transaction it is one step. It returns how many went.
func (s *Store) inBatches(ctx context.Context, operation, set string, pick, remove named) (int, error) {
	batch := func(names []string) step {
		return func(ctx context.Context, v *view) ([]string, error) { return remove(ctx, v, names) }
	}
	all := func(ctx context.Context, v *view, do func(step) ([]string, error)) (out []string, err error) {
		err = v.pages(ctx, set, pageSize, func(names []string) error {
			picked, err := pick(ctx, v, names)
			if err != nil {
				return err
			}
			if s.tx == nil {
				clear(v.known) // there may be millions
			}
			for some := range slices.Chunk(picked, batchSessions) {
				gone, err := do(batch(some))
				out = append(out, gone...)
				if err != nil {
					return err
				}
			}
			return nil
		})
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
	var failed error // which names the operation
	out, err := all(ctx, s.view(), func(do step) (gone []string, err error) {
		gone, failed = s.run(ctx, operation, do)
		return gone, failed
	})
	if failed != nil {
		return len(out), failed
	}
	return len(out), s.failed(ctx, operation, err)
}

// keys are the keys of one kind that names lead to.
func keys(kind string, names []string) (out []string) {
	for _, name := range names {
		out = append(out, key(kind, name))
	}
	return out
}

// owned reads the records of one kind that belong to a user: those that the names in a set of theirs lead to.
func owned(set, kind, userID string) step {
	return func(ctx context.Context, v *view) (out []string, err error) {
		if impossible(userID) {
			return nil, nil
		}
		err = v.pages(ctx, key(set, escaped(userID)), pageSize, func(names []string) error {
			values, err := v.peek(ctx, keys(kind, names)...)
			for _, value := range values {
				if value.Found { // it may have gone since
					out = append(out, value.Text)
				}
			}
			return err
		})
		return out, err
	}
}

// DeleteExpired implements [core.Cleaner]. It looks at every session and every token, some hundred at a time, and finishes what a
// crash has interrupted: what a deleted user left behind, and copies of a user that are out of date.
func (s *Store) DeleteExpired(ctx context.Context, now time.Time) (int, error) {
	const operation = "delete expired sessions"
	expired := func(kind string, read func(v *view) func(context.Context, ...string) ([]Value, error)) named {
		return func(ctx context.Context, v *view, names []string) (out []string, err error) {
			values, err := read(v)(ctx, keys(kind, names)...)
			for i, value := range values {
				if d, err := decode[ending](value.Text); value.Found && err == nil && d.Expires.Before(now) {
					out = append(out, names[i])
				}
			}
			return out, err
		}
	}
	peek := func(v *view) func(context.Context, ...string) ([]Value, error) { return v.peek }
	get := func(v *view) func(context.Context, ...string) ([]Value, error) { return v.get } // it may have been extended

	sessions, err := s.inBatches(ctx, operation, allSessions, expired("expires", peek), func(ctx context.Context, v *view, names []string) (out []string, err error) {
		names, err = expired("expires", get)(ctx, v, names)
		if err != nil {
			return nil, err
		}
		copies, err := v.peek(ctx, keys("session", names)...)
		for i, copied := range copies {
			o, err := decode[owner](copied.Text)
			if !copied.Found || err != nil {
				continue
			}
			v.removeSession(escaped(o.ID), names[i])
			out = append(out, names[i])
		}
		return out, err
	})
	if err != nil {
		return sessions, err
	}
	tokens, err := s.inBatches(ctx, operation, allTokens, expired("token", peek), func(ctx context.Context, v *view, names []string) ([]string, error) {
		names, err := expired("token", get)(ctx, v, names)
		for _, name := range names {
			v.removeToken(name)
		}
		return names, err
	})
	if err != nil || s.tx != nil {
		return sessions + tokens, err
	}
	err = s.view().pages(ctx, staleUsers, pageSize, func(users []string) error {
		var errs []error
		for _, user := range users {
			errs = append(errs, s.settle(ctx, user))
		}
		return errors.Join(errs...)
	})
	return sessions + tokens, s.failed(ctx, operation, err)
}
