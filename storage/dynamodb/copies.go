package dynamodb

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkey-go/latchkey/core/store"
)

// A session holds a copy of its user's item, so that one read finds both. A session without a copy is in order: its
// user is read by a second request. What must never be found is a copy that is out of date.
//
// The item of a user has a revision. It is even while the user stays as it is, and odd while a call changes or deletes
// it. Every write of a user's item is conditional on the revision that was read, and raises it.
//
//	who changes                               who copies
//	1. raises the revision to odd             1. reads the user, whose revision is even
//	2. removes all copies                     2. copies into sessions without a copy, or with one of a lower revision
//	3. writes the user, the revision even     3. looks whether the revision is still that; if not, removes those copies
//	4. copies
//
// Either a copy was written before the revision was raised: then step 2 on the left removes it, for a session's entry
// is written before the session. Or it was written after: then step 3 on the right does. A new session has no copy at
// first; then the call that made it copies. A process that ends leaves sessions without copies, which is in order.

// copies changes users and keeps the copies of them that sessions hold.
type copies struct{ owned }

// most is how large a user may be, in bytes, to be copied: an item has 400 KB.
const most = 300 << 10

func revisionOf(user item) int64 {
	v, _ := user[revisionName].(*types.AttributeValueMemberN)
	if v == nil {
		return 0 // another program made it
	}
	n, _ := strconv.ParseInt(v.Value, 10, 64)
	return n
}

func revision(n int64) types.AttributeValue { return num(strconv.FormatInt(n, 10)) }

func settled(n int64) bool { return n%2 == 0 }

// atRevision holds as long as no call has changed the user.
func (cs *copies) atRevision(n int64) condition {
	c := is(revisionName, "=", revision(n))
	if n == 0 {
		c = cs.isThere().and(c.or(absent(revisionName)))
	}
	return c
}

// begun is a change after step 2.
type begun struct {
	user     item // as it was
	revision int64
	nonce    types.AttributeValue
}

// done reports whether a write whose condition did not hold had been done before: the client had tried it, and lost the
// answer.
func (cs *copies) done(ctx context.Context, id string, b begun) (bool, error) {
	user, err := cs.get(ctx, userKey(id))
	return err == nil && revisionOf(user) == b.revision &&
		plain(user, changeName) == b.nonce.(*types.AttributeValueMemberS).Value, err
}

// begin is steps 1 and 2 of a change. next is the address that the user will have; nil: the one that it has.
func (cs *copies) begin(ctx context.Context, id string, next *string) (b begun, err error) {
	for {
		if b.user, err = cs.must(ctx, userKey(id)); err != nil {
			return b, err
		}
		now := revisionOf(b.user)
		b.revision, b.nonce = now+1+now%2, nonce() // odd, also after a process that did not come to its end
		set, remove := item{revisionName: revision(b.revision), changeName: b.nonce}, []string{nextName}
		if next != nil && *next != "" && *next != plain(b.user, "email") {
			set[nextName], remove = str(*next), nil
		}
		err = cs.update(ctx, userKey(id), set, remove, cs.atRevision(now))
		if errors.Is(err, errCondition) {
			done, err := cs.done(ctx, id, b)
			if err != nil {
				return b, err
			}
			if !done {
				continue // another call began a change
			}
		} else if err != nil {
			return b, err
		}
		return b, cs.strip(ctx, id, condition{})
	}
}

// strip removes the copies of a user, under a condition.
func (cs *copies) strip(ctx context.Context, id string, c condition) error {
	return cs.eachSession(ctx, id, func(k key) error { return cs.update(ctx, k, nil, []string{copyName, copiedName}, c) })
}

// eachSession does something with every session of a user that is there.
func (cs *copies) eachSession(ctx context.Context, id string, do func(k key) error) error {
	entries, err := cs.partition(ctx, "USER#"+id, "SESSION#")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		k, _ := cs.ownKey(entry)
		if err := do(k); ignored(err) != nil {
			return err
		}
	}
	return nil
}

// publish copies a user into their sessions, or into one of them. ErrNotFound: there is no such user.
func (cs *copies) publish(ctx context.Context, id string, only *key) error {
	for {
		user, err := cs.must(ctx, userKey(id))
		if err != nil {
			return err
		}
		now := revisionOf(user)
		if !settled(now) || size(user) > most {
			return nil // the call that changes the user copies
		}
		user = without(user, cs.layout.PartitionKey, cs.layout.SortKey, cs.layout.IndexPartitionKey, cs.layout.IndexSortKey)
		older := is(copiedName, "<", revision(now)).or(absent(copiedName))
		older = older.and(is("userId", "=", str(id)))
		copied := item{copyName: &types.AttributeValueMemberM{Value: user}, copiedName: revision(now)}
		write := func(k key) error { return cs.update(ctx, k, copied, nil, older) }
		if only != nil {
			err = ignored(write(*only))
		} else {
			err = cs.eachSession(ctx, id, write)
		}
		if err != nil {
			return err
		}
		right, err := cs.check(ctx, id, now)
		if right || err != nil {
			return err
		}
	}
}

