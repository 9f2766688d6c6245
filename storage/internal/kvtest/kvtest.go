// Package kvtest tests the common behavior of the stores on key-value databases, on the real database. It is for the
// tests of those stores.
package kvtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core/store"
)

// Store has the methods that the stores on key-value databases share.
type Store interface {
	store.Store
	store.SessionStore
	store.VerificationTokenStore
	store.AuthenticatorStore
	store.AuthenticatorDeleter
	store.Transactor
	store.AccountStore
	store.UserDeleter
	store.SessionLister
	store.Cleaner
	store.RecordStore
	Ping(ctx context.Context) error
}

// Run runs all tests, each on an empty store.
func Run(t *testing.T, trouble storetest.Trouble, open func(t *testing.T) Store) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Store){
		"a user with many sessions is changed":         manyCopies,
		"a user with many of everything is deleted":    manyOwned,
		"a change is never read late":                  neverLate,
		"a deleted user is never read":                 neverDeleted,
		"many operations in a transaction":             longTransaction,
		"transactions that meet go on":                 meeting,
		"a transaction runs again after a conflict":    overtaken,
		"a transaction within a transaction":           nested,
		"a transaction that is over":                   over,
		"reads in a transaction include its writes":    ownWrites,
		"a passkey and an account need a user":         noUser,
		"texts in keys":                                keys,
		"an expired session that was extended is kept": extended,
		"errors hold no values":                        func(t *testing.T, s Store) { noValues(t, s, trouble) },
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error %v, want %v", err, target)
	}
}

func user(t testing.TB, s store.Store, id string) *store.User {
	t.Helper()
	u, err := s.CreateUser(t.Context(), &store.User{ID: id, Email: id + "@example.com", Name: "0"})
	must(t, err)
	return u
}

// ends is the expiry of the sessions in these tests.
var ends = time.Date(2030, 1, 2, 3, 4, 5, 678000000, time.UTC)

func session(t testing.TB, s store.SessionStore, user, token string) {
	t.Helper()
	must(t, s.CreateSession(t.Context(), &store.Session{Token: store.Secret(token), UserID: user, Expires: ends}))
}

func record(t testing.TB, s store.RecordStore, user, key string) {
	t.Helper()
	must(t, s.CreateRecord(t.Context(), &store.Record{
		Kind: "note", Key: key, UserID: user, Value: []byte("1"), Expires: ends,
	}))
}

func manyCopies(t *testing.T, s Store) {
	u := user(t, s, "u1")
	const n = 130
	for i := range n {
		session(t, s, "u1", fmt.Sprint("s", i))
	}
	for round, size := range []int{10, 50_000} {
		u.Name = strings.Repeat(strconv.Itoa(round), size)
		_, err := s.UpdateUser(t.Context(), u)
		must(t, err)
		for i := range n {
			_, got, err := s.SessionAndUser(t.Context(), fmt.Sprint("s", i))
			must(t, err)
			if got.Name != u.Name {
				t.Fatalf("session %d shows %.10s, want %.10s", i, got.Name, u.Name)
			}
		}
	}
	list, err := s.Sessions(t.Context(), "u1")
	must(t, err)
	if len(list) != n {
		t.Errorf("%d sessions listed, want %d", len(list), n)
	}
	gone, err := s.DeleteSessions(t.Context(), "u1")
	must(t, err)
	list, err = s.Sessions(t.Context(), "u1")
	must(t, err)
	if gone != n || len(list) != 0 {
		t.Errorf("%d sessions deleted, %d left", gone, len(list))
	}
}

