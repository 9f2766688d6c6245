package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"slices"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/sqlpool"
)

func (s *Store) readRecord(rows sqlpool.Rows) (*store.Record, error) {
	var key, user, value text
	r, expires := store.Record{}, timeColumn{engine: s.engine}
	if err := rows.Scan(&r.Kind, &key, &user, &value, &r.Version, &expires); err != nil {
		return nil, err
	}
	r.Key, r.UserID, r.Value, r.Expires = key.value, user.value, json.RawMessage(value.value), expires.at
	return &r, nil
}

// CreateRecord implements [store.RecordStore].
func (s *Store) CreateRecord(ctx context.Context, r *store.Record) error {
	const operation = "create record"
	const first = int64(1)
	expires, err := s.checkedRecord(r)
	if err != nil {
		return s.failed(ctx, operation, err, nil)
	}
	args := []any{r.Kind, r.Key, string(r.Value), first, expires}
	if r.UserID == "" {
		_, err = s.exec(ctx, operation, s.createUnownedRecord, args...)
	} else {
		err = s.execOne(ctx, operation, s.createRecord, append(args, s.id(r.UserID))...)
	}
	if err == nil {
		r.Version = first
	}
	return err
}

// checkedRecord validates a record and returns the value for its expires column.
func (s *Store) checkedRecord(r *store.Record) (any, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	return s.optionalTime(r.Expires)
}

// recordLookUp is a lookup of a record.
type recordLookUp struct {
	kind, key string
	found     *store.Record
	err       error // of this lookup only, when it ran in a batch
}

// Record implements [store.RecordStore]. Concurrent lookups may be combined into one query.
func (s *Store) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	const operation = "read record"
	if !store.IsRecordName(kind, key) {
		return nil, store.ErrNotFound
	}
	l := &recordLookUp{kind: kind, key: key}
	if s.named == nil || s.tx != nil {
		err := s.recordOne(ctx, l)
		return l.found, err
	}
	switch err := s.named.Do(ctx, l); {
	case err == nil:
		return l.found, l.err
	case err == ctx.Err(): //nolint:errorlint // from Do itself: errors of statements name the operation
		return nil, s.failed(ctx, operation, err, nil)
	default:
		return nil, err
	}
}

func (s *Store) recordOne(ctx context.Context, l *recordLookUp) (err error) {
	l.found, err = queryOne(ctx, s, "read record", s.record, s.readRecord, l.kind, l.key)
	return err
}

// recordAll is recordOne for several lookups. Those of the first one's kind are one query. Some may be for the same
// record: each gets its own copy.
func (s *Store) recordAll(ctx context.Context, all []*recordLookUp) error {
	same := make([]*recordLookUp, 0, len(all))
	for _, l := range all {
		if l.kind == all[0].kind {
			same = append(same, l)
		} else {
			l.err = s.recordOne(ctx, l)
		}
	}
	if len(same) == 1 {
		same[0].err = s.recordOne(ctx, same[0])
		return nil
	}
	err := s.recordsOfOneKind(ctx, same)
	if err == nil || ctx.Err() != nil || errors.Is(err, store.ErrUnavailable) {
		return err
	}
	for _, l := range same { // one of the keys may be a value that the database rejects
		l.err = s.recordOne(ctx, l)
	}
	return nil
}

func (s *Store) recordsOfOneKind(ctx context.Context, all []*recordLookUp) error {
	size := 0
	for groups[size] < len(all) {
		size++
	}
	args := make([]any, groups[size], groups[size]+1)
	for i := range args {
		args[i] = all[min(i, len(all)-1)].key // unused places repeat the last key
	}
	for _, l := range all {
		l.found, l.err = nil, store.ErrNotFound
	}
	args = append(args, all[0].kind)
	_, err := s.queryEach(ctx, "read records", s.recordsNamed[size], args, func(rows sqlpool.Rows) error {
		r, err := s.readRecord(rows)
		if err != nil {
			return err
		}
		hash := maphash.String(seed, r.Key)
		for _, l := range all { // by hash first, see seed
			if maphash.String(seed, l.key) == hash && l.key == r.Key && l.kind == r.Kind {
				l.found, l.err = r.Clone(), nil
			}
		}
		return nil
	})
	return err
}

// RecordPair implements [store.RecordPairReader] with one statement.
func (s *Store) RecordPair(ctx context.Context, first, second store.RecordName) (a, b *store.Record, err error) {
	if !store.IsRecordName(first.Kind, first.Key) || !store.IsRecordName(second.Kind, second.Key) {
		return nil, nil, ctx.Err()
	}
	list, err := query(ctx, s, "read records", s.recordPair, s.readRecord, first.Kind, first.Key, second.Kind, second.Key)
	return store.PickRecord(list, first), store.PickRecord(list, second), err
}

// UpdateRecord implements [store.RecordStore]. It is one update with a condition on the version.
func (s *Store) UpdateRecord(ctx context.Context, r *store.Record) error {
	const operation = "update record"
	expires, err := s.checkedRecord(r)
	if err != nil {
		return s.failed(ctx, operation, err, nil)
	}
	n, err := s.exec(ctx, operation, s.updateRecord, string(r.Value), r.Version+1, expires, r.Kind, r.Key, r.Version)
	switch {
	case err != nil:
		return err
	case n > 0:
		r.Version++
		return nil
	}
	if _, err := queryOne(ctx, s, operation, s.record, s.readRecord, r.Kind, r.Key); err != nil {
		return err
	}
	return s.failed(ctx, operation, store.ErrConflict, nil)
}

// DeleteRecord implements [store.RecordStore]. Of concurrent calls only one gets the record.
func (s *Store) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	const operation = "delete record"
	if !store.IsRecordName(kind, key) {
		return nil, store.ErrNotFound
	}
	if s.dialect.Returning {
		return queryOne(ctx, s, operation, s.takeRecord, s.readRecord, kind, key)
	}
	for {
		r, err := queryOne(ctx, s, operation, s.recordToTake, s.readRecord, kind, key)
		if err != nil {
			return nil, err
		}
		switch err := s.execOne(ctx, operation, s.takeRecord, kind, key, r.Version); {
		case err == nil:
			return r, nil
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
		// Another call has written or deleted it between the two statements.
	}
}

// UserRecords implements [store.RecordStore].
func (s *Store) UserRecords(ctx context.Context, userID, kind string) ([]*store.Record, error) {
	st, args := s.userRecords, []any{s.id(userID)}
	if kind != "" {
		st, args = s.userRecordsOfKind, append(args, kind)
	}
	list, err := query(ctx, s, "list records", st, s.readRecord, args...)
	slices.SortFunc(list, func(a, b *store.Record) int { // not by the database, which may use a language-specific order
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
	return list, err
}

// ListRecords implements [store.RecordLister] with one query over the primary key. The cursor is the last key.
func (s *Store) ListRecords(
	ctx context.Context, kind, prefix, cursor string, limit int,
) (list []*store.Record, next string, err error) {
	limit = store.PageLimit(limit)
	list, err = query(ctx, s, "list records", s.recordsOfKind, s.readRecord, kind, cursor, prefix, limit)
	if err == nil && len(list) == limit {
		next = list[limit-1].Key
	}
	return list, next, err
}

// DeleteUserRecords implements [store.RecordStore] with one statement.
func (s *Store) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	st, args := s.deleteUserRecords, []any{s.id(userID)}
	if kind != "" {
		st, args = s.deleteUserRecordsOfKind, append(args, kind)
	}
	n, err := s.exec(ctx, "delete records", st, args...)
	return int(n), err
}
