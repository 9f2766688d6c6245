package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/latchkey-go/latchkey/core/store"
)

// A session holds a copy of its user's document, so that one query finds both. A session without a copy is in order:
// its user is read by a second query. What must never be found is a copy that is out of date.
//
// The document of a user has a revision. It is even while the user stays as it is, and odd while a call changes or
// deletes it. Every write of a user's document is conditional on the revision that was read, and raises it.
//
//	who changes                               who copies
//	1. raises the revision to odd             1. reads the user, whose revision is even
//	2. removes all copies                     2. copies into sessions without a copy, or with one of a lower revision
//	3. writes the user, the revision even     3. looks whether the revision is still that; if not, removes those copies
//	4. copies
//
// Either a copy was written before the revision was raised: then step 2 on the left removes it. Or it was written
// after: then step 3 on the right does. A new session has no copy at first; then the call that made it copies. A
// process that ends leaves sessions without copies, which is in order.
//
// The engine must change one document at a time, which MongoDB does. FerretDB 1 reads a document, changes it and writes
// it back: two changes of one user at once may mix there.

// copies changes users and keeps the copies of them that sessions hold.
type copies struct{ *collections }

// The fields of a session that hold a copy.
const (
	copyField     = "user"
	revisionField = "userRevision"
)

var withoutCopy = bson.D{{Key: "$unset", Value: bson.D{{Key: copyField, Value: ""}, {Key: revisionField, Value: ""}}}}

// revisionOf is the revision of a user's document. One that another program made has none, which is 0.
func revisionOf(doc bson.Raw) int64 {
	n, _ := doc.Lookup(ours, "revision").AsInt64OK()
	return n
}

func settled(revision int64) bool { return revision%2 == 0 }

// atRevision finds a user's document as long as no call has changed it.
func atRevision(id bson.ObjectID, revision int64) bson.D {
	if revision == 0 {
		return bson.D{{Key: "_id", Value: id}, {Key: "$or", Value: bson.A{
			bson.D{{Key: ours + ".revision", Value: int64(0)}},
			bson.D{{Key: ours + ".revision", Value: bson.D{{Key: "$exists", Value: false}}}},
		}}}
	}
	return bson.D{{Key: "_id", Value: id}, {Key: ours + ".revision", Value: revision}}
}

func raise(revision int64) bson.E { return bson.E{Key: ours + ".revision", Value: revision} }

// begin is steps 1 and 2 of a change. It returns the document and its revision, which is odd.
func (cs *copies) begin(ctx context.Context, id bson.ObjectID) (bson.Raw, int64, error) {
	for {
		doc, err := find(ctx, cs.users, byID(id))
		if err != nil {
			return nil, 0, err
		}
		now := revisionOf(doc)
		odd := now + 1 + now%2 // also after a process that did not come to its end
		result, err := cs.users.UpdateOne(ctx, atRevision(id, now), bson.D{{Key: "$set", Value: bson.D{raise(odd)}}})
		if err != nil {
			return nil, 0, err
		}
		if result.MatchedCount == 0 {
			continue // another call did
		}
		_, err = cs.sessions.UpdateMany(ctx, ofUser(id), withoutCopy)
		return doc, odd, err
	}
}

// change is a change of a user's document. what may be asked several times.
func (cs *copies) change(
	ctx context.Context, id bson.ObjectID, what func(doc bson.Raw) (set, unset bson.D, err error),
) error {
	for n := 0; ; n++ {
		if err := wait(ctx, n); err != nil {
			return err
		}
		doc, odd, err := cs.begin(ctx, id)
		if err != nil {
			return err
		}
		set, unset, refusal := what(doc)
		if refusal == nil {
			update := bson.D{{Key: "$set", Value: append(set, raise(odd+1))}}
			if len(unset) > 0 {
				update = append(update, bson.E{Key: "$unset", Value: unset})
			}
			result, err := cs.users.UpdateOne(ctx, atRevision(id, odd), update)
			switch {
			case mongo.IsDuplicateKeyError(err):
				refusal = err
			case err != nil:
				return err
			case result.MatchedCount == 0:
				continue // another call began a change
			}
		}
		if refusal != nil { // the user stays as it was
			_, err := cs.users.UpdateOne(ctx, atRevision(id, odd), bson.D{{Key: "$set", Value: bson.D{raise(odd + 1)}}})
			if err != nil {
				return errors.Join(refusal, err)
			}
		}
		return errors.Join(refusal, cs.publish(ctx, id))
	}
}

// publish copies a user into all sessions of theirs that have no copy or an older one. ErrNoDocuments: there is no such
// user.
func (cs *copies) publish(ctx context.Context, id bson.ObjectID) error {
	for {
		doc, err := find(ctx, cs.users, byID(id))
		if err != nil {
			return err
		}
		now := revisionOf(doc)
		if !settled(now) {
			return nil // the call that changes the user copies
		}
		older := append(ofUser(id), bson.E{Key: "$or", Value: bson.A{
			bson.D{{Key: revisionField, Value: bson.D{{Key: "$exists", Value: false}}}},
			bson.D{{Key: revisionField, Value: bson.D{{Key: "$lt", Value: now}}}},
		}})
		if _, err := cs.sessions.UpdateMany(ctx, older, bson.D{{Key: "$set", Value: copyOf(doc, now)}}); err != nil {
			return err
		}
		right, err := cs.check(ctx, id, now)
		if right || err != nil {
			return err
		}
	}
}

func copyOf(doc bson.Raw, revision int64) bson.D {
	return bson.D{{Key: copyField, Value: doc}, {Key: revisionField, Value: revision}}
}

// check is step 3 of the call that copies. It reports whether the copies stay.
func (cs *copies) check(ctx context.Context, id bson.ObjectID, revision int64) (right bool, err error) {
	doc, err := find(ctx, cs.users, byID(id))
	if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return false, err
	}
	if err == nil && revisionOf(doc) == revision {
		return true, nil
	}
	_, err = cs.sessions.UpdateMany(ctx, append(ofUser(id), bson.E{Key: revisionField, Value: revision}), withoutCopy)
	return false, err
}

// remove deletes a user and everything of theirs. The user goes last, so that a call that did not come to its end can
// be made again, and only at the revision at which the copies were removed. Then goes what came meanwhile.
func (cs *copies) remove(ctx context.Context, id bson.ObjectID) error {
	for {
		_, odd, err := cs.begin(ctx, id)
		if err != nil {
			return err
		}
		if err := cs.removeTheirs(ctx, id); err != nil {
			return err
		}
		result, err := cs.users.DeleteOne(ctx, atRevision(id, odd))
		if err != nil {
			return err
		}
		if result.DeletedCount == 1 {
			return cs.removeTheirs(ctx, id)
		}
	}
}

func (cs *copies) removeTheirs(ctx context.Context, id bson.ObjectID) error {
	for _, c := range cs.theirs() {
		if _, err := c.DeleteMany(ctx, ofUser(id)); err != nil {
			return err
		}
	}
	return nil
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