func manyOwned(t *testing.T, s Store) {
	user(t, s, "u1")
	user(t, s, "u2")
	const n = 130
	for i := range n {
		name := fmt.Sprint("x", i)
		session(t, s, "u1", name)
		must(t, s.LinkAccount(t.Context(), &store.Account{UserID: "u1", Provider: "p", ProviderAccountID: name}))
		must(t, s.CreateAuthenticator(t.Context(), &store.Authenticator{UserID: "u1", CredentialID: name}))
		record(t, s, "u1", name)
	}
	records, err := s.UserRecords(t.Context(), "u1", "note")
	must(t, err)
	if len(records) != n {
		t.Errorf("%d records", len(records))
	}
	list, err := s.Accounts(t.Context(), "u1")
	must(t, err)
	inOrder := slices.IsSortedFunc(list, func(a, b *store.Account) int {
		return strings.Compare(a.ProviderAccountID, b.ProviderAccountID)
	})
	if !inOrder || len(list) != n {
		t.Errorf("%d accounts, or out of order", len(list))
	}
	must(t, s.DeleteUser(t.Context(), "u1"))
	want(t, s.DeleteUser(t.Context(), "u1"), store.ErrNotFound)
	user(t, s, "u1") // the same ID
	for i := range n {
		name := fmt.Sprint("x", i)
		_, err := s.DeleteSession(t.Context(), name)
		want(t, err, store.ErrNotFound)
		must(t, s.LinkAccount(t.Context(), &store.Account{UserID: "u2", Provider: "p", ProviderAccountID: name}))
		must(t, s.CreateAuthenticator(t.Context(), &store.Authenticator{UserID: "u2", CredentialID: name}))
		record(t, s, "u2", name)
	}
	if list, err := s.Accounts(t.Context(), "u1"); err != nil || len(list) != 0 {
		t.Errorf("%d accounts of a new user, %v", len(list), err)
	}
}

// neverLate changes a user while sessions are created and read. A read after an acknowledged change must see it.
func neverLate(t *testing.T, s Store) {
	u := user(t, s, "u1")
	session(t, s, "u1", "s0")
	var acknowledged, made, reads, late atomic.Int64
	done := make(chan struct{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for ended := false; !ended; {
				select {
				case <-done:
					ended = true
				default:
				}
				least := acknowledged.Load()
				_, got, err := s.SessionAndUser(t.Context(), fmt.Sprint("s", reads.Add(1)%(made.Load()+1)))
				if err != nil {
					t.Error(err)
					return
				}
				if n, _ := strconv.ParseInt(got.Name, 10, 64); n < least {
					late.Add(1)
				}
			}
		})
	}
	all.Go(func() {
		for i := int64(1); i <= 60; i++ {
			session := &store.Session{Token: store.Secret(fmt.Sprint("s", i)), UserID: "u1", Expires: ends}
			if err := s.CreateSession(t.Context(), session); err != nil {
				t.Error(err)
				return
			}
			made.Store(i)
		}
	})
	for i := int64(1); i <= 100; i++ {
		u.Name = strconv.FormatInt(i, 10)
		_, err := s.UpdateUser(t.Context(), u)
		must(t, err)
		acknowledged.Store(i)
	}
	close(done)
	all.Wait()
	if late.Load() > 0 {
		t.Errorf("%d of %d reads were late", late.Load(), reads.Load())
	}
	t.Logf("%d reads, %d sessions", reads.Load(), made.Load()+1)
}

// neverDeleted deletes users during their sign-ins. Afterwards nothing of them may exist.
func neverDeleted(t *testing.T, s Store) {
	for round := range 15 {
		id := fmt.Sprint("u", round)
		user(t, s, id)
		var made atomic.Int64
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() { createUntilGone(t, s, id, fmt.Sprint(id, i), &made) })
		}
		for made.Load() < 10 && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
		must(t, s.DeleteUser(t.Context(), id))
		all.Wait()
		for n := range 4 * int(made.Load()) {
			if _, err := s.DeleteSession(t.Context(), fmt.Sprint(id, n%4, n/4)); !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("a session of a deleted user: %v", err)
			}
		}
	}
}

