package keyvalue

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// recordName returns the name of a record in keys and sets.
func recordName(kind, key string) string { return kind + "/" + escaped(key) }

func encodeRecord(r *store.Record) (string, error) {
	if err := r.Check(); err != nil {
		return "", err
	}
	var o object
	o.text("kind", r.Kind)
	o.text("key", r.Key)
	o.text("userId", r.UserID)
	o.raw("version", strconv.AppendInt(nil, r.Version, 10))
	if !r.Expires.IsZero() {
		o.time("expires", r.Expires)
	}
	o.raw("value", r.Value)
	return o.done()
}

func decodeRecord(document string) (*store.Record, error) {
	d, err := decode[struct {
		Kind    string          `json:"kind"`
		Key     string          `json:"key"`
		UserID  string          `json:"userId"`
		Version int64           `json:"version"`
		Expires time.Time       `json:"expires"`
		Value   json.RawMessage `json:"value"`
	}](document)
	if err != nil {
		return nil, err
	}
	return &store.Record{
		Kind: d.Kind, Key: d.Key, UserID: d.UserID, Version: d.Version, Expires: d.Expires, Value: d.Value,
	}, nil
}

// CreateRecord implements [store.RecordStore].
func (s *Store) CreateRecord(ctx context.Context, r *store.Record) error {
	const operation = "create record"
	made := *r
	made.Version = 1
	document, err := encodeRecord(&made)
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	name, user, expires := recordName(r.Kind, r.Key), r.UserID, r.Expires
	_, err = s.run(ctx, operation, func(ctx context.Context, v *view) ([]string, error) {
		if err := v.makeRoom(ctx, name, user); err != nil {
			return nil, err
		}
		v.put(key("record", name), document)
		if user != "" {
			v.add(key("user-records", escaped(user)), name)
		}
		v.endRecord(name, time.Time{}, expires)
		return nil, nil
	})
	if err == nil {
		r.Version = made.Version
	}
	return err
}

// makeRoom checks that there is no record with this name, except one of a deleted user, and that the new owner exists.
func (v *view) makeRoom(ctx context.Context, name, user string) error {
	keys := []string{key("record", name)}
	if user != "" {
		keys = append(keys, key("user", escaped(user)))
	}
	values, err := v.get(ctx, keys...)
	if err != nil {
		return err
	}
	if values[0].Found {
		o, err := decode[owner](values[0].Text)
		switch {
		case err != nil:
			return err
		case o.UserID == "":
			return store.ErrConflict
		}
		if err := v.free(ctx, "record", name, values[0]); err != nil {
			return err
		}
	}
	if user != "" && !values[1].Found {
		return store.ErrNotFound
	}
	return nil
}

// endRecord updates the sets that DeleteExpired searches for a record. If the record now expires later, its previous
// end stays.
func (p *pending) endRecord(name string, before, now time.Time) {
	if now.IsZero() {
		p.drop(allRecords, name)
		return
	}
	p.add(allRecords, name)
	if before.IsZero() || now.Before(before) {
		p.add(allEnds, expiringRecords.end(now, name))
	}
}

// Record implements [store.RecordStore].
func (s *Store) Record(ctx context.Context, kind, name string) (*store.Record, error) {
	return one(ctx, s, "read record", decodeRecord, func(ctx context.Context, v *view) ([]string, error) {
		if !store.IsRecordName(kind, name) {
			return nil, store.ErrNotFound
		}
		return found(v.get(ctx, key("record", recordName(kind, name))))
	})
}

// RecordPair implements [store.RecordPairReader] with one read of two keys.
func (s *Store) RecordPair(ctx context.Context, first, second store.RecordName) (a, b *store.Record, err error) {
	if !store.IsRecordName(first.Kind, first.Key) || !store.IsRecordName(second.Kind, second.Key) {
		return nil, nil, ctx.Err()
	}
	keys := []string{
		key("record", recordName(first.Kind, first.Key)), key("record", recordName(second.Kind, second.Key)),
	}
	found, err := list(ctx, s, "read records", decodeRecord, func(ctx context.Context, v *view) (out []string, err error) {
		values, err := v.get(ctx, keys...)
		for _, value := range values {
			if value.Found {
				out = append(out, value.Text)
			}
		}
		return out, err
	})
	return store.PickRecord(found, first), store.PickRecord(found, second), err
}

// UpdateRecord implements [store.RecordStore].
func (s *Store) UpdateRecord(ctx context.Context, r *store.Record) error {
	const operation = "update record"
	if _, err := encodeRecord(r); err != nil {
		return s.failed(ctx, operation, err)
	}
	name, fresh := recordName(r.Kind, r.Key), r.Clone()
	_, err := s.run(ctx, operation, func(ctx context.Context, v *view) ([]string, error) {
		document, err := found(v.get(ctx, key("record", name)))
		if err != nil {
			return nil, err
		}
		old, err := decodeRecord(document[0])
		switch {
		case err != nil:
			return nil, err
		case old.Version != fresh.Version:
			return nil, store.ErrConflict
		}
		written := *fresh
		written.UserID, written.Version = old.UserID, old.Version+1
		text, err := encodeRecord(&written)
		if err != nil {
			return nil, err
		}
		v.put(key("record", name), text)
		v.endRecord(name, old.Expires, written.Expires)
		return nil, nil
	})
	if err == nil {
		r.Version++
	}
	return err
}

