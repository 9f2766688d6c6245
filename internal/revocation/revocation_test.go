package revocation

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/recordstore"
	"github.com/latchkey-go/latchkey/internal/sessionid"
)

// records is a record store in memory. While down is set, all calls fail.
type records struct {
	recordstore.Store
	mu   sync.Mutex
	rows map[string]recordstore.Record
	down error
}

func (r *records) Record(_ context.Context, kind, key string) (*recordstore.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	row, there := r.rows[kind+" "+key]
	switch {
	case r.down != nil:
		return nil, r.down
	case !there:
		return nil, recordstore.ErrNotFound
	}
	return &row, nil
}

func (r *records) CreateRecord(_ context.Context, record *recordstore.Record) error {
	return r.write(record, 0)
}

func (r *records) UpdateRecord(_ context.Context, record *recordstore.Record) error {
	return r.write(record, record.Version)
}

func (r *records) write(record *recordstore.Record, version int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := record.Kind + " " + record.Key
	switch {
	case r.down != nil:
		return r.down
	case r.rows[name].Version != version:
		return recordstore.ErrConflict
	}
	record.Version = version + 1
	r.rows[name] = *record
	return nil
}

func (r *records) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = err
}

// clock is a clock that tests advance.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// pair returns the lists of two processes with the same store and clock.
func pair(change ...func(*Options)) (one, two *List, r *records, c *clock) {
	r, c = &records{rows: map[string]recordstore.Record{}}, &clock{at: time.Unix(1_700_000_000, 0)}
	o := Options{Records: r, Now: c.now, TokenAge: 48 * time.Hour}
	for _, f := range change {
		f(&o)
	}
	return New(o), New(o), r, c
}

