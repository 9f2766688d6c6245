package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// countdown is the context of NewCountdown.
type countdown struct {
	context.Context
	looks  *atomic.Int64
	cancel context.CancelFunc
}

// NewCountdown returns a context that ends when it has been looked at a number of times, so that it ends within a call
// wherever the store is by then; at the latest it ends with parent.
func NewCountdown(parent context.Context, looks int64) context.Context {
	c := countdown{looks: &atomic.Int64{}}
	c.Context, c.cancel = context.WithCancel(parent)
	c.looks.Store(looks)
	return c
}

func (c countdown) look() {
	if c.looks.Add(-1) <= 0 {
		c.cancel()
	}
}

// Err implements [context.Context].
func (c countdown) Err() error { c.look(); return c.Context.Err() }

// Done implements [context.Context].
func (c countdown) Done() <-chan struct{} { c.look(); return c.Context.Done() }

func (k *kit) cleaner() store.Cleaner { return k.store.(store.Cleaner) }

func (k *kit) cleaningStops() {
	const expired, live = 12, 3
	// Long before what ends in other cases: an engine may do what it was asked last when the caller has gone, and the next
	// case has begun on the same tables.
	base := base.AddDate(-1, 0, 0)
	u := k.user("u1", "ada@example.com")
	for i := range expired {
		k.session(u, fmt.Sprint("old", i), base.Add(-time.Duration(i+1)*time.Second))
	}
	for i := range live {
		k.session(u, fmt.Sprint("new", i), base.Add(time.Second))
	}
	gone := 0
	for looks := int64(1); ; looks *= 2 {
		n, err := k.cleaner().DeleteExpired(NewCountdown(k.Context(), looks), base)
		if gone += n; err == nil {
			break
		}
		k.want(err, context.Canceled)
		if looks > 1<<20 {
			k.Fatal("DeleteExpired never came to its end")
		}
	}
	if gone > expired {
		k.Errorf("%d rows were counted of %d", gone, expired)
	}
	n, err := k.cleaner().DeleteExpired(k.Context(), base)
	k.must(err)
	if n != 0 {
		k.Errorf("%d rows were left behind by a call without an error", n)
	}
	for i := range live {
		_, _, err := k.sessions().SessionAndUser(k.Context(), fmt.Sprint("new", i))
		k.must(err)
	}
	_, _, err = k.sessions().SessionAndUser(k.Context(), "old0")
	k.want(err, core.ErrNotFound)
}

func (k *kit) cleaningSaysWhatIsLeft() {
	want := 3
	u := k.user("u1", "ada@example.com")
	for i := range want {
		k.session(u, fmt.Sprint("old", i), base.Add(-time.Duration(i+1)*time.Second))
	}
	k.session(u, "new", base) // ends at base, not before
	if is[store.VerificationTokenStore](k.store) {
		old := &store.VerificationToken{Identifier: "a", Token: "old", Expires: base.Add(-time.Second)}
		k.must(k.tokens().CreateVerificationToken(k.Context(), old))
		k.token("a", "new")
		want++
	}
	if records, ok := k.store.(store.RecordStore); ok {
		for key, expires := range map[string]time.Time{"old": base.Add(-time.Hour), "new": base, "lasting": {}} {
			k.must(records.CreateRecord(k.Context(), &store.Record{
				Kind: "note", Key: key, UserID: u.ID, Value: []byte("1"), Expires: expires,
			}))
		}
		want++
	}
	ended, end := context.WithCancel(k.Context())
	end()
	n, err := k.cleaner().DeleteExpired(ended, base)
	k.want(err, context.Canceled)
	var left *store.LeftError
	if n != 0 || !errors.As(err, &left) || left.Rows != want {
		k.Errorf("%d rows went, %+v is left (error %v), want %d rows", n, left, err, want)
	}
	n, err = k.cleaner().DeleteExpired(k.Context(), base)
	k.must(err)
	if n != want {
		k.Errorf("%d rows went, want %d", n, want)
	}
	_, err = k.cleaner().DeleteExpired(ended, base)
	left = nil
	if !errors.As(err, &left) || left.Rows != 0 || left.More {
		k.Errorf("%+v is left (error %v) where all has gone", left, err)
	}
}

func (k *kit) cleaningRace() {
	const many = 12
	u := k.user("u1", "ada@example.com")
	for i := range many {
		k.session(u, fmt.Sprint("s", i), base.Add(-time.Second))
	}
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := k.cleaner().DeleteExpired(k.Context(), base); err != nil {
			k.Error(err)
		}
	})
	extended := make([]error, many)
	for i := range many {
		all.Go(func() { extended[i] = k.sessions().UpdateSession(k.Context(), fmt.Sprint("s", i), base.Add(time.Hour)) })
	}
	all.Wait()
	for i, err := range extended {
		switch session, _, readErr := k.sessions().SessionAndUser(k.Context(), fmt.Sprint("s", i)); {
		case err == nil && readErr != nil:
			k.Errorf("session %d was extended and is gone: %v", i, readErr)
		case err == nil && !session.Expires.After(base):
			k.Errorf("session %d was extended and ends at %v", i, session.Expires)
		case err != nil && (!errors.Is(err, core.ErrNotFound) || !errors.Is(readErr, core.ErrNotFound)):
			k.Errorf("session %d: extending: %v, reading: %v", i, err, readErr)
		}
	}
}

func (k *kit) cleaningMovedEnds() {
	u := k.user("u1", "ada@example.com")
	for _, session := range []struct {
		token    string
		from, to time.Duration
	}{
		{"extended", -time.Hour, time.Hour}, {"extended again", -2 * time.Hour, time.Minute},
		{"shortened", time.Hour, -time.Minute},
	} {
		k.session(u, session.token, base.Add(session.from))
		k.must(k.sessions().UpdateSession(k.Context(), session.token, base.Add(session.to)))
	}
	for _, row := range []struct {
		at   time.Duration
		want int
	}{{0, 1}, {0, 0}, {30 * time.Minute, 1}, {2 * time.Hour, 1}, {3 * time.Hour, 0}} {
		n, err := k.cleaner().DeleteExpired(k.Context(), base.Add(row.at))
		k.must(err)
		if n != row.want {
			k.Errorf("%v later %d rows went, want %d", row.at, n, row.want)
		}
	}
}