// DeleteRecord implements [store.RecordStore].
func (s *Store) DeleteRecord(ctx context.Context, kind, name string) (*store.Record, error) {
	return one(ctx, s, "delete record", decodeRecord, func(ctx context.Context, v *view) ([]string, error) {
		if !store.IsRecordName(kind, name) {
			return nil, store.ErrNotFound
		}
		at := recordName(kind, name)
		document, err := found(v.get(ctx, key("record", at)))
		if err != nil {
			return nil, err
		}
		o, err := decode[owner](document[0])
		if err != nil {
			return nil, err
		}
		v.removeOwned("record", escaped(o.UserID), at)
		return document, nil
	})
}

// UserRecords implements [store.RecordStore].
func (s *Store) UserRecords(ctx context.Context, userID, kind string) ([]*store.Record, error) {
	read := func(ctx context.Context, v *view) (out []string, err error) {
		if userID == "" || impossible(userID) {
			return nil, nil
		}
		err = v.pages(ctx, key("user-records", escaped(userID)), pageSize, func(names []string) error {
			values, err := v.peek(ctx, keys("record", ofKind(names, kind))...)
			for _, value := range values {
				if value.Found { // it may be deleted meanwhile
					out = append(out, value.Text)
				}
			}
			return err
		})
		return out, err
	}
	all, err := list(ctx, s, "list records", decodeRecord, read)
	slices.SortFunc(all, func(a, b *store.Record) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
	return all, err
}

// ListRecords implements [store.RecordLister]. It returns the records that expire first, then those without an expiry.
// The former are in an ordered set, so that their pages are full. The latter are found by a scan over the keys: on
// Redis over all keys of the database, so that pages may be empty. If all records of a kind expire, the caller can stop
// at the first page that is not full. In a transaction, ListRecords does not return pending writes.
func (s *Store) ListRecords(
	ctx context.Context, kind, prefix, cursor string, limit int,
) (all []*store.Record, next string, err error) {
	const operation = "list records"
	limit = store.PageLimit(limit)
	if impossible(kind, prefix, cursor) {
		return nil, "", s.failed(ctx, operation, ctx.Err())
	}
	begin := kind + "/"
	if prefix != "" {
		begin = recordName(kind, prefix)
	}
	all, err = list(ctx, s, operation, decodeRecord, func(ctx context.Context, _ *view) (out []string, err error) {
		var names []string
		if at, scanning := strings.CutPrefix(cursor, "scan "); scanning {
			names, next, err = s.scanRecords(ctx, begin, at, limit)
		} else {
			names, next, err = s.expiringNames(ctx, begin, cursor, limit)
		}
		if err != nil || len(names) == 0 {
			return nil, err
		}
		_, out, err = s.texts(ctx, keys("record", names))
		return out, err
	})
	return all, next, err
}

// expiringNames returns a page of the names of records that expire.
func (s *Store) expiringNames(ctx context.Context, begin, cursor string, limit int) ([]string, string, error) {
	page := Page{Set: allRecords, After: cursor, Limit: limit}
	if cursor == "" { // a text before all names with this beginning, and after all others that are smaller
		page.After = begin[:len(begin)-1] + string([]byte{begin[len(begin)-1] - 1, 0xff})
	}
	got, err := s.db.engine.Read(ctx, Query{Sets: []Page{page}})
	if err != nil {
		return nil, "", err
	}
	names := got.Names[0]
	if n := slices.IndexFunc(names, func(name string) bool { return !strings.HasPrefix(name, begin) }); n >= 0 {
		return names[:n], "scan ", nil
	}
	return names, cmp.Or(next(page, names), "scan "), nil
}

// scanRecords returns the names of further records, of those that expire too.
func (s *Store) scanRecords(ctx context.Context, begin, at string, limit int) ([]string, string, error) {
	names, next, err := s.db.engine.Scan(ctx, key("record", begin), at, limit)
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], key("record", ""))
	}
	if next != "" {
		next = "scan " + next
	}
	return names, next, err
}

// ofKind returns the names of records of one kind, or all if kind is empty.
func ofKind(names []string, kind string) []string {
	if kind == "" {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, kind+"/") })
}

// DeleteUserRecords implements [store.RecordStore]. Outside a transaction it deletes in batches.
func (s *Store) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	if userID == "" || impossible(userID) {
		return 0, nil
	}
	user := escaped(userID)
	pick := func(_ context.Context, _ *view, names []string) ([]string, error) { return ofKind(names, kind), nil }
	remove := func(ctx context.Context, v *view, names []string) (out []string, err error) {
		values, err := v.get(ctx, keys("record", names)...)
		for i, value := range values {
			if value.Found {
				v.removeOwned("record", user, names[i])
				out = append(out, names[i])
			}
		}
		return out, err
	}
	return s.inBatches(ctx, "delete records", key("user-records", user), pick, remove)
}
