package main

import (
	"context"
	"slices"
	"sync"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// records implements [store.RecordStore].
type records struct {
	mu   sync.Mutex
	rows []*store.Record
}

func (r *records) find(kind, key string) int {
	return slices.IndexFunc(r.rows, func(x *store.Record) bool { return x.Kind == kind && x.Key == key })
}

func (r *records) CreateRecord(_ context.Context, x *store.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.find(x.Kind, x.Key) >= 0 {
		return core.ErrConflict
	}
	x.Version = 1
	r.rows = append(r.rows, x.Clone())
	return nil
}

func (r *records) Record(_ context.Context, kind, key string) (*store.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := r.find(kind, key); i >= 0 {
		return r.rows[i].Clone(), nil
	}
	return nil, core.ErrNotFound
}

func (r *records) UpdateRecord(_ context.Context, x *store.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch i := r.find(x.Kind, x.Key); {
	case i < 0:
		return core.ErrNotFound
	case r.rows[i].Version != x.Version:
		return core.ErrConflict
	default:
		x.Version++
		r.rows[i] = x.Clone()
		return nil
	}
}

func (r *records) DeleteRecord(_ context.Context, kind, key string) (*store.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.find(kind, key)
	if i < 0 {
		return nil, core.ErrNotFound
	}
	row := r.rows[i]
	r.rows = slices.Delete(r.rows, i, i+1)
	return row, nil
}

func (r *records) UserRecords(_ context.Context, userID, kind string) (list []*store.Record, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.rows {
		if x.UserID == userID && (kind == "" || x.Kind == kind) {
			list = append(list, x.Clone())
		}
	}
	return list, nil
}

func (r *records) DeleteUserRecords(_ context.Context, userID, kind string) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.rows)
	r.rows = slices.DeleteFunc(r.rows, func(x *store.Record) bool {
		return x.UserID == userID && (kind == "" || x.Kind == kind)
	})
	return before - len(r.rows), nil
}
