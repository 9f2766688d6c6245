package memory

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
)

type recordKey struct{ kind, key string }

// CreateRecord implements [store.RecordStore].
func (s *Store) CreateRecord(ctx context.Context, r *store.Record) error {
	if err := r.Check(); err != nil {
		return err
	}
	return s.locked(ctx, func(d *data) error {
		name := recordKey{r.Kind, r.Key}
		if _, taken := d.records[name]; taken {
			return store.ErrConflict
		}
		if r.UserID != "" {
			if _, err := get(d.users, r.UserID); err != nil {
				return err
			}
		}
		r.Version = 1
		d.records[name] = *r.Clone()
		return nil
	})
}

// Record implements [store.RecordStore].
func (s *Store) Record(ctx context.Context, kind, key string) (r *store.Record, err error) {
	err = s.locked(ctx, func(d *data) error {
		row, ok := d.records[recordKey{kind, key}]
		if !ok {
			return store.ErrNotFound
		}
		r = row.Clone()
		return nil
	})
	return r, err
}

// RecordPair implements [store.RecordPairReader].
func (s *Store) RecordPair(ctx context.Context, first, second store.RecordName) (a, b *store.Record, err error) {
	if !store.IsRecordName(first.Kind, first.Key) || !store.IsRecordName(second.Kind, second.Key) {
		return nil, nil, ctx.Err()
	}
	err = s.locked(ctx, func(d *data) error {
		for name, found := range map[store.RecordName]**store.Record{first: &a, second: &b} {
			if row, ok := d.records[recordKey{name.Kind, name.Key}]; ok {
				*found = row.Clone()
			}
		}
		if first == second {
			a = b.Clone()
		}
		return nil
	})
	return a, b, err
}

// UpdateRecord implements [store.RecordStore].
func (s *Store) UpdateRecord(ctx context.Context, r *store.Record) error {
	if err := r.Check(); err != nil {
		return err
	}
	return s.locked(ctx, func(d *data) error {
		name := recordKey{r.Kind, r.Key}
		old, err := get(d.records, name)
		switch {
		case err != nil:
			return err
		case old.Version != r.Version:
			return store.ErrConflict
		}
		r.Version++
		row := r.Clone()
		row.UserID = old.UserID
		d.records[name] = *row
		return nil
	})
}

// DeleteRecord implements [store.RecordStore].
func (s *Store) DeleteRecord(ctx context.Context, kind, key string) (r *store.Record, err error) {
	err = s.locked(ctx, func(d *data) error {
		name := recordKey{kind, key}
		r, err = get(d.records, name)
		delete(d.records, name)
		return err
	})
	return r, err
}

// UserRecords implements [store.RecordStore].
func (s *Store) UserRecords(ctx context.Context, userID, kind string) (out []*store.Record, err error) {
	err = s.locked(ctx, func(d *data) error {
		for _, r := range d.records {
			if belongs(r, userID, kind) {
				out = append(out, r.Clone())
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b *store.Record) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
	return out, err
}

// DeleteUserRecords implements [store.RecordStore].
func (s *Store) DeleteUserRecords(ctx context.Context, userID, kind string) (n int, err error) {
	err = s.locked(ctx, func(d *data) error {
		n = d.deleteRecords(func(r store.Record) bool { return belongs(r, userID, kind) })
		return nil
	})
	return n, err
}

// ListRecords implements [store.RecordLister], in the order of the keys. The cursor is the last key.
func (s *Store) ListRecords(
	ctx context.Context, kind, prefix, cursor string, limit int,
) (out []*store.Record, next string, err error) {
	err = s.locked(ctx, func(d *data) error {
		var keys []string
		names := func(yield func(key string) bool) {
			for name := range d.records {
				if name.kind == kind && !yield(name.key) {
					return
				}
			}
		}
		keys, next = page(names, prefix, cursor, limit)
		for _, key := range keys {
			r := d.records[recordKey{kind, key}]
			out = append(out, r.Clone())
		}
		return nil
	})
	return out, next, err
}

// page returns the first keys with the prefix after the cursor, in their order, and the last of them as the cursor if
// there are more.
func page(all iter.Seq[string], prefix, cursor string, limit int) (keys []string, next string) {
	limit = store.PageLimit(limit)
	last := "" // the greatest key that can be on the page, or empty if that is not known yet
	for key := range all {
		if key <= cursor || last != "" && key > last || !strings.HasPrefix(key, prefix) {
			continue
		}
		if keys = append(keys, key); len(keys) > 2*limit {
			slices.Sort(keys)
			keys, last = keys[:limit+1], keys[limit]
		}
	}
	slices.Sort(keys)
	if len(keys) <= limit {
		return keys, ""
	}
	return keys[:limit], keys[limit-1]
}

// belongs reports whether a record belongs to a user and has this kind. An empty kind means any.
func belongs(r store.Record, userID, kind string) bool {
	return userID != "" && r.UserID == userID && (kind == "" || r.Kind == kind)
}

// deleteRecords deletes the records that which selects, and returns their number.
func (d *data) deleteRecords(which func(store.Record) bool) int {
	n := len(d.records)
	maps.DeleteFunc(d.records, func(_ recordKey, r store.Record) bool { return which(r) })
	return n - len(d.records)
}
