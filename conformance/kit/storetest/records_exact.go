package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// recordKeys are keys that must not be taken for each other.
var recordKeys = []string{
	"a", "A", "á", "a\u0301", " a", "a ", "a/b", "a#b", "a.b", "$a", "%", "%2F", "~", "*", "_", "1", "01", "ß", "ss", "😀",
	"😁", `'; DROP TABLE "users"; --`, strings.Repeat("k", 254) + "x", strings.Repeat("k", 254) + "X",
	strings.Repeat("ä", 127),
}

// recordValues are values that a store must not tidy up.
var recordValues = []string{
	`null`, `""`, `[]`, `{}`, `-0`, `1.50`, `1e400`, `9007199254740993`, `"<&>😀\u0000\ud800\/"`, `"{\"a\":1}"`,
	`{"b": 1, "a":{"$set":1,"a.b":[ ]},	"":"","B":2}`, `{"a":1,"a":2}`,
	`"` + strings.Repeat("x", store.MaxRecordValue-2) + `"`,
}

func (k *kit) recordsExact() {
	u := k.user("u1", "ada@example.com")
	var all []*store.Record
	for _, key := range recordKeys {
		all = append(all, k.record(u, "note", key, fmt.Sprintf("%q", key), times[len(all)%len(times)]))
	}
	for _, r := range all {
		k.recorded(r)
	}
	for _, name := range [][2]string{
		{"note", ""}, {"note", "b"}, {"note", "a\u0300"}, {"note", "a\x00"}, {"note", "\xff"}, {"note", "a\n"},
		{"note", strings.Repeat("k", 256)}, {"Note", "a"}, {"", "a"}, {"note/a", "a"}, {"not", "e/a"},
	} {
		k.noRecord(name[0], name[1])
	}
	r := k.record(u, "value", "k", `[0]`, base)
	first := r.Clone()
	r.Value[1] = '1' // what a caller does with its records is nothing to the store
	k.recorded(first)
	for _, value := range recordValues {
		r.Value = json.RawMessage(value)
		k.must(k.records().UpdateRecord(k.Context(), r))
		k.recorded(r)
	}
	kept := r.Clone()
	r.Value[1] = 'y'
	for range 2 {
		got, err := k.records().Record(k.Context(), "value", "k")
		k.must(err)
		k.sameRecord(got, kept)
		got.Value[1] = 'y'
	}
	k.recordsRefused(kept)
}

// recordsRefused checks that a store takes no record that is none; there is one that it has.
func (k *kit) recordsRefused(there *store.Record) {
	k.Helper()
	large := json.RawMessage(`"` + strings.Repeat("x", store.MaxRecordValue-1) + `"`)
	for _, r := range []*store.Record{
		{Kind: "Note", Key: "new", Value: json.RawMessage(`0`)}, {Kind: "note", Value: json.RawMessage(`0`)},
		{Kind: "note", Key: "new\x00", Value: json.RawMessage(`0`)}, {Kind: "note", Key: "new"},
		{Kind: "note", Key: "new", Value: json.RawMessage(`{`)}, {Kind: "note", Key: "new", Value: large},
	} {
		err := k.records().CreateRecord(k.Context(), r)
		if err == nil || errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrConflict) {
			k.Errorf("a record of the kind %q that is none: error %v", r.Kind, err)
		}
	}
	changed := there.Clone()
	changed.Value = large
	if err := k.records().UpdateRecord(k.Context(), changed); err == nil || errors.Is(err, core.ErrConflict) {
		k.Errorf("a record became too large: error %v", err)
	}
	k.noRecord("note", "new")
	k.recorded(there)
}

func (k *kit) recordRaces() {
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

func (k *kit) recordUpdateRace() {
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

// takenWhileWritten has some take a record while others write it: one of these at most comes before, the taker gets
// what that wrote, and the record does not come back.
func (k *kit) takenWhileWritten(r *store.Record) {
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
			err = core.ErrNotFound // as far as counting takers goes
		}
		return err
	})
	// A write whose answer was lost may have come before the taker, and find when it is tried again that all is gone.
	got, least := taken.Load(), r.Version+written.Load()
	if won != 1 || written.Load() > 1 || got != nil && (got.Version < least || got.Version > r.Version+1) {
		k.Errorf("a record was taken %d times, as %v, and written %d times before", won, got, written.Load())
	}
	k.noRecord(r.Kind, r.Key)
}

