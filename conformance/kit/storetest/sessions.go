package storetest

import (
	"fmt"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// sessions are the cases of sessions.
type sessions struct{ *kit }

func (k sessions) roundTrip() {
	u := k.user("u1", "ada@example.com")
	k.session(u, "s1", base)
	k.session(u, "S1", base.Add(time.Hour)) // another token: tokens are case-sensitive
	session, user, err := k.sessions().SessionAndUser(k.Context(), "s1")
	k.must(err)
	k.same(user, u)
	if session.UserID != u.ID || session.Token != "s1" || !session.Expires.Equal(base) {
		k.Errorf("session of %q until %v", session.UserID, session.Expires)
	}
	k.must(k.sessions().UpdateSession(k.Context(), "s1", base.Add(24*time.Hour)))
	session, _, err = k.sessions().SessionAndUser(k.Context(), "s1")
	k.must(err)
	if !session.Expires.Equal(base.Add(24 * time.Hour)) {
		k.Errorf("extended to %v", session.Expires)
	}
	gone, err := k.sessions().DeleteSession(k.Context(), "s1")
	k.must(err)
	if gone.UserID != u.ID {
		k.Errorf("deleted the session of %q", gone.UserID)
	}
	_, _, err = k.sessions().SessionAndUser(k.Context(), "S1")
	k.must(err)
}

func (k sessions) missing() {
	_, _, err := k.sessions().SessionAndUser(k.Context(), "none")
	k.want(err, core.ErrNotFound)
	k.want(k.sessions().UpdateSession(k.Context(), "none", base), core.ErrNotFound)
	_, err = k.sessions().DeleteSession(k.Context(), "none")
	k.want(err, core.ErrNotFound)
}

func (k sessions) expired() {
	k.session(k.user("u1", ""), "s1", time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC))
	_, _, err := k.sessions().SessionAndUser(k.Context(), "s1")
	k.must(err)
}

func (k sessions) exact() {
	k.session(k.user("u1", ""), "s1", base)
	for _, other := range []string{"S1", "s1 ", " s1", "s", "s%", "", "s1\x00"} {
		_, _, err := k.sessions().SessionAndUser(k.Context(), other)
		k.want(err, core.ErrNotFound)
		k.want(k.sessions().UpdateSession(k.Context(), other, base.Add(time.Hour)), core.ErrNotFound)
		_, err = k.sessions().DeleteSession(k.Context(), other)
		k.want(err, core.ErrNotFound)
	}
	session, _, err := k.sessions().SessionAndUser(k.Context(), "s1")
	k.must(err)
	if !session.Expires.Equal(base) {
		k.Errorf("the session was extended to %v by another key", session.Expires)
	}
	// Extending a session to the same time again succeeds, because the session exists.
	k.must(k.sessions().UpdateSession(k.Context(), "s1", base))
	k.must(k.sessions().UpdateSession(k.Context(), "s1", base))
}

func (k sessions) conflict() {
	u, v := k.user("u1", ""), k.user("u2", "")
	k.session(u, "s1", base)
	again := &store.Session{Token: "s1", UserID: v.ID, Expires: base.Add(time.Hour)}
	k.want(k.sessions().CreateSession(k.Context(), again), core.ErrConflict)
	session, user, err := k.sessions().SessionAndUser(k.Context(), "s1")
	k.must(err)
	if session.UserID != u.ID || user.ID != u.ID || !session.Expires.Equal(base) {
		k.Error("the session was overwritten")
	}
}

func (k sessions) oddTimes() {
	u := k.user("u1", "")
	for i, at := range times {
		token := fmt.Sprint("s", i)
		k.session(u, token, base)
		k.must(k.sessions().UpdateSession(k.Context(), token, at))
		session, _, err := k.sessions().SessionAndUser(k.Context(), token)
		k.must(err)
		if diff := session.Expires.Sub(at).Abs(); diff >= time.Millisecond {
			k.Errorf("%v came back as %v", at, session.Expires)
		}
	}
}

// crowd runs more concurrent lookups than any connection pool has connections. Some users have two devices, or two tabs
// in one browser, or no session. Each changes the values that it gets.
func (k sessions) crowd() {
	const people = 12
	var all sync.WaitGroup
	for i := range people {
		u := k.user(fmt.Sprint("u", i), fmt.Sprint("u", i, "@example.com"))
		for device := range 2 {
			token, expires := fmt.Sprint("s", i, device), base.Add(time.Duration(2*i+device)*time.Hour)
			k.session(u, token, expires)
			for range 2 {
				all.Go(func() { k.readAgain(u, token, expires) })
			}
		}
		all.Go(func() {
			for _, other := range []string{fmt.Sprint("S", i, 0), fmt.Sprint("s", i), fmt.Sprint("s", i, "0\x00"), "none", ""} {
				_, _, err := k.sessions().SessionAndUser(k.Context(), other)
				k.want(err, core.ErrNotFound)
			}
		})
	}
	all.Wait()
}

func (k sessions) readAgain(u *core.User, token string, expires time.Time) {
	for range 5 {
		session, user, err := k.sessions().SessionAndUser(k.Context(), token)
		if err != nil {
			k.Error(err)
			return
		}
		k.same(user, u)
		if string(session.Token) != token || session.UserID != u.ID || !session.Expires.Equal(expires) {
			k.Errorf("a session of %q until %v for one of %q until %v", session.UserID, session.Expires, u.ID, expires)
		}
		user.Name, session.UserID, session.Expires = "changed", "changed", base
	}
}

func (k sessions) atOnce() {
	u := k.user("u1", "ada@example.com")
	for i := range 20 {
		token := fmt.Sprint("s", i)
		k.session(u, token, base)
		k.race(8, core.ErrNotFound, func(i int) error {
			if i == 4 {
				_, err := k.sessions().DeleteSession(k.Context(), token)
				return err
			}
			return k.sessions().UpdateSession(k.Context(), token, base.Add(time.Duration(i)*time.Hour))
		})
		_, _, err := k.sessions().SessionAndUser(k.Context(), token)
		k.want(err, core.ErrNotFound)
	}
}

func (k sessions) ofUser() {
	u, v := k.user("u1", "ada@example.com"), k.user("u2", "eve@example.com")
	k.session(u, "s1", base)
	k.session(u, "s2", base)
	k.session(v, "s3", base)
	lister := k.store.(store.SessionLister)
	list, err := lister.Sessions(k.Context(), u.ID)
	k.must(err)
	if len(list) != 2 {
		k.Errorf("%d sessions listed", len(list))
	}
	n, err := lister.DeleteSessions(k.Context(), u.ID)
	k.must(err)
	if n != 2 {
		k.Errorf("%d sessions deleted", n)
	}
	_, _, err = k.sessions().SessionAndUser(k.Context(), "s3")
	k.must(err)
}
