package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// records are the cases of records.
type records struct{ *kit }

// record stores a record and returns it.
func (k records) record(owner *core.User, kind, key, value string, expires time.Time) *store.Record {
	k.Helper()
	r := &store.Record{Kind: kind, Key: key, Value: json.RawMessage(value), Expires: expires}
	if owner != nil {
		r.UserID = owner.ID
	}
	k.must(k.records().CreateRecord(k.Context(), r))
	return r
}

// recorded checks that the store returns this record.
func (k records) recorded(want *store.Record) {
	k.Helper()
	got, err := k.records().Record(k.Context(), want.Kind, want.Key)
	if err != nil {
		k.Errorf("reading a record of the kind %s: %v", want.Kind, err)
		return
	}
	k.sameRecord(got, want)
}

func (k records) sameRecord(got, want *store.Record) {
	k.Helper()
	if got.Kind != want.Kind || got.Key != want.Key || got.UserID != want.UserID || got.Version != want.Version ||
		string(got.Value) != string(want.Value) || got.Expires.IsZero() != want.Expires.IsZero() ||
		got.Expires.Sub(want.Expires).Abs() >= time.Millisecond {
		k.Errorf("record\n got %s\nwant %s", showRecord(got), showRecord(want))
	}
}

func showRecord(r *store.Record) string {
	return fmt.Sprintf("%s %.60q of %q, version %d, until %v: %.120s", r.Kind, r.Key, r.UserID, r.Version, r.Expires,
		r.Value)
}

// noRecord checks that no method finds a record with that name.
func (k records) noRecord(kind, key string) {
	k.Helper()
	_, err := k.records().Record(k.Context(), kind, key)
	k.want(err, core.ErrNotFound)
	_, err = k.records().DeleteRecord(k.Context(), kind, key)
	k.want(err, core.ErrNotFound)
	if store.IsRecordName(kind, key) {
		again := &store.Record{Kind: kind, Key: key, Value: json.RawMessage(`0`), Version: 1}
		k.want(k.records().UpdateRecord(k.Context(), again), core.ErrNotFound)
	}
}

func (k records) listed(userID, kind string, want []*store.Record) {
	k.Helper()
	got, err := k.records().UserRecords(k.Context(), userID, kind)
	k.must(err)
	if len(got) != len(want) {
		k.Errorf("%d records of %q and kind %q, want %d", len(got), userID, kind, len(want))
		return
	}
	for i := range want {
		k.sameRecord(got[i], want[i])
	}
}

func (k records) cleaned(now time.Time, want int) {
	k.Helper()
	n, err := k.cleaner().DeleteExpired(k.Context(), now)
	k.must(err)
	if n != want {
		k.Errorf("%d rows went, want %d", n, want)
	}
}

// pair reads two records of different kinds with one call. If a record does not exist, the result is nil.
func (k records) pair() {
	u := k.user("u1", "ada@example.com")
	one, two := k.record(u, "note", "a", `{"n":1}`, base), k.record(nil, "notes", "a", `2`, time.Time{})
	other := k.record(u, "note", "A", `3`, time.Time{})
	reader := k.store.(store.RecordPairReader)
	name := func(r *store.Record) store.RecordName { return store.RecordName{Kind: r.Kind, Key: r.Key} }
	read := func(first, second store.RecordName, wanted ...*store.Record) {
		k.Helper()
		a, b, err := reader.RecordPair(k.Context(), first, second)
		k.must(err)
		for i, got := range []*store.Record{a, b} {
			switch want := wanted[i]; {
			case (got == nil) != (want == nil):
				k.Errorf("%s and %s: record %d exists: %t, want %t", first, second, i, got != nil, want != nil)
			case got != nil:
				k.sameRecord(got, want)
				got.Value[0] = 'x'
			}
		}
	}
	none := store.RecordName{Kind: "note", Key: "b"}
	read(name(one), name(two), one, two)
	read(name(two), name(one), two, one)
	read(name(one), name(one), one, one)
	read(name(one), name(other), one, other)
	read(name(one), none, one, nil)
	read(none, name(two), nil, two)
	read(none, store.RecordName{Kind: "notes", Key: "A"}, nil, nil)
	read(name(one), store.RecordName{Kind: "note", Key: "a "}, one, nil)
	for _, invalid := range []store.RecordName{{Kind: "note"}, {Key: "a"}, {Kind: "note", Key: "a\x00"}} {
		read(name(one), invalid, nil, nil)
		read(invalid, name(one), nil, nil)
	}
	one.Value = json.RawMessage(`4`)
	k.must(k.records().UpdateRecord(k.Context(), one))
	_, err := k.records().DeleteRecord(k.Context(), "notes", "a")
	k.must(err)
	read(name(one), name(two), one, nil)
}

