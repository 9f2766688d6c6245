package dynamodb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

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
