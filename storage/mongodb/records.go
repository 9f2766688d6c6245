package mongodb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkey-go/latchkey/core/store"
)

// The _id of a record's document is its name, kind/key, so that it is unique. The field made distinguishes a record
// from a later one with the same name, and version distinguishes its writes.

func byName(kind, key string) bson.D { return bson.D{{Key: "_id", Value: kind + "/" + key}} }

// as selects a document if it has not changed since it was read.
func as(doc bson.Raw) bson.D {
	return bson.D{
		{Key: "_id", Value: doc.Lookup("_id")}, {Key: "made", Value: doc.Lookup("made")},
		{Key: "version", Value: doc.Lookup("version")},
	}
}

func recordOf(doc bson.Raw) (*store.Record, error) {
	var r store.Record
	var value string
	for name, into := range map[string]*string{"kind": &r.Kind, "key": &r.Key, "value": &value} {
		var err error
		if *into, _, err = text(doc, name); err != nil {
			return nil, err
		}
	}
	r.Value = json.RawMessage(value)
	if doc.Lookup("userId").Type != 0 {
		id, err := owner(doc, "userId")
		if err != nil {
			return nil, err
		}
		r.UserID = id.Hex()
	}
	var err error
	if r.Expires, err = moment(doc, "expires"); err != nil {
		return nil, err
	}
	r.Version, err = whole(doc, "version")
	return &r, err
}

// CreateRecord implements [store.RecordStore].
func (s *Store) CreateRecord(ctx context.Context, r *store.Record) error {
	const first = int64(1)
	err := r.Check()
	if err == nil {
		err = s.createRecord(ctx, r, first)
	}
	if err == nil {
		r.Version = first
	}
	return failed(ctx, "create record", err)
}

func (s *Store) createRecord(ctx context.Context, r *store.Record, version int64) error {
	made := bson.NewObjectID()
	d := append(byName(r.Kind, r.Key), bson.D{
		{Key: "made", Value: made}, {Key: "kind", Value: r.Kind}, {Key: "key", Value: r.Key},
		{Key: "value", Value: string(r.Value)}, {Key: "version", Value: version},
	}...)
	if !r.Expires.IsZero() {
		d = append(d, bson.E{Key: "expires", Value: milliseconds(r.Expires)})
	}
	var user bson.ObjectID
	if r.UserID != "" {
		var err error
		if user, err = objectID(r.UserID); err != nil {
			return err
		}
		if err := s.mustExist(ctx, user); err != nil {
			return err
		}
		d = append(d, ofUser(user)...)
	}
	_, err := s.records.InsertOne(ctx, d)
	if mongo.IsDuplicateKeyError(err) && s.removedOrphan(ctx, s.records, byName(r.Kind, r.Key)) {
		_, err = s.records.InsertOne(ctx, d)
	}
	if err != nil || r.UserID == "" {
		return err
	}
	gone := s.mustExist(ctx, user)
	if errors.Is(gone, store.ErrNotFound) { // deleted meanwhile
		mine := append(byName(r.Kind, r.Key), bson.E{Key: "made", Value: made})
		if _, err := s.records.DeleteOne(ctx, mine); err != nil {
			return err
		}
	}
	return gone
}

// Record implements [store.RecordStore].
func (s *Store) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	const operation = "read record"
	if !store.IsRecordName(kind, key) {
		return nil, none(ctx, operation)
	}
	doc, err := find(ctx, s.records, byName(kind, key))
	return decoded(ctx, operation, doc, err, recordOf)
}

// RecordPair implements [store.RecordPairReader] with one query over the index of _id.
func (s *Store) RecordPair(ctx context.Context, first, second store.RecordName) (a, b *store.Record, err error) {
	const operation = "read records"
	if !store.IsRecordName(first.Kind, first.Key) || !store.IsRecordName(second.Kind, second.Key) {
		return nil, nil, failed(ctx, operation, ctx.Err())
	}
	names := bson.A{first.Kind + "/" + first.Key, second.Kind + "/" + second.Key}
	list, err := listed(ctx, operation, s.records, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: names}}}},
		options.Find(), recordOf)
	return store.PickRecord(list, first), store.PickRecord(list, second), err
}

