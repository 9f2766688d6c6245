package dynamodb

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkey-go/latchkey/core/store"
)

// A session contains a copy of its user's item, so that one read returns both. A session without a copy is valid: a
// second request reads its user. An outdated copy must never be returned.
//
// The item of a user has a revision. It is even while the user is stable, and odd while a call changes or deletes the
// user. Every write of a user's item has the condition that the revision has not changed since it was read, and
// increases it.
//
//	a call that changes the user              a call that copies the user
//	1. makes the revision odd                 1. reads the user with an even revision
//	2. deletes all copies                     2. copies into sessions without a copy or with a lower revision
//	3. writes the user, makes it even         3. reads the revision again; if it has changed, deletes those copies
//	4. copies the user
//
// If a copy is written before the revision becomes odd, step 2 on the left deletes it, because a session's entry is
// written before the session. If it is written later, step 3 on the right deletes it. A new session has no copy at
// first; then the call that created it copies the user. A process that crashes leaves sessions without copies, which
// are valid.

// most is the maximum size of a user that is copied, in bytes. An item is limited to 400 KB.
const most = 300 << 10

func revisionOf(user item) int64 {
	v, _ := user[revisionName].(*types.AttributeValueMemberN)
	if v == nil {
		return 0 // created by another program
	}
	n, _ := strconv.ParseInt(v.Value, 10, 64)
	return n
}

func revision(n int64) types.AttributeValue { return num(strconv.FormatInt(n, 10)) }

func settled(n int64) bool { return n%2 == 0 }

// atRevision is true while no call has changed the user.
func (s *Store) atRevision(n int64) condition {
	c := is(revisionName, "=", revision(n))
	if n == 0 {
		c = s.isThere().and(c.or(absent(revisionName)))
	}
	return c
}

// startedChange is a change after step 2.
type startedChange struct {
	user     item // before the change
	revision int64
	nonce    types.AttributeValue
}

// done reports whether a write with a false condition had already been applied: the client lost the response to its
// first attempt and retried.
func (s *Store) done(ctx context.Context, id string, b startedChange) (bool, error) {
	user, err := s.get(ctx, userKey(id))
	return err == nil && revisionOf(user) == b.revision &&
		plain(user, changeName) == b.nonce.(*types.AttributeValueMemberS).Value, err
}

// begin runs steps 1 and 2 of a change. next is the new address of the user, or nil if it does not change.
func (s *Store) begin(ctx context.Context, id string, next *string) (b startedChange, err error) {
	for {
		if b.user, err = s.must(ctx, userKey(id)); err != nil {
			return b, err
		}
		now := revisionOf(b.user)
		b.revision, b.nonce = now+1+now%2, nonce() // odd, even after a process that crashed during a change
		set, remove := item{revisionName: revision(b.revision), changeName: b.nonce}, []string{nextName}
		if next != nil && *next != "" && *next != plain(b.user, "email") {
			set[nextName], remove = str(*next), nil
		}
		err = s.update(ctx, userKey(id), set, remove, s.atRevision(now))
		if errors.Is(err, errCondition) {
			done, err := s.done(ctx, id, b)
			if err != nil {
				return b, err
			}
			if !done {
				continue // another call has started a change
			}
		} else if err != nil {
			return b, err
		}
		return b, s.strip(ctx, id, condition{})
	}
}

// strip deletes the copies of a user, under a condition.
func (s *Store) strip(ctx context.Context, id string, c condition) error {
	return s.eachSession(ctx, id, func(k key) error { return s.update(ctx, k, nil, []string{copyName, copiedName}, c) })
}

// eachSession calls do for every existing session of a user.
func (s *Store) eachSession(ctx context.Context, id string, do func(k key) error) error {
	entries, err := s.partition(ctx, "USER#"+id, "SESSION#")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		k, _ := s.ownKey(entry)
		if err := do(k); ignored(err) != nil {
			return err
		}
	}
	return nil
}

// publish copies a user into all sessions of the user, or into only one. It returns ErrNotFound if the user does not
// exist.
func (s *Store) publish(ctx context.Context, id string, only *key) error {
	for {
		user, err := s.must(ctx, userKey(id))
		if err != nil {
			return err
		}
		now := revisionOf(user)
		if !settled(now) || size(user) > most {
			return nil // the call that changes the user will copy
		}
		user = without(user, s.layout.PartitionKey, s.layout.SortKey, s.layout.IndexPartitionKey, s.layout.IndexSortKey)
		older := is(copiedName, "<", revision(now)).or(absent(copiedName))
		older = older.and(is("userId", "=", str(id)))
		copied := item{copyName: &types.AttributeValueMemberM{Value: user}, copiedName: revision(now)}
		write := func(k key) error { return s.update(ctx, k, copied, nil, older) }
		if only != nil {
			err = ignored(write(*only))
		} else {
			err = s.eachSession(ctx, id, write)
		}
		if err != nil {
			return err
		}
		right, err := s.check(ctx, id, now)
		if right || err != nil {
			return err
		}
	}
}

