package dynamodb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkey-go/latchkey/core/store"
)

// recordName returns the name of a record in keys. No kind contains the separator.
func recordName(kind, key string) string { return kind + "#" + key }

func recordOf(of item) (*store.Record, error) {
	r := &store.Record{
		Kind: plain(of, "kind"), Key: plain(of, "recordKey"), UserID: plain(of, "userId"),
		Value: json.RawMessage(plain(of, "value")),
	}
	var err error
	if of["expires"] != nil {
		if r.Expires, err = fromSeconds(of, "expires"); err != nil {
			return nil, err
		}
	}
	r.Version, err = whole(of, "version")
	return r, err
}

// recordValues returns the attributes of a record that its writes change.
func recordValues(r *store.Record, version int64) item {
	of := item{"value": str(string(r.Value)), "version": num(strconv.FormatInt(version, 10))}
	if !r.Expires.IsZero() {
		of["expires"] = seconds(r.Expires)
	}
	return of
}

// CreateRecord implements [store.RecordStore].
func (s *Store) CreateRecord(ctx context.Context, r *store.Record) error {
	const first = 1
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
	name := recordName(r.Kind, r.Key)
	of := merged(recordValues(r, version), item{"type": str("REC"), "kind": str(r.Kind), "recordKey": str(r.Key)})
	if r.UserID == "" {
		if r.Kind == queuedKind {
			of = s.indexed(of, "REC#"+r.Kind, "REC#"+r.Key)
		}
		return s.addUnowned(ctx, recordKey(name), of)
	}
	entry := item{}
	if ends := of["expires"]; ends != nil {
		entry[untilName] = ends
	}
	return s.add(ctx, r.UserID, recordEntry(r.UserID, name), recordKey(name), entry, of)
}

// addUnowned stores a record without a user. It replaces an existing record whose user does not exist.
func (s *Store) addUnowned(ctx context.Context, k key, attributes item) error {
	mine := item{nonceName: nonce()}
	for {
		err := s.put(ctx, k, merged(attributes, mine), s.isFree())
		if !errors.Is(err, errCondition) {
			return err
		}
		there, err := s.get(ctx, k)
		if err != nil {
			return err
		}
		if plain(there, nonceName) == plain(mine, nonceName) {
			return nil // the client retried, and the first attempt had succeeded
		}
		removed, err := s.removeOrphan(ctx, k, there)
		if err != nil {
			return err
		}
		if !removed {
			return store.ErrConflict
		}
	}
}

// Record implements [store.RecordStore] with one read.
func (s *Store) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	const operation = "read record"
	if !store.IsRecordName(kind, key) {
		return nil, cmp.Or(failed(ctx, operation, ctx.Err()), store.ErrNotFound)
	}
	of, err := s.must(ctx, recordKey(recordName(kind, key)))
	return decoded(ctx, operation, of, err, recordOf)
}

// RecordPair implements [store.RecordPairReader] with one request.
func (s *Store) RecordPair(ctx context.Context, first, second store.RecordName) (a, b *store.Record, err error) {
	const operation = "read records"
	if !store.IsRecordName(first.Kind, first.Key) || !store.IsRecordName(second.Kind, second.Key) {
		return nil, nil, failed(ctx, operation, ctx.Err())
	}
	keys := []key{recordKey(recordName(first.Kind, first.Key)), recordKey(recordName(second.Kind, second.Key))}
	if first == second { // the same key twice is an error
		keys = keys[:1]
	}
	items, err := s.getAll(ctx, keys)
	list, err := allDecoded(ctx, operation, items, err, recordOf)
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
	k, mine := recordKey(recordName(r.Kind, r.Key)), nonce()
	set := merged(recordValues(r, r.Version+1), item{changeName: mine})
	var remove []string
	if r.Expires.IsZero() {
		remove = []string{"expires"}
	}
	err := s.update(ctx, k, set, remove, is("version", "=", num(strconv.FormatInt(r.Version, 10))))
	if !errors.Is(err, errCondition) {
		return err
	}
	there, err := s.must(ctx, k)
	switch {
	case err != nil:
		return err
	case plain(there, changeName) == plain(set, changeName):
		return nil // the client retried, and the first attempt had succeeded
	}
	return store.ErrConflict
}

// DeleteRecord implements [store.RecordStore]. Of concurrent calls only one gets the record.
func (s *Store) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	const operation = "delete record"
	if !store.IsRecordName(kind, key) {
		return nil, cmp.Or(failed(ctx, operation, ctx.Err()), store.ErrNotFound)
	}
	old, err := s.takeRecord(ctx, recordName(kind, key))
	return decoded(ctx, operation, old, err, recordOf)
}

// queuedKind is the kind of core's outbox, which every process lists once a minute. Its records are in the index of
// Auth.js, so that listing them does not read the table.
const queuedKind = "outbox"