// UpdateRecord implements [store.RecordStore]. It is one update with a condition on the version.
func (s *Store) UpdateRecord(ctx context.Context, r *store.Record) error {
	err := r.Check()
	if err == nil {
		err = s.updateRecord(ctx, r)
	}
	if err == nil {
		r.Version++
	}
	return failed(ctx, "update record", err)
}

func (s *Store) updateRecord(ctx context.Context, r *store.Record) error {
	set := bson.D{{Key: "value", Value: string(r.Value)}, {Key: "version", Value: r.Version + 1}}
	update := bson.D{{Key: "$unset", Value: bson.D{{Key: "expires", Value: ""}}}}
	if !r.Expires.IsZero() {
		set, update = append(set, bson.E{Key: "expires", Value: milliseconds(r.Expires)}), nil
	}
	read := append(byName(r.Kind, r.Key), bson.E{Key: "version", Value: r.Version})
	result, err := s.records.UpdateOne(ctx, read, append(update, bson.E{Key: "$set", Value: set}))
	if err != nil || result.MatchedCount > 0 {
		return err
	}
	if _, err := find(ctx, s.records, byName(r.Kind, r.Key)); err != nil {
		return err
	}
	return store.ErrConflict
}

// DeleteRecord implements [store.RecordStore]. Of concurrent calls only one gets the record: the one whose deletion the
// database counts.
func (s *Store) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	const operation = "delete record"
	if !store.IsRecordName(kind, key) {
		return nil, none(ctx, operation)
	}
	for {
		doc, err := find(ctx, s.records, byName(kind, key))
		if err != nil {
			return nil, failed(ctx, operation, err)
		}
		result, err := s.records.DeleteOne(ctx, as(doc))
		if err != nil {
			return nil, failed(ctx, operation, err)
		}
		if result.DeletedCount > 0 {
			r, err := recordOf(doc)
			return r, failed(ctx, operation, err)
		}
		// Another call has written or deleted it between the two requests.
	}
}

// ofKind selects the records of a user, or only those of one kind.
func ofKind(user bson.ObjectID, kind string) bson.D {
	filter := ofUser(user)
	if kind != "" {
		filter = append(filter, bson.E{Key: "kind", Value: kind})
	}
	return filter
}

// UserRecords implements [store.RecordStore].
func (s *Store) UserRecords(ctx context.Context, userID, kind string) ([]*store.Record, error) {
	const operation = "list records"
	id, err := objectID(userID)
	if err != nil || !possible(kind) {
		return nil, failed(ctx, operation, ctx.Err())
	}
	all, err := listed(ctx, operation, s.records, ofKind(id, kind), options.Find(), recordOf)
	slices.SortFunc(all, func(a, b *store.Record) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
	return all, err
}

// ListRecords implements [store.RecordLister] with one query over the index of _id. The cursor is the last key.
func (s *Store) ListRecords(
	ctx context.Context, kind, prefix, cursor string, limit int,
) (list []*store.Record, next string, err error) {
	const operation = "list records"
	limit = store.PageLimit(limit)
	if !possible(kind) || !possible(prefix) || !possible(cursor) {
		return nil, "", failed(ctx, operation, ctx.Err())
	}
	after := bson.D{{Key: "$gt", Value: kind + "/" + cursor}, {Key: "$lt", Value: kind + "0"}} // "0" follows "/"
	if prefix > cursor {
		after[0] = bson.E{Key: "$gte", Value: kind + "/" + prefix}
	}
	if end := store.PrefixEnd(prefix); end != "" {
		after[1].Value = kind + "/" + end
	}
	list, err = listed(ctx, operation, s.records, bson.D{{Key: "_id", Value: after}},
		options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(int64(limit)), recordOf)
	if err == nil && len(list) == limit {
		next = list[limit-1].Key
	}
	return list, next, err
}

// DeleteUserRecords implements [store.RecordStore] with one command.
func (s *Store) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	const operation = "delete records"
	id, err := objectID(userID)
	if err != nil || !possible(kind) {
		return 0, failed(ctx, operation, ctx.Err())
	}
	return deleteAll(ctx, operation, s.records, ofKind(id, kind))
}