// recordsExpire moves ends to and fro, and takes them away: what counts is where they are when the cleaner comes.
func (k *kit) recordsExpire() {
	u := k.user("u1", "ada@example.com")
	var kept []*store.Record
	for i, row := range []struct {
		from, to int // hours; 100: never
		gone     bool
	}{
		{-1, -1, true}, {100, -1, true}, {1, -1, true}, {0, 0, false}, {-1, 1, false}, {-1, 100, false}, {100, 100, false},
		{1, 2, false},
	} {
		owner := []*core.User{u, nil}[i%2]
		r := k.record(owner, "end", fmt.Sprint(i), `0`, hours(row.from))
		if row.from != row.to {
			r.Expires = hours(row.to)
			k.must(k.records().UpdateRecord(k.Context(), r))
		}
		k.recorded(r) // expired ones are returned
		if !row.gone {
			kept = append(kept, r)
		}
	}
	k.cleaned(base, 3)
	for _, r := range kept {
		k.recorded(r)
	}
	k.cleaned(base, 0)
	k.cleaned(hours(3), 3)
	k.listed(u.ID, "", []*store.Record{kept[3]})
	k.recorded(kept[2])
	again := k.record(u, "end", "0", `0`, hours(4)) // the name is free again
	k.recorded(again)
	k.cleaned(hours(5), 1)
}

// hours is base and some hours; 100: the zero time.
func hours(n int) (at time.Time) {
	if n < 100 {
		at = base.Add(time.Duration(n) * time.Hour)
	}
	return at
}

func (k *kit) cleaned(now time.Time, want int) {
	k.Helper()
	n, err := k.cleaner().DeleteExpired(k.Context(), now)
	k.must(err)
	if n != want {
		k.Errorf("%d rows went, want %d", n, want)
	}
}

func (k *kit) recordsOfDeletedUser() {
	u, v := k.user("u1", "ada@example.com"), k.user("u2", "eve@example.com")
	other, free := k.record(v, "note", "other", `1`, base), k.record(nil, "note", "free", `1`, base)
	const many = 20
	for i := range many {
		k.record(u, "note", fmt.Sprint(i), `1`, []time.Time{base, {}}[i%2])
	}
	k.must(k.store.(store.UserDeleter).DeleteUser(k.Context(), u.ID))
	for i := range many {
		k.noRecord("note", fmt.Sprint(i))
	}
	k.listed(u.ID, "", nil)
	k.recorded(other)
	k.recorded(free)
	late := &store.Record{Kind: "note", Key: "0", UserID: u.ID, Value: json.RawMessage(`1`)}
	k.want(k.records().CreateRecord(k.Context(), late), core.ErrNotFound)
	k.recorded(k.record(v, "note", "0", `1`, base)) // the name is free
}

func (k *kit) recordsInTransaction() {
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

// takeInTransactions has many take one record, each in a transaction that writes another.
func (k *kit) takeInTransactions() {
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

// recordsCancelled checks that a context that has ended writes, takes and reads nothing.
func (k *kit) recordsCancelled(ctx context.Context, u *core.User) {
	k.Helper()
	r := k.record(u, "note", "k", `1`, base)
	records := k.records()
	fresh := &store.Record{Kind: "note", Key: "new", UserID: u.ID, Value: json.RawMessage(`1`)}
	k.want(records.CreateRecord(ctx, fresh), context.Canceled)
	k.want(records.UpdateRecord(ctx, r.Clone()), context.Canceled)
	_, err := records.DeleteRecord(ctx, "note", "k")
	k.want(err, context.Canceled)
	_, err = records.DeleteUserRecords(ctx, u.ID, "")
	k.want(err, context.Canceled)
	_, err = records.Record(ctx, "note", "k")
	k.want(err, context.Canceled)
	_, err = records.UserRecords(ctx, u.ID, "")
	k.want(err, context.Canceled)
	k.noRecord("note", "new")
	k.recorded(r)
}
