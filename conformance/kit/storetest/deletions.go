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

// deletions are the cases of deleted users and expired rows.
type deletions struct{ *kit }

func (k deletions) ofUser() {
	u, v := k.user("u1", "ada@example.com"), k.user("u2", "eve@example.com")
	k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", "1")))
	k.must(k.store.LinkAccount(k.Context(), k.account(v, "p", "2")))
	if is[store.SessionStore](k.store) {
		k.session(u, "s1", base)
	}
	d := k.store.(store.UserDeleter)
	k.must(d.DeleteUser(k.Context(), u.ID))
	k.want(d.DeleteUser(k.Context(), u.ID), core.ErrNotFound)
	_, err := k.store.UserByEmail(k.Context(), "ada@example.com")
	k.want(err, core.ErrNotFound)
	_, err = k.store.UserByAccount(k.Context(), "p", "1")
	k.want(err, core.ErrNotFound)
	if is[store.SessionStore](k.store) {
		_, _, err = k.sessions().SessionAndUser(k.Context(), "s1")
		k.want(err, core.ErrNotFound)
	}
	owner, err := k.store.UserByAccount(k.Context(), "p", "2")
	k.must(err)
	k.same(owner, v)
	k.user("u3", "ada@example.com") // the address is available again
}

func (k deletions) ofExpired() {
	if is[store.SessionStore](k.store) {
		u := k.user("u1", "ada@example.com")
		k.session(u, "old", base.Add(-time.Second))
		k.session(u, "new", base.Add(time.Second))
	}
	want := 1
	if is[store.VerificationTokenStore](k.store) {
		old := &store.VerificationToken{Identifier: "a", Token: "old", Expires: base.Add(-time.Second)}
		k.must(k.tokens().CreateVerificationToken(k.Context(), old))
		k.token("a", "new") // expires at base, not before
		want = 2
	}
	n, err := k.store.(store.Cleaner).DeleteExpired(k.Context(), base)
	k.must(err)
	if n != want {
		k.Errorf("%d rows went, want %d", n, want)
	}
	_, _, err = k.sessions().SessionAndUser(k.Context(), "new")
	k.must(err)
	_, _, err = k.sessions().SessionAndUser(k.Context(), "old")
	k.want(err, core.ErrNotFound)
	if is[store.VerificationTokenStore](k.store) {
		_, err = k.tokens().UseVerificationToken(k.Context(), "a", "old")
		k.want(err, core.ErrNotFound)
		_, err = k.tokens().UseVerificationToken(k.Context(), "a", "new")
		k.must(err)
	}
}

func (k deletions) stops() {
	const expired, live = 12, 3
	// Long before the expiries in other cases: a database may complete a request after its caller has returned, when the
	// next case already uses the same tables.
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
		n, err := k.cleaner().DeleteExpired(newCountdown(k.Context(), looks), base)
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
		k.Errorf("%d rows remain after a call without an error", n)
	}
	for i := range live {
		_, _, err := k.sessions().SessionAndUser(k.Context(), fmt.Sprint("new", i))
		k.must(err)
	}
	_, _, err = k.sessions().SessionAndUser(k.Context(), "old0")
	k.want(err, core.ErrNotFound)
}

func (k deletions) sayWhatIsLeft() {
	want := 3
	u := k.user("u1", "ada@example.com")
	for i := range want {
		k.session(u, fmt.Sprint("old", i), base.Add(-time.Duration(i+1)*time.Second))
	}
	k.session(u, "new", base) // expires at base, not before
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

func (k deletions) meanwhile() {
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

func (k deletions) movedEnds() {
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

// countdown is the context of newCountdown.
type countdown struct {
	context.Context
	looks  *atomic.Int64
	cancel context.CancelFunc
}

// newCountdown returns a context that is cancelled after a number of calls to its methods, so that it ends within a
// call of the store. It also ends with parent.
func newCountdown(parent context.Context, looks int64) context.Context {
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