func (k records) roundTrip() {
	u, v := k.user("u1", "ada@example.com"), k.user("u2", "eve@example.com")
	k.noRecord("note", "a")
	r := k.record(u, "note", "a", `{"n":1}`, base)
	if r.Version != 1 {
		k.Errorf("created with version %d, want 1", r.Version)
	}
	k.recorded(r)
	taken := &store.Record{Kind: "note", Key: "a", UserID: v.ID, Value: json.RawMessage(`2`)}
	k.want(k.records().CreateRecord(k.Context(), taken), core.ErrConflict)
	k.record(v, "notes", "a", `3`, time.Time{}) // another kind

	stale := r.Clone()
	r.Value, r.Expires, r.UserID = json.RawMessage(`{"n":2}`), time.Time{}, v.ID
	k.must(k.records().UpdateRecord(k.Context(), r))
	if r.UserID = u.ID; r.Version != 2 {
		k.Errorf("updated to version %d, want 2", r.Version)
	}
	k.recorded(r) // its owner has not changed
	for _, version := range []int64{0, 1, 3} {
		stale.Version = version
		if k.want(k.records().UpdateRecord(k.Context(), stale), core.ErrConflict); stale.Version != version {
			k.Errorf("a refused update set version %d", stale.Version)
		}
	}
	k.recorded(r)
	r.Expires = base.Add(time.Hour)
	k.must(k.records().UpdateRecord(k.Context(), r))

	gone, err := k.records().DeleteRecord(k.Context(), "note", "a")
	k.must(err)
	k.sameRecord(gone, r)
	k.noRecord("note", "a")
	r = k.record(nil, "note", "a", `4`, base) // the name is available, and the version starts at 1
	k.recorded(r)
	nobody := &store.Record{Kind: "note", Key: "b", UserID: uuid("nobody"), Value: json.RawMessage(`5`)}
	k.want(k.records().CreateRecord(k.Context(), nobody), core.ErrNotFound)
	k.noRecord("note", "b")
}

func (k records) ofUsers() {
	u, v := k.user("u1", "ada@example.com"), k.user("u2", "eve@example.com")
	var want []*store.Record
	for _, name := range [][2]string{{"b-c", "z"}, {"b", "é"}, {"b", "z"}, {"b", "Z"}, {"a", "9"}, {"a", "10"}} {
		want = append(want, k.record(u, name[0], name[1], `1`, base))
	}
	other := k.record(v, "b", "other", `1`, base)
	free := k.record(nil, "b", "free", `1`, base)
	slices.SortFunc(want, func(a, b *store.Record) int {
		return strings.Compare(a.Kind+"\x00"+a.Key, b.Kind+"\x00"+b.Key)
	})
	k.listed(u.ID, "", want)
	k.listed(u.ID, "b", want[2:5])
	k.listed(u.ID, "none", nil)
	k.listed("", "b", nil)
	k.listed("", "", nil)
	k.listed(uuid("nobody"), "", nil)
	for _, row := range []struct {
		user, kind string
		want       int
	}{{"", "", 0}, {"", "b", 0}, {u.ID, "none", 0}, {u.ID, "a", 2}, {u.ID, "a", 0}} {
		n, err := k.records().DeleteUserRecords(k.Context(), row.user, row.kind)
		k.must(err)
		if n != row.want {
			k.Errorf("%d records of %q and kind %q went, want %d", n, row.user, row.kind, row.want)
		}
	}
	k.listed(u.ID, "", want[2:])
	n, err := k.records().DeleteUserRecords(k.Context(), u.ID, "")
	k.must(err)
	if n != 4 {
		k.Errorf("%d records went, want 4", n)
	}
	k.listed(u.ID, "", nil)
	k.recorded(other)
	k.recorded(free)
}

func (k records) ofDeletedUser() {
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
	k.recorded(k.record(v, "note", "0", `1`, base)) // the name is available
}

// expire moves and removes expiries. The expiry at the time of the cleaning must count.
func (k records) expire() {
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
		k.recorded(r) // expired records are returned
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
	again := k.record(u, "end", "0", `0`, hours(4)) // the name is available again
	k.recorded(again)
	k.cleaned(hours(5), 1)
}

// hours returns base plus n hours, or the zero time for 100.
func hours(n int) (at time.Time) {
	if n < 100 {
		at = base.Add(time.Duration(n) * time.Hour)
	}
	return at
}

// cancelled checks that a call with a cancelled context writes, takes and reads nothing.
func (k records) cancelled(ctx context.Context, u *core.User) {
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
