package core_test

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// keptRecords is a RecordStore in memory.
type keptRecords struct {
	mu     sync.Mutex
	all    map[string]store.Record
	exists func(userID string) bool
}

// records is the store of people with all powers, and records.
func (p *people) records() (core.Store, *keptRecords) {
	k := &keptRecords{all: map[string]store.Record{}, exists: func(id string) bool {
		defer p.step("")()
		_, ok := p.users[id]
		return ok
	}}
	return struct {
		least
		store.Transactor
		store.UserDeleter
		store.AccountStore
		store.SessionLister
		store.RecordStore
	}{p, transactions{p, p.as(power{false, true, true, true})}, p, p, p, k}, k
}

func (k *keptRecords) CreateRecord(_ context.Context, r *store.Record) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch _, taken := k.all[r.Kind+"/"+r.Key]; {
	case r.Check() != nil:
		return r.Check()
	case taken:
		return core.ErrConflict
	case r.UserID != "" && !k.exists(r.UserID):
		return core.ErrNotFound
	}
	r.Version = 1
	k.all[r.Kind+"/"+r.Key] = *r.Clone()
	return nil
}

func (k *keptRecords) Record(_ context.Context, kind, key string) (*store.Record, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, err := found(k.all, kind+"/"+key)
	return r.Clone(), err
}

func (k *keptRecords) UpdateRecord(_ context.Context, r *store.Record) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept, err := found(k.all, r.Kind+"/"+r.Key)
	switch {
	case err != nil:
		return err
	case kept.Version != r.Version:
		return core.ErrConflict
	}
	r.Version++
	k.all[r.Kind+"/"+r.Key] = *r.Clone()
	return nil
}

func (k *keptRecords) DeleteRecord(_ context.Context, kind, key string) (*store.Record, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, err := found(k.all, kind+"/"+key)
	delete(k.all, kind+"/"+key)
	return r, err
}

func (k *keptRecords) UserRecords(_ context.Context, userID, kind string) (list []*store.Record, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(k.all)) {
		if r := k.all[name]; r.UserID == userID && userID != "" && (kind == "" || kind == r.Kind) {
			list = append(list, r.Clone())
		}
	}
	return list, nil
}

func (k *keptRecords) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	list, _ := k.UserRecords(ctx, userID, kind)
	for _, r := range list {
		_, _ = k.DeleteRecord(ctx, r.Kind, r.Key)
	}
	return len(list), nil
}

// count is how many records there are.
func (k *keptRecords) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.all)
}
