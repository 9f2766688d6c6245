package keyvalue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

var errDown = errors.New("the engine is down")

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error %v, want %v", err, target)
	}
}

// filled returns a store with a user who has n each of sessions, accounts, passkeys and records.
func filled(t *testing.T, n int) (*keyvalue.Store, *engine, *core.User) {
	t.Helper()
	e := newEngine()
	s := keyvalue.New("memory", e)
	u, err := s.CreateUser(t.Context(), &core.User{ID: "u1", Email: "ada@example.com", Name: "before"})
	must(t, err)
	for i := range n {
		name := fmt.Sprint("x", i)
		session := &store.Session{Token: core.Secret(name), UserID: "u1", Expires: time.Unix(1e9, 0)}
		must(t, s.CreateSession(t.Context(), session))
		must(t, s.LinkAccount(t.Context(), &core.Account{UserID: "u1", Provider: "p", ProviderAccountID: name}))
		must(t, s.CreateAuthenticator(t.Context(), &store.Authenticator{UserID: "u1", CredentialID: name}))
		must(t, s.CreateRecord(t.Context(), note(name, time.Unix(1e9, 0))))
	}
	return s, e, u
}

// note returns a record of the user of filled.
func note(key string, expires time.Time) *store.Record {
	return &store.Record{Kind: "note", Key: key, UserID: "u1", Value: []byte("1"), Expires: expires}
}

// failing makes the engine fail after some commits.
func (e *engine) failing(after int) {
	e.between = func(keyvalue.Change) error {
		if after--; after < 0 {
			return errDown
		}
		return nil
	}
}

// TestUpdateInterrupted makes the engine fail after each commit of a change. An acknowledged change must be read, and a
// later call must complete the work.
func TestUpdateInterrupted(t *testing.T) {
	const n = 20
	for commits := 1; ; commits++ {
		s, e, u := filled(t, n)
		if commits > 20 {
			t.Fatal("the work is never done")
		}
		e.failing(commits)
		u.Name = "after"
		_, err := s.UpdateUser(t.Context(), u)
		must(t, err)
		e.between = nil
		left := e.count("stale")
		for i := range n {
			_, got, err := s.SessionAndUser(t.Context(), fmt.Sprint("x", i))
			must(t, err)
			if got.Name != "after" {
				t.Fatalf("session %d shows what the user was, after %d commits", i, commits)
			}
		}
		if left == 0 {
			if commits < 3 {
				t.Errorf("%d sessions renewed by %d commits", n, commits)
			}
			return
		}
		_, err = s.DeleteExpired(t.Context(), time.Unix(1, 0))
		must(t, err)
		if left := e.count("stale"); left != 0 {
			t.Errorf("%d records of a change that is done", left)
		}
		before := e.reads
		_, got, err := s.SessionAndUser(t.Context(), "x1")
		must(t, err)
		if e.reads != before+1 || got.Name != "after" {
			t.Errorf("%d reads, name %q", e.reads-before, got.Name)
		}
	}
}

// TestUpdateOfMany changes a user with many sessions. This takes as many commits as for a user with few, all sessions
// return the change, and DeleteExpired renews the copies.
func TestUpdateOfMany(t *testing.T) {
	const n = 80
	s, e, u := filled(t, n)
	u.Name = "after"
	before := e.commits
	_, err := s.UpdateUser(t.Context(), u)
	must(t, err)
	if e.commits > before+2 || e.count("stale") == 0 {
		t.Errorf("%d commits, %d records of copies that are out of date", e.commits-before, e.count("stale"))
	}
	shown := func() {
		t.Helper()
		for i := range n {
			_, got, err := s.SessionAndUser(t.Context(), fmt.Sprint("x", i))
			must(t, err)
			if got.Name != "after" {
				t.Errorf("session %d shows what the user was", i)
			}
		}
	}
	shown()
	_, err = s.DeleteExpired(t.Context(), time.Unix(1, 0))
	must(t, err)
	if e.count("stale") != 0 {
		t.Errorf("%d records of copies that are out of date", e.count("stale"))
	}
	shown()
}

