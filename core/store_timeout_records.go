package core

import (
	"context"

	"github.com/latchkey-go/latchkey/core/store"
)

type timedRecords struct {
	store.RecordStore
	limit timeLimit
}

func (s *timedRecords) CreateRecord(ctx context.Context, r *store.Record) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error { return s.RecordStore.CreateRecord(ctx, r) })
}

func (s *timedRecords) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (*store.Record, error) {
		return present(s.RecordStore.Record(ctx, kind, key))
	})
}

func (s *timedRecords) UpdateRecord(ctx context.Context, r *store.Record) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error { return s.RecordStore.UpdateRecord(ctx, r) })
}

func (s *timedRecords) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (*store.Record, error) {
		return present(s.RecordStore.DeleteRecord(ctx, kind, key))
	})
}

func (s *timedRecords) UserRecords(ctx context.Context, userID, kind string) ([]*store.Record, error) {
	return timed(ctx, s.limit, func(ctx context.Context) ([]*store.Record, error) {
		return s.RecordStore.UserRecords(ctx, userID, kind)
	})
}

func (s *timedRecords) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (int, error) {
		return s.RecordStore.DeleteUserRecords(ctx, userID, kind)
	})
}
