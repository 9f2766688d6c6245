package keyvalue

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/store"
)

// How much settle writes at a time: few enough operations for engines that count them, and few enough bytes.
const (
	batchSessions = 25
	batchBytes    = 256 << 10
)

// settle renews the copies of a user who has changed, or deletes what is left of one who was deleted, and then takes
// them out of the set of those whose copies are stale. id is escaped. It does nothing for a user who is not in it.
func (s *Store) settle(ctx context.Context, id string) error {
	for n := 1; ; n++ {
		err := s.settleOnce(ctx, id)
		if !errors.Is(err, ErrChanged) {
			return err
		}
		if err := s.again(ctx, n, err); err != nil {
			return err
		}
	}
}

// settleOnce is one attempt. Each of its commits checks that user and entry are what they were at its beginning: no
// call has changed the user meanwhile, nor finished the work, nor made a new user of that id.
func (s *Store) settleOnce(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	begin := s.view()
	values, err := begin.get(ctx, key("user", id), key("stale", id))
	if err != nil || !values[1].Found {
		return err
	}
	if values[0].Found {
		err = s.renew(ctx, begin, id, values[0].Text)
	} else {
		err = s.sweep(ctx, begin, id)
	}
	if err != nil {
		return err
	}
	begin.remove(key("stale", id))
	begin.drop(staleUsers, id)
	return s.engine.Commit(ctx, begin.change())
}

// renew writes the copies anew that differ from the user.
func (s *Store) renew(ctx context.Context, begin *view, id, user string) error {
	most := min(batchSessions, 1+batchBytes/(len(user)+1))
	return begin.pages(ctx, key("user-sessions", id), most, func(tokens []string) error {
		v := begin.alike(s)
		keys := keys("session", tokens)
		values, err := v.peek(ctx, keys...)
		if err != nil {
			return err
		}
		for i, copied := range values {
			if copied.Found && copied.Text != user {
				v.check(keys[i])
				v.put(keys[i], user)
			}
		}
		return v.commit(ctx)
	})
}

// sweep deletes what belongs to a user who is gone.
func (s *Store) sweep(ctx context.Context, begin *view, id string) error {
	err := begin.pages(ctx, key("user-sessions", id), batchSessions, func(tokens []string) error {
		v := begin.alike(s)
		for _, token := range tokens {
			v.removeSession(id, token)
		}
		return v.commit(ctx)
	})
	for _, of := range []struct{ kind, set string }{
		{"account", key("user-accounts", id)}, {"passkey", key("user-passkeys", id)},
	} {
		err = errors.Join(err, begin.pages(ctx, of.set, 2*batchSessions, func(names []string) error {
			v := begin.alike(s)
			for _, name := range names {
				v.remove(key(of.kind, name))
				v.drop(of.set, name)
			}
			return v.commit(ctx)
		}))
	}
	return err
}

// alike is a fresh view with the same checks.
func (v *view) alike(s *Store) *view {
	w := s.view()
	for key, check := range v.checks {
		w.checks[key] = check
	}
	return w
}

func (v *view) commit(ctx context.Context) error {
	if v.empty() {
		return nil
	}
	return v.engine.Commit(ctx, v.change())
}

// free reports whether a name with an owner is free all the same: its owner is gone and has left it behind.
func (v *view) free(ctx context.Context, taken Value) error {
	o, err := decode[owner](taken.Text)
	if err != nil {
		return err
	}
	id := escaped(o.UserID)
	values, err := v.peek(ctx, key("user", id))
	if err != nil {
		return err
	}
	if !values[0].Found {
		return v.leftover(id)
	}
	return store.ErrConflict
}

// leftover is the error for what a deleted user has left behind.
func (v *view) leftover(id string) error {
	if v.stale[id] { // nothing can be settled that is not written yet
		return errors.New("the transaction has deleted the user who has it: it is free after the commit")
	}
	return &leftoverError{id}
}
