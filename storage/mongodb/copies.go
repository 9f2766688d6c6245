package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/latchkey-go/latchkey/core/store"
)

// A session contains a copy of its user's document, so that one query returns both. A session without a copy is valid:
// a second query reads its user. An outdated copy must never be returned.
//
// The document of a user has a revision. It is even while the user is stable, and odd while a call changes or deletes
// the user. Every write of a user's document has the condition that the revision has not changed since it was read, and
// increases it.
//
//	a call that changes the user              a call that copies the user
//	1. makes the revision odd                 1. reads the user with an even revision
//	2. deletes all copies                     2. copies into sessions without a copy or with a lower revision
//	3. writes the user, makes it even         3. reads the revision again; if it has changed, deletes those copies
//	4. copies the user
//
// If a copy is written before the revision becomes odd, step 2 on the left deletes it. If it is written later, step 3
// on the right deletes it. A new session has no copy at first; then the call that created it copies the user. A process
// that crashes leaves sessions without copies, which are valid.
//
// The database must change a document atomically, as MongoDB does. FerretDB 1 reads a document, changes it and writes
// it back, so that two concurrent changes of one user may be mixed.

// The fields of a session's copy.
const (
	copyField     = "user"
	revisionField = "userRevision"
)

var withoutCopy = bson.D{{Key: "$unset", Value: bson.D{{Key: copyField, Value: ""}, {Key: revisionField, Value: ""}}}}

// revisionOf returns the revision of a user's document. It is 0 if another program created the document.
func revisionOf(doc bson.Raw) int64 {
	n, _ := doc.Lookup(privateField, "revision").AsInt64OK()
	return n
}

func settled(revision int64) bool { return revision%2 == 0 }

// atRevision selects a user's document while no call has changed it.
func atRevision(id bson.ObjectID, revision int64) bson.D {
	if revision == 0 {
		return bson.D{{Key: "_id", Value: id}, {Key: "$or", Value: bson.A{
			bson.D{{Key: privateField + ".revision", Value: int64(0)}},
			bson.D{{Key: privateField + ".revision", Value: bson.D{{Key: "$exists", Value: false}}}},
		}}}
	}
	return bson.D{{Key: "_id", Value: id}, {Key: privateField + ".revision", Value: revision}}
}

func raise(revision int64) bson.E { return bson.E{Key: privateField + ".revision", Value: revision} }

// begin runs steps 1 and 2 of a change. It returns the document and its revision, which is odd.
func (s *Store) begin(ctx context.Context, id bson.ObjectID) (bson.Raw, int64, error) {
	for {
		doc, err := find(ctx, s.users, byID(id))
		if err != nil {
			return nil, 0, err
		}
		now := revisionOf(doc)
		odd := now + 1 + now%2 // even after a process that crashed during a change
		result, err := s.users.UpdateOne(ctx, atRevision(id, now), bson.D{{Key: "$set", Value: bson.D{raise(odd)}}})
		if err != nil {
			return nil, 0, err
		}
		if result.MatchedCount == 0 {
			continue // another call has started a change
		}
		_, err = s.sessions.UpdateMany(ctx, ofUser(id), withoutCopy)
		return doc, odd, err
	}
}

// change runs all steps of a change. It may call what several times.
func (s *Store) change(
	ctx context.Context, id bson.ObjectID, what func(doc bson.Raw) (set, unset bson.D, err error),
) error {
	for n := 0; ; n++ {
		if err := wait(ctx, n); err != nil {
			return err
		}
		doc, odd, err := s.begin(ctx, id)
		if err != nil {
			return err
		}
		set, unset, refusal := what(doc)
		if refusal == nil {
			update := bson.D{{Key: "$set", Value: append(set, raise(odd+1))}}
			if len(unset) > 0 {
				update = append(update, bson.E{Key: "$unset", Value: unset})
			}
			result, err := s.users.UpdateOne(ctx, atRevision(id, odd), update)
			switch {
			case mongo.IsDuplicateKeyError(err):
				refusal = err
			case err != nil:
				return err
			case result.MatchedCount == 0:
				continue // another call has started a change
			}
		}
		if refusal != nil { // the user stays unchanged
			_, err := s.users.UpdateOne(ctx, atRevision(id, odd), bson.D{{Key: "$set", Value: bson.D{raise(odd + 1)}}})
			if err != nil {
				return errors.Join(refusal, err)
			}
		}
		return errors.Join(refusal, s.publish(ctx, id))
	}
}

// publish copies a user into all sessions of the user that have no copy or an older one. It returns ErrNoDocuments if
// the user does not exist.
func (s *Store) publish(ctx context.Context, id bson.ObjectID) error {
	for {
		doc, err := find(ctx, s.users, byID(id))
		if err != nil {
			return err
		}
		now := revisionOf(doc)
		if !settled(now) {
			return nil // the call that changes the user will copy
		}
		older := append(ofUser(id), bson.E{Key: "$or", Value: bson.A{
			bson.D{{Key: revisionField, Value: bson.D{{Key: "$exists", Value: false}}}},
			bson.D{{Key: revisionField, Value: bson.D{{Key: "$lt", Value: now}}}},
		}})
		if _, err := s.sessions.UpdateMany(ctx, older, bson.D{{Key: "$set", Value: copyOf(doc, now)}}); err != nil {
			return err
		}
		right, err := s.check(ctx, id, now)
		if right || err != nil {
			return err
		}
	}
}

func copyOf(doc bson.Raw, revision int64) bson.D {
	return bson.D{{Key: copyField, Value: doc}, {Key: revisionField, Value: revision}}
}

// check is step 3 of a call that copies. It reports whether the copies are valid.
func (s *Store) check(ctx context.Context, id bson.ObjectID, revision int64) (right bool, err error) {
	doc, err := find(ctx, s.users, byID(id))
	if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return false, err
	}
	if err == nil && revisionOf(doc) == revision {
		return true, nil
	}
	_, err = s.sessions.UpdateMany(ctx, append(ofUser(id), bson.E{Key: revisionField, Value: revision}), withoutCopy)
	return false, err
}

// remove deletes a user and everything that belongs to the user. The user's document is deleted last, so that an
// interrupted call can be repeated, and only if the revision has not changed since the copies were deleted. Then remove
// deletes what was added meanwhile.
func (s *Store) remove(ctx context.Context, id bson.ObjectID) error {
	for {
		_, odd, err := s.begin(ctx, id)
		if err != nil {
			return err
		}
		if err := s.removeTheirs(ctx, id); err != nil {
			return err
		}
		result, err := s.users.DeleteOne(ctx, atRevision(id, odd))
		if err != nil {
			return err
		}
		if result.DeletedCount == 1 {
			return s.removeTheirs(ctx, id)
		}
	}
}

func (s *Store) removeTheirs(ctx context.Context, id bson.ObjectID) error {
	for _, c := range s.ownedCollections() {
		if _, err := c.DeleteMany(ctx, ofUser(id)); err != nil {
			return err
		}
	}
	return nil
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

// ownedCollections returns the collections with documents that belong to a user.
func (s *Store) ownedCollections() []*mongo.Collection {
	return []*mongo.Collection{s.sessions, s.accounts, s.authenticators, s.records}
}