// check is step 3 of a call that copies. It reports whether the copies are valid.
func (s *Store) check(ctx context.Context, id string, n int64) (right bool, err error) {
	user, err := s.get(ctx, userKey(id))
	if err != nil {
		return false, err
	}
	if len(user) > 0 && revisionOf(user) == n {
		return true, nil
	}
	return false, s.strip(ctx, id, is(copiedName, "=", revision(n)))
}

// change runs all steps of a change. It may call what several times.
func (s *Store) change(ctx context.Context, id string, next *string, what func(user item) (item, error)) error {
	for n := 0; ; n++ {
		if err := wait(ctx, n); err != nil {
			return err
		}
		b, err := s.begin(ctx, id, next)
		if err != nil {
			return err
		}
		changed, refusal := what(b.user)
		var old item // the guard of the user's old address
		before := plain(b.user, "email")
		moves := next != nil && *next != before
		if refusal == nil && moves && *next != "" {
			refusal = s.reserve(ctx, *next, id)
		}
		if refusal == nil && moves && before != "" {
			if old, err = s.get(ctx, addressKey(before)); err != nil {
				return err
			}
		}
		if refusal != nil {
			return errors.Join(refusal, s.abandon(ctx, id, b))
		}
		err = s.finish(ctx, id, b, changed)
		if errors.Is(err, errCondition) {
			continue // another call has started a change
		}
		if err == nil && len(old) > 0 && plain(old, "userId") == id {
			err = s.discard(ctx, addressKey(before), old)
		}
		if err != nil {
			return err
		}
		return s.publish(ctx, id, nil)
	}
}

// finish is step 3 of a change.
func (s *Store) finish(ctx context.Context, id string, b startedChange, changed item) error {
	odd := s.atRevision(b.revision)
	b.revision++
	err := s.put(ctx, userKey(id), merged(changed, item{revisionName: revision(b.revision), changeName: b.nonce}), odd)
	if errors.Is(err, errCondition) {
		done, failure := s.done(ctx, id, b)
		if done || failure != nil {
			return failure
		}
	}
	return err
}

// abandon ends a change that does not modify the user.
func (s *Store) abandon(ctx context.Context, id string, b startedChange) error {
	attributes := item{revisionName: revision(b.revision + 1)}
	err := s.update(ctx, userKey(id), attributes, []string{nextName}, s.atRevision(b.revision))
	if ignored(err) != nil {
		return err
	}
	return s.publish(ctx, id, nil)
}

// An email address is the key of an item, its guard, which contains the user's ID. A guard is valid only while that
// user has the address or is about to get it. A guard that a crashed process left is replaced. Every reservation has
// another nonce, so that a call replaces only the guard that it has read.

// reserve reserves an address for a user. It returns ErrConflict if another user has it.
func (s *Store) reserve(ctx context.Context, email, user string) error {
	k := addressKey(email)
	mine := item{"userId": str(user), nonceName: nonce(), "type": str("EMAIL")}
	for {
		err := s.put(ctx, k, mine, s.isFree().or(is("userId", "=", str(user))))
		if !errors.Is(err, errCondition) {
			return err
		}
		there, err := s.get(ctx, k)
		if err != nil {
			return err
		}
		if len(there) == 0 {
			continue
		}
		other, err := s.get(ctx, userKey(plain(there, "userId")))
		if err != nil {
			return err
		}
		if len(other) > 0 && (plain(other, "email") == email || plain(other, nextName) == email) {
			return store.ErrConflict
		}
		err = s.put(ctx, k, mine, is(nonceName, "=", str(plain(there, nonceName))))
		if !errors.Is(err, errCondition) {
			return err
		}
	}
}

// longestWait is the maximum pause before a change starts again.
const longestWait = 500 * time.Millisecond

// wait pauses before a change of a user that others have interrupted n times. The pause increases and is random:
// otherwise concurrent calls would interrupt each other indefinitely.
func wait(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	return store.Pause(ctx, min(10*time.Millisecond<<min(n, 10), longestWait))
}

// size returns the approximate size of an item in bytes.
func size(of item) (n int) {
	for name, value := range of {
		raw, _ := toJSON(value)
		n += len(name) + len(raw)
	}
	return n
}