// ListRecords implements [store.RecordLister]. It reads the whole table, with the corresponding cost, page by page. The
// cursor is the key of the last item that it read. Only records of core's outbox are listed from the index, which is
// eventually consistent.
func (s *Store) ListRecords(
	ctx context.Context, kind, prefix, cursor string, limit int,
) (all []*store.Record, next string, err error) {
	const operation = "list records"
	limit = store.PageLimit(limit)
	var items []item
	var last item
	if kind == queuedKind {
		items, last, err = s.queued(ctx, prefix, cursor, limit)
	} else {
		matches := is("type", "=", str("REC")).and(is("kind", "=", str(kind)))
		items, last, err = s.scanned(ctx, matches, s.cursorKey(cursor), limit)
		items = slices.DeleteFunc(items, func(of item) bool { return !strings.HasPrefix(plain(of, "recordKey"), prefix) })
	}
	all, err = allDecoded(ctx, operation, items, err, recordOf)
	if err == nil && len(last) > 0 {
		next = s.keyOf(last).partition + "\n" + s.keyOf(last).sort
	}
	return all, next, err
}

// scanned reads the part of the table after a key, and returns the items that match. limit is the number of items that
// it reads. last is nil at the end of the table.
func (s *Store) scanned(
	ctx context.Context, matches condition, after item, limit int,
) (items []item, last item, err error) {
	in := &dynamodb.ScanInput{
		TableName: &s.layout.Table, ConsistentRead: aws.Bool(true), Limit: aws.Int32(int32(limit)), //nolint:gosec // ≤ 1,000
		ExclusiveStartKey: after, FilterExpression: matches.expression(),
		ExpressionAttributeNames: matches.names, ExpressionAttributeValues: matches.values,
	}
	page, err := s.client.Scan(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	return page.Items, page.LastEvaluatedKey, nil
}

// cursorKey returns the key of an item in a cursor, which is its partition and sort key with a line break in between.
// It returns nil for the empty cursor.
func (s *Store) cursorKey(cursor string) item {
	partition, sort, ok := strings.Cut(cursor, "\n")
	if !ok {
		return nil
	}
	return s.key(key{partition, sort})
}

// queued reads a page of the outbox from the index.
func (s *Store) queued(ctx context.Context, prefix, cursor string, limit int) (items []item, last item, err error) {
	in := &dynamodb.QueryInput{
		TableName: &s.layout.Table, IndexName: &s.layout.Index, Limit: aws.Int32(int32(limit)), //nolint:gosec // ≤ 1,000
		KeyConditionExpression: aws.String("#kind = :kind AND begins_with(#name, :name)"),
		ExpressionAttributeNames: map[string]string{
			"#kind": s.layout.IndexPartitionKey, "#name": s.layout.IndexSortKey,
		},
		ExpressionAttributeValues: item{":kind": str("REC#" + queuedKind), ":name": str("REC#" + prefix)},
	}
	if at := s.cursorKey(cursor); at != nil {
		_, name := cut(s.keyOf(at).partition)
		in.ExclusiveStartKey = s.indexed(at, "REC#"+queuedKind, "REC#"+strings.TrimPrefix(name, recordName(queuedKind, "")))
	}
	page, err := s.client.Query(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	return page.Items, page.LastEvaluatedKey, nil
}

// takeRecord deletes a record, and its entry if it belongs to a user.
func (s *Store) takeRecord(ctx context.Context, name string) (item, error) {
	old, err := s.remove(ctx, recordKey(name), condition{})
	switch {
	case err != nil:
		return nil, err
	case len(old) == 0:
		return nil, store.ErrNotFound
	case plain(old, "userId") == "":
		return old, nil
	}
	return old, s.discard(ctx, recordEntry(plain(old, "userId"), name), old)
}

// recordsOf reads the records of a user, or only those of one kind.
func (s *Store) recordsOf(ctx context.Context, userID, kind string) ([]item, error) {
	if userID == "" {
		return nil, ctx.Err()
	}
	prefix := "REC#"
	if kind != "" {
		prefix = recordEntry("", recordName(kind, "")).sort
	}
	return s.list(ctx, userID, prefix)
}

// UserRecords implements [store.RecordStore].
func (s *Store) UserRecords(ctx context.Context, userID, kind string) (all []*store.Record, err error) {
	const operation = "list records"
	items, err := s.recordsOf(ctx, userID, kind)
	all, err = allDecoded(ctx, operation, items, err, recordOf)
	slices.SortFunc(all, func(a, b *store.Record) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
	return all, err
}

// DeleteUserRecords implements [store.RecordStore] with two requests for each record.
func (s *Store) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	items, err := s.recordsOf(ctx, userID, kind)
	return takeAll(ctx, "delete records", items, err, func(of item) error {
		_, name := cut(s.keyOf(of).partition)
		_, err := s.takeRecord(ctx, name)
		return err
	})
}
