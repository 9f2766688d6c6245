// Package records passes the records of a store to packages that cannot import core/store.
package records

import (
	"context"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/recordstore"
)

// Of returns the records of s, or nil for nil.
func Of(s store.RecordStore) recordstore.Store {
	if s == nil {
		return nil
	}
	return records{s}
}

type records struct{ of store.RecordStore }

// CreateRecord implements [recordstore.Store].
func (s records) CreateRecord(ctx context.Context, r *recordstore.Record) error {
	return s.of.CreateRecord(ctx, (*store.Record)(r))
}

// Record implements [recordstore.Store].
func (s records) Record(ctx context.Context, kind, key string) (*recordstore.Record, error) {
	r, err := s.of.Record(ctx, kind, key)
	return (*recordstore.Record)(r), err
}

// UpdateRecord implements [recordstore.Store].
func (s records) UpdateRecord(ctx context.Context, r *recordstore.Record) error {
	return s.of.UpdateRecord(ctx, (*store.Record)(r))
}

// DeleteRecord implements [recordstore.Store].
func (s records) DeleteRecord(ctx context.Context, kind, key string) (*recordstore.Record, error) {
	r, err := s.of.DeleteRecord(ctx, kind, key)
	return (*recordstore.Record)(r), err
}

// UserRecords implements [recordstore.Store].
func (s records) UserRecords(ctx context.Context, userID, kind string) ([]*recordstore.Record, error) {
	list, err := s.of.UserRecords(ctx, userID, kind)
	return convert(list), err
}

// DeleteUserRecords implements [recordstore.Store].
func (s records) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	return s.of.DeleteUserRecords(ctx, userID, kind)
}

// List returns the list of s.
func List(s store.RecordLister) func(
	ctx context.Context, kind, prefix, cursor string, limit int,
) ([]*recordstore.Record, string, error) {
	return func(ctx context.Context, kind, prefix, cursor string, limit int) ([]*recordstore.Record, string, error) {
		list, next, err := s.ListRecords(ctx, kind, prefix, cursor, limit)
		return convert(list), next, err
	}
}

func convert(list []*store.Record) []*recordstore.Record {
	all := make([]*recordstore.Record, len(list))
	for i, r := range list {
		all[i] = (*recordstore.Record)(r)
	}
	return all
}
