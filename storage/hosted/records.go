package hosted

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
)

// errNoTable means that a table does not exist.
var errNoTable = errors.New("there is no such table, or no such branch: the README names the tables")

// fieldsOfRecord returns the fields of a plugin record that its writes change.
func fieldsOfRecord(r *store.Record, version int64) (record, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	fields := record{"value": string(r.Value), "version": version, "expires": nil}
	if !r.Expires.IsZero() {
		at, err := encodeTime(r.Expires)
		if err != nil {
			return nil, err
		}
		fields["expires"] = at
	}
	return fields, nil
}

func decodeRecord(r record) (*store.Record, error) {
	expires, err := r.time("expires")
	if err != nil {
		return nil, err
	}
	version, err := r.number("version")
	return &store.Record{
		Kind: r.text("kind"), Key: r.text("key"), UserID: r.link("user"),
		Value: json.RawMessage(r.text("value")), Expires: expires, Version: version,
	}, err
}

// CreateRecord implements [store.RecordStore].
func (s *Store) CreateRecord(ctx context.Context, r *store.Record) error {
	const operation = "create record"
	const first = int64(1)
	fields, err := fieldsOfRecord(r, first)
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	id, user := recordID("record", r.Kind, r.Key), r.UserID
	fields["kind"], fields["key"] = r.Kind, r.Key
	if user != "" {
		fields["user"] = linkTo(user)
	}
	_, err = s.run(ctx, operation, func(ctx context.Context, v *view) ([]record, error) {
		switch _, err := v.byID(ctx, s.tables.records, id); {
		case err == nil:
			return nil, store.ErrConflict
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
		if user != "" {
			if _, err := v.byID(ctx, s.tables.users, user); err != nil {
				return nil, err
			}
		}
		v.insert(s.tables.records, id, fields)
		return nil, nil
	})
	if err == nil {
		r.Version = first
	}
	return err
}

// Record implements [store.RecordStore].
func (s *Store) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	return one(ctx, s, "read record", decodeRecord, func(ctx context.Context, v *view) ([]record, error) {
		r, err := s.record(ctx, v, kind, key)
		return []record{r}, err
	})
}

func (s *Store) record(ctx context.Context, v *view, kind, key string) (record, error) {
	if !store.IsRecordName(kind, key) {
		return nil, store.ErrNotFound
	}
	return v.byID(ctx, s.tables.records, recordID("record", kind, key))
}

// UpdateRecord implements [store.RecordStore].
func (s *Store) UpdateRecord(ctx context.Context, r *store.Record) error {
	const operation = "update record"
	before := r.Version
	fields, err := fieldsOfRecord(r, before+1)
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	kind, key := r.Kind, r.Key
	_, err = s.run(ctx, operation, func(ctx context.Context, v *view) ([]record, error) {
		old, err := s.record(ctx, v, kind, key)
		if err != nil {
			return nil, err
		}
		switch version, err := old.number("version"); {
		case err != nil:
			return nil, err
		case version != before:
			return nil, store.ErrConflict
		}
		v.overwrite(s.tables.records, old, fields)
		return nil, nil
	})
	if err == nil {
		r.Version++
	}
	return err
}

// DeleteRecord implements [store.RecordStore].
func (s *Store) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	return one(ctx, s, "delete record", decodeRecord, func(ctx context.Context, v *view) ([]record, error) {
		r, err := s.record(ctx, v, kind, key)
		if err != nil {
			return nil, err
		}
		return []record{r}, s.removeAsRead(ctx, v, r)
	})
}

// ListRecords implements [store.RecordLister]. It reads a page of the kind, and selects those with the prefix. The
// cursor is that of the API.
func (s *Store) ListRecords(
	ctx context.Context, kind, prefix, cursor string, limit int,
) (all []*store.Record, next string, err error) {
	const operation = "list records"
	if impossible(kind) {
		return nil, "", s.failed(ctx, operation, ctx.Err())
	}
	page, err := list(ctx, s, operation, decodeRecord, func(ctx context.Context, v *view) ([]record, error) {
		size := map[string]any{"size": min(store.PageLimit(limit), pageSize)}
		body := map[string]any{"filter": map[string]any{"kind": kind}, "columns": []string{"*"}, "page": size}
		if cursor != "" {
			size["after"] = cursor
			delete(body, "filter")
		}
		records, more, err := v.ask(ctx, s.tables.records, body)
		if next = ""; more != nil {
			next, _ = more["page"].(map[string]any)["after"].(string)
		}
		return records, err
	})
	for _, r := range page {
		if strings.HasPrefix(r.Key, prefix) {
			all = append(all, r)
		}
	}
	return all, next, err
}

// removeAsRead deletes a record if it has not changed since it was read. A deletion cannot have a version condition, so
// an update with one precedes it.
func (s *Store) removeAsRead(_ context.Context, v *view, r record) error {
	v.overwrite(s.tables.records, r, record{"version": r["version"]})
	v.remove(s.tables.records, r.id())
	return nil
}

// recordsOf reads the records of a user, or only those of one kind.
func (s *Store) recordsOf(userID, kind string) step {
	return func(ctx context.Context, v *view) ([]record, error) {
		filter := map[string]any{"user.id": userID}
		if kind != "" {
			filter["kind"] = kind
		}
		if !possibleID(userID) || impossible(kind) {
			return nil, nil
		}
		return v.query(ctx, s.tables.records, filter)
	}
}

// UserRecords implements [store.RecordStore].
func (s *Store) UserRecords(ctx context.Context, userID, kind string) ([]*store.Record, error) {
	all, err := list(ctx, s, "list records", decodeRecord, s.recordsOf(userID, kind))
	slices.SortFunc(all, func(a, b *store.Record) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
	return all, err
}

// DeleteUserRecords implements [store.RecordStore]. Outside a transaction it deletes in batches.
func (s *Store) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	return s.removeAll(ctx, "delete records", s.recordsOf(userID, kind), s.removeAsRead)
}

// orNone returns a step that finds nothing if the table does not exist: a database may be older than the table of
// records.
func orNone(find step) step {
	return func(ctx context.Context, v *view) ([]record, error) {
		list, err := find(ctx, v)
		if errors.Is(err, errNoTable) {
			return nil, nil
		}
		return list, err
	}
}