// TestDeleteInterrupted is TestUpdateInterrupted for a deletion.
func TestDeleteInterrupted(t *testing.T) {
	const n = 80
	finish := []struct {
		name string
		do   func(*keyvalue.Store) error
		want error
	}{
		{"by DeleteExpired", func(s *keyvalue.Store) error {
			_, err := s.DeleteExpired(t.Context(), time.Unix(1, 0))
			return err
		}, nil},
		{"by DeleteUser", func(s *keyvalue.Store) error { return s.DeleteUser(t.Context(), "u1") }, core.ErrNotFound},
		{"by a new user of that id", func(s *keyvalue.Store) error {
			_, err := s.CreateUser(t.Context(), &core.User{ID: "u1"})
			return err
		}, nil},
		{"by a new owner of an account", func(s *keyvalue.Store) error {
			return s.LinkAccount(t.Context(), &core.Account{UserID: "u2", Provider: "p", ProviderAccountID: "x79"})
		}, nil},
		{"by a new owner of a record", func(s *keyvalue.Store) error {
			r := note("x79", time.Time{})
			r.UserID = "u2"
			return s.CreateRecord(t.Context(), r)
		}, nil},
		{"in a transaction", func(s *keyvalue.Store) error {
			return s.InTransaction(t.Context(), func(ctx context.Context, tx core.Store) error {
				if _, err := tx.CreateUser(ctx, &core.User{ID: "u3"}); err != nil {
					return err
				}
				passkey := &store.Authenticator{UserID: "u3", CredentialID: "x79"}
				return tx.(store.AuthenticatorStore).CreateAuthenticator(ctx, passkey)
			})
		}, nil},
	}
	for _, f := range finish {
		t.Run(f.name, func(t *testing.T) {
			for commits := 1; ; commits++ {
				if commits > 30 {
					t.Fatal("the work is never done")
				}
				s, e, _ := filled(t, n)
				_, err := s.CreateUser(t.Context(), &core.User{ID: "u2"})
				must(t, err)
				e.failing(commits)
				err = s.DeleteUser(t.Context(), "u1")
				e.between = nil
				if err == nil {
					break
				}
				want(t, err, errDown)
				_, err = s.User(t.Context(), "u1")
				want(t, err, core.ErrNotFound)
				_, err = s.UserByEmail(t.Context(), "ada@example.com")
				want(t, err, core.ErrNotFound)
				for i := range n {
					_, _, err := s.SessionAndUser(t.Context(), fmt.Sprint("x", i))
					want(t, err, core.ErrNotFound)
					_, err = s.UserByAccount(t.Context(), "p", fmt.Sprint("x", i))
					want(t, err, core.ErrNotFound)
				}
				want(t, f.do(s), f.want)
				_, err = s.DeleteExpired(t.Context(), time.Unix(1, 0)) // until then, the other remains are not deleted
				must(t, err)
				left := e.count("session") + e.count("stale") + e.count("user-")
				if left > 1 || e.count("account/") > 1 || e.count("passkey/") > 1 || e.count("record") > 1 {
					t.Errorf("%d left after %d commits", left, commits)
				}
			}
		})
	}
}

// meanwhile runs do once, before the first commit that is selects.
func (e *engine) meanwhile(is func(keyvalue.Change) bool, do func()) (happened *bool) {
	happened = new(bool)
	e.between = func(c keyvalue.Change) error {
		if !*happened && is(c) {
			*happened = true
			do()
		}
		return nil
	}
	return happened
}

func renews(c keyvalue.Change) bool {
	return len(c.Put) > 0 && strings.HasPrefix(c.Put[0].Key, "session/") && len(c.Add) == 0
}
func sweeps(c keyvalue.Change) bool {
	return len(c.Delete) > 0 && strings.HasPrefix(c.Delete[0], "expires/")
}
func settled(c keyvalue.Change) bool {
	return len(c.Delete) > 0 && strings.HasPrefix(c.Delete[0], "stale/")
}