// createUntilGone creates sessions, whose tokens have this prefix, until the user is deleted.
func createUntilGone(t *testing.T, s Store, userID, prefix string, made *atomic.Int64) {
	for n := 0; ; n++ {
		token := store.Secret(fmt.Sprint(prefix, n))
		err := s.CreateSession(t.Context(), &store.Session{Token: token, UserID: userID, Expires: ends})
		if errors.Is(err, store.ErrNotFound) {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		made.Add(1)
	}
}

func longTransaction(t *testing.T, s Store) {
	const n = 40
	must(t, s.InTransaction(t.Context(), func(ctx context.Context, tx store.Store) error {
		if _, err := tx.CreateUser(ctx, &store.User{ID: "u1"}); err != nil {
			return err
		}
		for i := range n {
			session := &store.Session{Token: store.Secret(fmt.Sprint("s", i)), UserID: "u1", Expires: ends}
			err := tx.(store.SessionStore).CreateSession(ctx, session)
			if err != nil {
				return err
			}
		}
		return nil
	}))
	err := s.InTransaction(t.Context(), func(ctx context.Context, tx store.Store) error {
		gone, err := tx.(store.SessionLister).DeleteSessions(ctx, "u1")
		if gone != n {
			t.Errorf("%d sessions deleted", gone)
		}
		return err
	})
	must(t, err)
	list, err := s.Sessions(t.Context(), "u1")
	must(t, err)
	if len(list) != 0 {
		t.Errorf("%d sessions left", len(list))
	}
}

// meeting runs many concurrent sign-ins of one user: each reads and writes the same records.
func meeting(t *testing.T, s Store) {
	user(t, s, "u1")
	must(t, s.LinkAccount(t.Context(), &store.Account{UserID: "u1", Provider: "p", ProviderAccountID: "1"}))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			err := s.InTransaction(t.Context(), func(ctx context.Context, tx store.Store) error {
				u, err := tx.UserByAccount(ctx, "p", "1")
				if err != nil {
					return err
				}
				a := &store.Account{Provider: "p", ProviderAccountID: "1", AccessToken: store.Secret(fmt.Sprint(i))}
				err = tx.(store.AccountStore).UpdateAccount(ctx, a)
				if err != nil {
					return err
				}
				session := &store.Session{Token: store.Secret(fmt.Sprint("s", i)), UserID: u.ID, Expires: ends}
				return tx.(store.SessionStore).CreateSession(ctx, session)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// overtaken changes what a transaction has read. The transaction must run again, but not without limit.
func overtaken(t *testing.T, s Store) {
	user(t, s, "u1")
	begun := 0
	must(t, s.InTransaction(t.Context(), func(ctx context.Context, tx store.Store) error {
		u, err := tx.User(ctx, "u1")
		if err != nil {
			return err
		}
		if begun++; begun == 1 {
			changed := *u
			changed.Name = "changed by others"
			if _, err := s.UpdateUser(ctx, &changed); err != nil {
				return err
			}
		}
		u.Image = "i"
		_, err = tx.UpdateUser(ctx, u)
		return err
	}))
	u, err := s.User(t.Context(), "u1")
	must(t, err)
	if u.Name != "changed by others" || u.Image != "i" || begun != 2 {
		t.Errorf("name %q, image %q after %d attempts", u.Name, u.Image, begun)
	}
	// But not without limit.
	begun = 0
	err = s.InTransaction(t.Context(), func(ctx context.Context, tx store.Store) error {
		u, err := tx.User(ctx, "u1")
		if err != nil {
			return err
		}
		begun++
		changed := *u
		changed.Name = fmt.Sprint("changed ", begun)
		if _, err := s.UpdateUser(ctx, &changed); err != nil {
			return err
		}
		_, err = tx.UpdateUser(ctx, u)
		return err
	})
	if err == nil || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict) || begun > 100 {
		t.Errorf("error %v after %d attempts", err, begun)
	}
}

var errTest = errors.New("the test says no")

func nested(t *testing.T, s Store) {
	err := s.InTransaction(t.Context(), func(ctx context.Context, outer store.Store) error {
		if _, err := outer.CreateUser(ctx, &store.User{ID: "u1"}); err != nil {
			return err
		}
		inner := func(id string, result error) error {
			return outer.(store.Transactor).InTransaction(ctx, func(ctx context.Context, tx store.Store) error {
				if _, err := tx.CreateUser(ctx, &store.User{ID: id}); err != nil {
					return err
				}
				return result
			})
		}
		want(t, inner("u2", errTest), errTest)
		want(t, inner("u1", nil), store.ErrConflict)
		func() {
			defer func() { _ = recover() }()
			_ = outer.(store.Transactor).InTransaction(ctx, func(ctx context.Context, tx store.Store) error {
				_, err := tx.CreateUser(ctx, &store.User{ID: "u4"})
				panic(err)
			})
		}()
		return inner("u3", nil)
	})
	must(t, err)
	for id, target := range map[string]error{"u1": nil, "u2": store.ErrNotFound, "u3": nil, "u4": store.ErrNotFound} {
		if _, err := s.User(t.Context(), id); !errors.Is(err, target) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func over(t *testing.T, s Store) {
	var kept store.Store
	must(t, s.InTransaction(t.Context(), func(_ context.Context, tx store.Store) error { kept = tx; return nil }))
	if _, err := kept.CreateUser(t.Context(), &store.User{ID: "u1"}); err == nil {
		t.Error("a transaction that was over took a user")
	}
	nothing := func(context.Context, store.Store) error { return nil }
	if err := kept.(store.Transactor).InTransaction(t.Context(), nothing); err == nil {
		t.Error("a transaction that was over began another")
	}
	_, err := s.User(t.Context(), "u1")
	want(t, err, store.ErrNotFound)
}

func ownWrites(t *testing.T, s Store) {
	user(t, s, "before")
	session(t, s, "before", "b1")
	must(t, s.InTransaction(t.Context(), func(ctx context.Context, outer store.Store) error {
		tx := outer.(Store)
		u := user(t, tx, "u1")
		must(t, tx.LinkAccount(ctx, &store.Account{UserID: "u1", Provider: "p", ProviderAccountID: "1"}))
		session(t, tx, "u1", "s1")
		session(t, tx, "u1", "s2")
		u.Name = "changed"
		_, err := tx.UpdateUser(ctx, u)
		must(t, err)
		_, got, err := tx.SessionAndUser(ctx, "s1")
		must(t, err)
		if got.Name != "changed" {
			t.Errorf("name %q", got.Name)
		}
		must(t, tx.UpdateSession(ctx, "s1", ends.Add(time.Hour)))
		want(t, tx.UpdateSession(ctx, "none", ends), store.ErrNotFound)
		_, err = tx.DeleteSession(ctx, "s2")
		must(t, err)
		list, err := tx.Sessions(ctx, "u1")
		must(t, err)
		if len(list) != 1 || !list[0].Expires.Equal(ends.Add(time.Hour)) {
			t.Errorf("%d sessions", len(list))
		}
		must(t, tx.DeleteUser(ctx, "before"))
		want(t, tx.DeleteUser(ctx, "before"), store.ErrNotFound)
		_, _, err = tx.SessionAndUser(ctx, "b1")
		want(t, err, store.ErrNotFound)
		if _, err := tx.CreateUser(ctx, &store.User{ID: "before"}); err == nil {
			t.Error("an id was given again before its sessions were gone")
		}
		must(t, tx.CreateVerificationToken(ctx, &store.VerificationToken{Identifier: "a", Token: "t", Expires: ends}))
		n, err := tx.DeleteExpired(ctx, ends.Add(time.Minute))
		must(t, err)
		if n != 2 { // the token, and the session of the deleted user
			t.Errorf("%d expired", n)
		}
		return nil
	}))
	session, got, err := s.SessionAndUser(t.Context(), "s1")
	must(t, err)
	if got.Name != "changed" || !session.Expires.Equal(ends.Add(time.Hour)) {
		t.Errorf("name %q, until %v", got.Name, session.Expires)
	}
	_, err = s.DeleteSession(t.Context(), "b1")
	want(t, err, store.ErrNotFound)
}

func noUser(t *testing.T, s Store) {
	account := &store.Account{UserID: "nobody", Provider: "p", ProviderAccountID: "1"}
	want(t, s.LinkAccount(t.Context(), account), store.ErrNotFound)
	authenticator := &store.Authenticator{UserID: "nobody", CredentialID: "c"}
	want(t, s.CreateAuthenticator(t.Context(), authenticator), store.ErrNotFound)
	want(t, s.CreateSession(t.Context(), &store.Session{UserID: "nobody", Token: "t", Expires: ends}), store.ErrNotFound)
	if _, err := s.CreateUser(t.Context(), &store.User{}); err == nil || errors.Is(err, store.ErrConflict) {
		t.Errorf("a user without an id: %v", err)
	}
}

// keys uses names that must stay distinct, whatever characters separate the parts of a key.
func keys(t *testing.T, s Store) {
	for i, text := range []string{
		"", "a", "a/", "/a", "a/b", "%", "%2F", "~", "%7E",
		"~2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
		"a b", "a\nb", "ä", "{a}", "*", "a\x01",
		strings.Repeat("x", 400), strings.Repeat("x", 401), strings.Repeat("x", 5000),
	} {
		id := fmt.Sprint("u", i)
		user(t, s, id+text)
		for _, other := range []string{"", "b/"} {
			a := &store.Account{UserID: id + text, Provider: "p" + text, ProviderAccountID: other + text}
			must(t, s.LinkAccount(t.Context(), a))
		}
		session(t, s, id+text, text)
		must(t, s.CreateVerificationToken(t.Context(), &store.VerificationToken{Identifier: text, Token: id, Expires: ends}))
		_, owner, err := s.SessionAndUser(t.Context(), text)
		must(t, err)
		list, err := s.Accounts(t.Context(), id+text)
		must(t, err)
		sessions, err := s.Sessions(t.Context(), id+text)
		must(t, err)
		if owner.ID != id+text || len(list) != 2 || len(sessions) != 1 || string(sessions[0].Token) != text {
			t.Errorf("%.20q: %d accounts, %d sessions", text, len(list), len(sessions))
		}
		token, err := s.UseVerificationToken(t.Context(), text, id)
		must(t, err)
		if token.Identifier != text {
			t.Errorf("identifier %.20q", token.Identifier)
		}
	}
}

func extended(t *testing.T, s Store) {
	user(t, s, "u1")
	for i := range 250 {
		session(t, s, "u1", fmt.Sprint("s", i))
	}
	for i := range 10 {
		must(t, s.UpdateSession(t.Context(), fmt.Sprint("s", i), ends.Add(time.Hour)))
	}
	n, err := s.DeleteExpired(t.Context(), ends.Add(time.Minute))
	must(t, err)
	list, err := s.Sessions(t.Context(), "u1")
	must(t, err)
	if n != 240 || len(list) != 10 {
		t.Errorf("%d went, %d are left", n, len(list))
	}
}

func noValues(t *testing.T, s Store, trouble storetest.Trouble) {
	trouble.Fails(t, s, "", -time.Second)
	for _, text := range []string{"5ecret\x00", "5ecret\xff"} {
		for operation, call := range trouble.Calls(s, text, text) {
			err := call(t.Context())
			writes := strings.HasPrefix(operation, "create ") || strings.HasPrefix(operation, "link ")
			if err != nil && strings.Contains(err.Error(), "5ecret") ||
				writes && operation != "create session" && operation != "create record" &&
					(err == nil || !strings.Contains(err.Error(), "NUL")) {
				t.Errorf("%s: error %v", operation, err)
			}
		}
	}
	_, err := s.CreateUser(t.Context(), &store.User{ID: "u1", Extra: store.Members{"x": []byte("5ecret")}})
	if err == nil || strings.Contains(err.Error(), "5ecret") {
		t.Errorf("a member that is no JSON: %v", err)
	}
	late := &store.VerificationToken{Expires: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)}
	if err := s.CreateVerificationToken(t.Context(), late); err == nil {
		t.Error("a time that JSON cannot represent was accepted")
	}
}