// check is step 3 of the call that copies. It reports whether the copies stay.
func (cs *copies) check(ctx context.Context, id string, n int64) (right bool, err error) {
	user, err := cs.get(ctx, userKey(id))
	if err != nil {
		return false, err
	}
	if len(user) > 0 && revisionOf(user) == n {
		return true, nil
	}
	return false, cs.strip(ctx, id, is(copiedName, "=", revision(n)))
}

// change is a change of a user. what may be asked several times.
func (cs *copies) change(ctx context.Context, id string, next *string, what func(user item) (item, error)) error {
	for n := 0; ; n++ {
		if err := wait(ctx, n); err != nil {
			return err
		}
		b, err := cs.begin(ctx, id, next)
		if err != nil {
			return err
		}
		changed, refusal := what(b.user)
		var old item // the guard of the address that the user gives up
		before := plain(b.user, "email")
		moves := next != nil && *next != before
		if refusal == nil && moves && *next != "" {
			refusal = cs.reserve(ctx, *next, id)
		}
		if refusal == nil && moves && before != "" {
			if old, err = cs.get(ctx, addressKey(before)); err != nil {
				return err
			}
		}
		if refusal != nil {
			return errors.Join(refusal, cs.abandon(ctx, id, b))
		}
		err = cs.finish(ctx, id, b, changed)
		if errors.Is(err, errCondition) {
			continue // another call began a change
		}
		if err == nil && len(old) > 0 && plain(old, "userId") == id {
			err = cs.discard(ctx, addressKey(before), old)
		}
		if err != nil {
			return err
		}
		return cs.publish(ctx, id, nil)
	}
}

// finish is step 3 of a change.
func (cs *copies) finish(ctx context.Context, id string, b begun, changed item) error {
	odd := cs.atRevision(b.revision)
	b.revision++
	err := cs.put(ctx, userKey(id), merged(changed, item{revisionName: revision(b.revision), changeName: b.nonce}), odd)
	if errors.Is(err, errCondition) {
		done, failure := cs.done(ctx, id, b)
		if done || failure != nil {
			return failure
		}
	}
	return err
}

// abandon ends a change that leaves the user as it was.
func (cs *copies) abandon(ctx context.Context, id string, b begun) error {
	attributes := item{revisionName: revision(b.revision + 1)}
	err := cs.update(ctx, userKey(id), attributes, []string{nextName}, cs.atRevision(b.revision))
	if ignored(err) != nil {
		return err
	}
	return cs.publish(ctx, id, nil)
}

// An e-mail address is the key of an item, its guard, which names the user. It counts only while that user has the
// address, or is about to get it: a guard that a process left behind gives way. Every reservation has another nonce, so
// that a call that takes over a guard takes over the one that was looked at.

// reserve makes an address a user's. ErrConflict: it is another's.
func (cs *copies) reserve(ctx context.Context, email, user string) error {
	k := addressKey(email)
	mine := item{"userId": str(user), nonceName: nonce(), "type": str("EMAIL")}
	for {
		err := cs.put(ctx, k, mine, cs.isFree().or(is("userId", "=", str(user))))
		if !errors.Is(err, errCondition) {
			return err
		}
		there, err := cs.get(ctx, k)
		if err != nil {
			return err
		}
		if len(there) == 0 {
			continue
		}
		other, err := cs.get(ctx, userKey(plain(there, "userId")))
		if err != nil {
			return err
		}
		if len(other) > 0 && (plain(other, "email") == email || plain(other, nextName) == email) {
			return store.ErrConflict
		}
		err = cs.put(ctx, k, mine, is(nonceName, "=", str(plain(there, nonceName))))
		if !errors.Is(err, errCondition) {
			return err
		}
	}
}

// longestWait is how long a change waits at most before it begins anew.
const longestWait = 500 * time.Millisecond

// wait waits before the change of a user that others have interrupted n times, longer each time and at random: those
// who meet would otherwise interrupt each other for ever.
func wait(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	return store.Pause(ctx, min(10*time.Millisecond<<min(n, 10), longestWait))
}