// TestConcurrentRecovery runs other calls while the copies of a user are renewed, or the remains of a user are deleted.
func TestConcurrentRecovery(t *testing.T) {
	for name, moment := range map[string]func(keyvalue.Change) bool{"renewing": renews, "done": settled} {
		t.Run("another change, "+name, func(t *testing.T) {
			s, e, u := filled(t, 3)
			happened := e.meanwhile(moment, func() {
				newest := *u
				newest.Name = "newest"
				_, err := s.UpdateUser(t.Context(), &newest)
				must(t, err)
			})
			u.Name = "after"
			_, err := s.UpdateUser(t.Context(), u)
			must(t, err)
			before := e.reads
			_, got, err := s.SessionAndUser(t.Context(), "x0")
			must(t, err)
			if got.Name != "newest" || e.reads != before+1 || !*happened {
				t.Errorf("name %q after %d reads", got.Name, e.reads-before)
			}
		})
		t.Run("a session ends, "+name, func(t *testing.T) {
			s, e, u := filled(t, 3)
			happened := e.meanwhile(moment, func() {
				_, err := s.DeleteSession(t.Context(), "x0")
				must(t, err)
			})
			u.Name = "after"
			_, err := s.UpdateUser(t.Context(), u)
			must(t, err)
			if n := e.count("session/"); n != 2 || !*happened {
				t.Errorf("%d sessions of 3, of which one ended", n)
			}
		})
	}
	for name, moment := range map[string]func(keyvalue.Change) bool{"sweeping": sweeps, "done": settled} {
		t.Run("a new user of the id, "+name, func(t *testing.T) {
			s, e, _ := filled(t, 3)
			happened := e.meanwhile(moment, func() {
				u, err := s.CreateUser(t.Context(), &core.User{ID: "u1", Name: "another"})
				must(t, err)
				must(t, s.CreateSession(t.Context(), &store.Session{Token: "x0", UserID: u.ID, Expires: time.Unix(1e9, 0)}))
				u.Name = "changed"
				_, err = s.UpdateUser(t.Context(), u)
				must(t, err)
			})
			must(t, s.DeleteUser(t.Context(), "u1"))
			_, got, err := s.SessionAndUser(t.Context(), "x0")
			must(t, err)
			if got.Name != "changed" || e.count("session/") != 1 || !*happened {
				t.Errorf("name %q", got.Name)
			}
		})
	}
}

// TestAlwaysChanged makes every commit conflict.
func TestAlwaysChanged(t *testing.T) {
	s, e, _ := filled(t, 1)
	e.between = func(keyvalue.Change) error { return keyvalue.ErrChanged }
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.CreateUser(ctx, &core.User{ID: "u2"})
	want(t, err, context.DeadlineExceeded)
	_, err = s.CreateUser(t.Context(), &core.User{ID: "u2"})
	if err == nil || errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) ||
		errors.Is(err, keyvalue.ErrChanged) {
		t.Errorf("error %v", err)
	}
	err = s.InTransaction(t.Context(), func(ctx context.Context, tx core.Store) error {
		_, err := tx.CreateUser(ctx, &core.User{ID: "u2"})
		return err
	})
	if err == nil || errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) ||
		errors.Is(err, keyvalue.ErrChanged) {
		t.Errorf("error %v", err)
	}
}

// TestSizes checks the limits for queries and changes that engines may rely on, with many rows.
func TestSizes(t *testing.T) {
	s, e, u := filled(t, 250)
	e.largest = 0
	e.reading = func(q keyvalue.Query) {
		if len(q.Keys)+len(q.Sets) > 100 {
			t.Errorf("a query of %d keys and %d sets", len(q.Keys), len(q.Sets))
		}
	}
	u.Name = "after"
	_, err := s.UpdateUser(t.Context(), u)
	must(t, err)
	_, err = s.Accounts(t.Context(), "u1")
	must(t, err)
	for range 50 {
		text := fmt.Sprint(e.revision)
		token := &store.VerificationToken{Identifier: "a", Token: text, Expires: time.Unix(1e9, 0)}
		must(t, s.CreateVerificationToken(t.Context(), token))
	}
	n, err := s.DeleteExpired(t.Context(), time.Unix(2e9, 0))
	must(t, err)
	if n != 550 {
		t.Errorf("%d expired", n)
	}
	must(t, s.DeleteUser(t.Context(), "u1"))
	if e.largest > 110 || e.largest < 50 {
		t.Errorf("a change of %d operations", e.largest)
	}
	if places := e.count("cleaned/"); len(e.records) != places || len(e.names) != 0 {
		t.Errorf("%d records and %d names left", len(e.records)-places, len(e.names))
	}
}

// TestCorrupt reads records that this package has not written. The result must be an error and not ErrNotFound.
func TestCorrupt(t *testing.T) {
	s, e, _ := filled(t, 1)
	for key := range e.records {
		e.records[key] = record{`"5ecret`, 99}
	}
	for operation, err := range map[string]error{
		"read user":     func() error { _, err := s.User(t.Context(), "u1"); return err }(),
		"read session":  func() error { _, _, err := s.SessionAndUser(t.Context(), "x0"); return err }(),
		"read account":  func() error { _, err := s.Account(t.Context(), "p", "x0"); return err }(),
		"list accounts": func() error { _, err := s.Accounts(t.Context(), "u1"); return err }(),
	} {
		if err == nil || errors.Is(err, core.ErrNotFound) || strings.Contains(err.Error(), "5ecret") ||
			!strings.HasPrefix(err.Error(), "memory: "+operation+": ") {
			t.Errorf("%s: error %v", operation, err)
		}
	}
}
