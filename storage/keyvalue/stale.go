package keyvalue

import (
	"context"
	"errors"
)

// The limits of a batch in settle: the number of operations, which some engines restrict, and the number of bytes.
const (
	batchSessions = 25
	batchBytes    = 256 << 10
)

// errMore is returned by renew if DeleteExpired must renew the remaining copies.
var errMore = errors.New("there are more copies")

// settle renews the copies of a changed user, or deletes the remains of a deleted user. Then it removes the user from
// the stale set. id is escaped. It does nothing if the user is not in the set.
func (d *database) settle(ctx context.Context, id string) error { return d.settleSome(ctx, id, true) }

// settleSome is settle for a call that changes a user with possibly many sessions: it renews one batch of copies and
// leaves the rest to DeleteExpired. Until then, session lookups read the user.
func (d *database) settleSome(ctx context.Context, id string, whole bool) error {
	for n := 1; ; n++ {
		err := d.settleOnce(ctx, id, whole)
		if !errors.Is(err, ErrChanged) {
			return err
		}
		if err := d.Again(ctx, n, err); err != nil {
			return err
		}
	}
}

// settleOnce makes one attempt. Each of its commits checks that the user and the stale record have not changed since
// its start: no call has changed the user, completed the work, or created a new user with that ID.
func (d *database) settleOnce(ctx context.Context, id string, whole bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	begin := d.View()
	values, err := begin.get(ctx, key("user", id), key("stale", id))
	if err != nil || !values[1].Found {
		return err
	}
	if values[0].Found {
		err = d.renew(ctx, begin, id, values[0].Text, whole)
	} else {
		err = d.sweep(ctx, begin, id)
	}
	if errors.Is(err, errMore) {
		return nil
	}
	if err != nil {
		return err
	}
	begin.remove(key("stale", id))
	begin.drop(staleUsers, id)
	return d.engine.Commit(ctx, begin.change())
}

// renew rewrites the copies that differ from the user: all of them if whole is set, else one batch.
func (d *database) renew(ctx context.Context, begin *view, id, user string, whole bool) error {
	most, page := min(batchSessions, 1+batchBytes/(len(user)+1)), 0
	return begin.pages(ctx, key("user-sessions", id), most, func(tokens []string) error {
		if page++; page > 1 && !whole {
			return errMore
		}
		v := begin.withSameChecks()
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

// sweep deletes everything that belongs to a deleted user.
func (d *database) sweep(ctx context.Context, begin *view, id string) error {
	err := begin.pages(ctx, key("user-sessions", id), batchSessions, func(tokens []string) error {
		v := begin.withSameChecks()
		for _, token := range tokens {
			v.removeSession(id, token)
		}
		return v.commit(ctx)
	})
	for _, kind := range []string{"account", "passkey", "record"} {
		err = errors.Join(err, begin.pages(ctx, key("user-"+kind+"s", id), batchSessions, func(names []string) error {
			v := begin.withSameChecks()
			for _, name := range names {
				v.removeOwned(kind, id, name)
			}
			return v.commit(ctx)
		}))
	}
	return err
}

// removeOwned deletes an account, a passkey or a record of a user. user is the escaped ID.
func (p *pending) removeOwned(kind, user, name string) {
	p.remove(key(kind, name))
	p.drop(key("user-"+kind+"s", user), name)
	if kind == "record" {
		p.drop(allRecords, name)
	}
}

// withSameChecks returns a new view with the same checks.
func (v *view) withSameChecks() *view {
	w := &view{engine: v.engine}
	for key, check := range v.checks {
		keep(&w.checks, key, check)
	}
	return w
}

func (v *view) commit(ctx context.Context) error {
	if v.empty() {
		return nil
	}
	return v.engine.Commit(ctx, v.change())
}