// refresh waits for a poll.
func refresh(t *testing.T, l *List) {
	t.Helper()
	if err := l.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestEndSession revokes a session in one process and reads that in another.
func TestEndSession(t *testing.T) {
	t.Parallel()
	one, two, _, c := pair()
	id, other := sessionid.Of("a"), sessionid.Of("b")
	refresh(t, two)
	if err := one.EndSession(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if !one.Has("u", id, 0) || one.Has("u", other, 0) {
		t.Error("the process that revokes a session does not know it, or knows another one")
	}
	if two.Has("u", id, 0) {
		t.Error("another process knows it without a poll")
	}
	c.advance(defaultEvery)
	refresh(t, two)
	if !two.Has("u", id, 0) || two.Has("u", other, 0) {
		t.Error("another process does not know it after a poll")
	}
	if age, ok := two.Age(); !ok || age != 0 {
		t.Errorf("the age is %v, %v", age, ok)
	}
}

// TestEndUser revokes all sessions of a user that started before, except one.
func TestEndUser(t *testing.T) {
	t.Parallel()
	one, two, _, c := pair()
	kept, none := sessionid.Of("kept"), sessionid.ID{}
	before, err := one.Epoch(t.Context(), "u")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if err := one.EndUser(t.Context(), "u", kept); err != nil {
			t.Fatal(err)
		}
		after, err := two.Epoch(t.Context(), "u")
		if err != nil || after <= before {
			t.Fatalf("revocation %d: the epoch is %d after %d, %v", n, after, before, err)
		}
		c.advance(defaultEvery)
		refresh(t, two)
		for _, l := range []*List{one, two} {
			if !l.Has("u", sessionid.Of("x"), before) || !l.Has("u", none, before) {
				t.Error("a session from before is accepted")
			}
			if l.Has("u", kept, before) || l.Has("u", sessionid.Of("x"), after) || l.Has("v", none, before) {
				t.Error("the excepted session, a new one, or one of another user was revoked")
			}
		}
		before = after
	}
	if err := one.EndUser(t.Context(), "u", none); err != nil {
		t.Fatal(err)
	}
	if !one.Has("u", none, before) {
		t.Error("a session without an ID is taken for the excepted one")
	}
}

// TestEpochIncreases ends the sessions of a user several times within one second: in two processes that do not poll,
// and after the user's record was lost.
func TestEpochIncreases(t *testing.T) {
	t.Parallel()
	one, two, rows, _ := pair()
	var before int64
	for n, l := range []*List{one, two, one, one, two} {
		if n == 3 {
			rows.mu.Lock()
			delete(rows.rows, recordEpoch+" "+epochKey("u"))
			rows.mu.Unlock()
		}
		if err := l.EndUser(t.Context(), "u", sessionid.ID{}); err != nil {
			t.Fatal(err)
		}
		after, err := l.Epoch(t.Context(), "u")
		if err != nil || after <= before {
			t.Fatalf("revocation %d: the epoch is %d after %d, %v", n, after, before, err)
		}
		if !l.Has("u", sessionid.Of("x"), before) || l.Has("u", sessionid.Of("x"), after) {
			t.Fatalf("revocation %d: a session from before is accepted, or a new one was revoked", n)
		}
		before = after
	}
}

// TestEntriesStay checks that an entry is stored for the lifetime of a token, and deleted some time later.
func TestEntriesStay(t *testing.T) {
	t.Parallel()
	one, _, _, c := pair()
	id := sessionid.Of("a")
	if err := one.EndSession(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	c.advance(one.TokenAge)
	one.sweep(c.now())
	if !one.Has("u", id, 0) {
		t.Error("the entry was deleted while tokens of the session are valid")
	}
	c.advance(skew + sweepEvery)
	one.sweep(c.now())
	if one.Has("u", id, 0) {
		t.Error("the entry was not deleted")
	}
}

// TestStrict checks that Refresh fails if the log is unavailable for too long, with Strict only.
func TestStrict(t *testing.T) {
	t.Parallel()
	for _, strict := range []bool{false, true} {
		failed := make(chan error, 1)
		l, _, r, c := pair(func(o *Options) {
			o.Strict = strict
			o.Failed = func(_ context.Context, err error) { failed <- err }
		})
		refresh(t, l)
		down := errors.New("down")
		r.fail(down)
		c.advance(strictAfter)
		err := l.Refresh(t.Context())
		if strict != errors.Is(err, recordstore.ErrUnavailable) || !strict && err != nil {
			t.Errorf("strict %v: %v", strict, err)
		}
		if err := <-failed; !errors.Is(err, down) {
			t.Errorf("reported %v", err)
		}
	}
}

// TestPages writes more entries than a page has room for, and reads them in another process.
func TestPages(t *testing.T) {
	t.Parallel()
	one, two, r, _ := pair()
	id := func(n int) (id sessionid.ID) {
		binary.LittleEndian.PutUint64(id[:], uint64(n)+1)
		return id
	}
	const n = 2*pageEntries + 10
	entries := make([]entry, n)
	for i := range entries {
		entries[i] = entry{id: id(i), until: one.expiry()}
	}
	if err := one.write(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	if len(r.rows) != 3 {
		t.Errorf("the log has %d pages", len(r.rows))
	}
	refresh(t, two)
	for i := range n {
		if !two.Has("u", id(i), 0) {
			t.Fatalf("entry %d was not read", i)
		}
	}
}

// TestDataChanged calls the function of another process, and revokes nothing.
func TestDataChanged(t *testing.T) {
	t.Parallel()
	one, two, _, _ := pair()
	var changed []string
	two.OnDataChange(func(user string) { changed = append(changed, user) })
	if err := one.DataChanged(t.Context(), "u", time.Hour); err != nil {
		t.Fatal(err)
	}
	refresh(t, two)
	if len(changed) != 1 || changed[0] != UserKey("u") || two.Has("u", sessionid.ID{}, 0) {
		t.Errorf("changed %v", changed)
	}
}

// TestEntryText parses what MarshalText writes, and rejects everything else.
func TestEntryText(t *testing.T) {
	t.Parallel()
	for _, e := range []entry{
		{id: sessionid.Of("a"), until: 7},
		{user: "u.v", epoch: 9, until: 7},
		{user: "u", epoch: 9, until: 7, except: sessionid.Of("b")},
		{user: "u", until: 7, dataChanged: true},
	} {
		text, _ := e.MarshalText()
		var got entry
		if err := got.UnmarshalText(text); err != nil || got != e {
			t.Errorf("%s is read as %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x1.2", "sabc.1", "s.1", "u1.2..", "u!.2..u", "d1.", "d!.u", "u1.!..u"} {
		if err := new(entry).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was parsed", text)
		}
	}
}

// BenchmarkHas measures the lookup of one session among a million revoked ones.
func BenchmarkHas(b *testing.B) {
	l := New(Options{Every: time.Hour, Now: time.Now})
	l.users["2"] = userEnd{}
	for i := range uint64(1_000_000) {
		var id sessionid.ID
		binary.LittleEndian.PutUint64(id[:], i)
		l.ended[id] = 1
	}
	l.lastRead.Store(time.Now().UnixNano())
	id := sessionid.Of("1")
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Refresh(b.Context()); err != nil || l.Has("1", id, 0) {
			b.Fatal(err)
		}
	}
}
