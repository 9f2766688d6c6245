package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

func (k records) atOnce() {
	u := k.user("u1", "ada@example.com")
	for _, owner := range []*core.User{u, nil} {
		racing := func(int) *store.Record {
			r := &store.Record{Kind: "race", Key: "k", Value: json.RawMessage(`0`), Expires: base}
			if owner != nil {
				r.UserID = owner.ID
			}
			return r
		}
		won := k.race(50, core.ErrConflict, func(i int) error {
			return k.records().CreateRecord(k.Context(), racing(i))
		})
		taken := k.race(50, core.ErrNotFound, func(int) error {
			_, err := k.records().DeleteRecord(k.Context(), "race", "k")
			return err
		})
		if won != 1 || taken != 1 {
			k.Errorf("one record was created %d times and taken %d times", won, taken)
		}
		k.noRecord("race", "k")
	}
	k.listed(u.ID, "", nil)
}

func (k records) updatesAtOnce() {
	r := k.record(k.user("u1", "ada@example.com"), "race", "k", `"none"`, base)
	for range 3 {
		won := k.race(50, core.ErrConflict, func(i int) error {
			mine := r.Clone()
			mine.Value = fmt.Appendf(nil, `"%d"`, i)
			return k.records().UpdateRecord(k.Context(), mine)
		})
		got, err := k.records().Record(k.Context(), "race", "k")
		k.must(err)
		if won != 1 || got.Version != r.Version+1 {
			k.Errorf("version %d was updated %d times, and is followed by %d", r.Version, won, got.Version)
		}
		r = got
	}
	for i := range 5 {
		k.takenWhileWritten(k.record(nil, "race", fmt.Sprint(i), `"none"`, base))
	}
}

// takenWhileWritten takes a record while others write it. At most one of them succeeds before the take, the taker gets
// the value of that write, and the record does not reappear.
func (k records) takenWhileWritten(r *store.Record) {
	k.Helper()
	var taken atomic.Pointer[store.Record]
	var written atomic.Int64
	won := k.race(20, core.ErrNotFound, func(i int) error {
		if i%2 == 0 {
			got, err := k.records().DeleteRecord(k.Context(), r.Kind, r.Key)
			if err == nil {
				taken.Store(got)
			}
			return err
		}
		err := k.records().UpdateRecord(k.Context(), r.Clone())
		switch {
		case err == nil:
			written.Add(1)
			fallthrough
		case errors.Is(err, core.ErrConflict):
			err = core.ErrNotFound // ErrNotFound, so that race counts only takers
		}
		return err
	})
	// A write whose response was lost may have been applied before the take, and find no record when it is retried.
	got, least := taken.Load(), r.Version+written.Load()
	if won != 1 || written.Load() > 1 || got != nil && (got.Version < least || got.Version > r.Version+1) {
		k.Errorf("a record was taken %d times, as %v, and written %d times before", won, got, written.Load())
	}
	k.noRecord(r.Kind, r.Key)
}

func (k records) inTransaction() {
	u := k.user("u1", "ada@example.com")
	before := k.record(u, "note", "before", `1`, base)
	token := k.record(nil, "token", "t", `1`, base)
	var made *store.Record
	within := func(result error) error {
		return k.store.(store.Transactor).InTransaction(k.Context(), func(ctx context.Context, tx core.Store) error {
			records := tx.(store.RecordStore)
			made = &store.Record{Kind: "note", Key: "made", UserID: u.ID, Value: json.RawMessage(`1`)}
			changed := before.Clone()
			changed.Value = json.RawMessage(`2`)
			_, taking := records.DeleteRecord(ctx, "token", "t")
			err := errors.Join(taking, records.CreateRecord(ctx, made), records.UpdateRecord(ctx, made),
				records.UpdateRecord(ctx, changed))
			if err != nil {
				return err
			}
			if list, err := records.UserRecords(ctx, u.ID, "note"); err != nil || len(list) != 2 || list[0].Version != 2 {
				k.Errorf("%d records within the transaction, %v", len(list), err)
			}
			_, gone := records.Record(ctx, "token", "t")
			k.want(gone, core.ErrNotFound)
			k.want(records.UpdateRecord(ctx, before.Clone()), core.ErrConflict)
			if _, err := records.DeleteUserRecords(ctx, u.ID, "none"); err != nil {
				return err
			}
			return result
		})
	}
	k.want(within(errTest), errTest)
	k.recorded(before)
	k.recorded(token)
	k.noRecord("note", "made")
	k.must(within(nil))
	k.noRecord("token", "t")
	k.recorded(made)
	before.Value, before.Version = json.RawMessage(`2`), 2
	k.recorded(before)
	k.must(k.store.(store.Transactor).InTransaction(k.Context(), func(ctx context.Context, tx core.Store) error {
		if d, ok := tx.(store.UserDeleter); ok {
			k.must(d.DeleteUser(ctx, u.ID))
			_, err := tx.(store.RecordStore).Record(ctx, "note", "before")
			k.want(err, core.ErrNotFound)
		}
		return nil
	}))
	k.takeInTransactions()
}

// takeInTransactions runs transactions that take one record and write another.
func (k records) takeInTransactions() {
	k.Helper()
	k.record(nil, "token", "t", `1`, base)
	won := k.race(8, core.ErrNotFound, func(i int) error {
		return k.store.(store.Transactor).InTransaction(k.Context(), func(ctx context.Context, tx core.Store) error {
			records := tx.(store.RecordStore)
			if _, err := records.DeleteRecord(ctx, "token", "t"); err != nil {
				return err
			}
			mine := &store.Record{Kind: "winner", Key: fmt.Sprint(i), Value: json.RawMessage(`1`)}
			return records.CreateRecord(ctx, mine)
		})
	})
	winners := 0
	for i := range 8 {
		if _, err := k.records().DeleteRecord(k.Context(), "winner", fmt.Sprint(i)); err == nil {
			winners++
		}
	}
	if won != 1 || winners != 1 {
		k.Errorf("one record was taken by %d transactions, of which %d wrote", won, winners)
	}
}
