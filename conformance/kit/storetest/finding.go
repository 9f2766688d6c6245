package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// finding are the cases of lists of users.
type finding struct{ *kit }

func (k *kit) finder() store.UserFinder { return k.store.(store.UserFinder) }

// page is one call of a list of users.
type page func(cursor string, limit int) (users []*store.User, next string, err error)

func (k *kit) allUsers(cursor string, limit int) ([]*store.User, string, error) {
	return k.finder().ListUsers(k.Context(), cursor, limit)
}

func (k *kit) byPrefix(prefix string) page {
	return func(cursor string, limit int) ([]*store.User, string, error) {
		return k.finder().ListUsersByEmail(k.Context(), prefix, cursor, limit)
	}
}

// listUsers reads all pages, and calls between after each of them. It returns the number of times that each user was
// listed, by ID, and the number of pages.
func (k *kit) listUsers(read page, limit int, between func(users []*store.User)) (times map[string]int, pages int) {
	k.Helper()
	times = map[string]int{}
	for cursor := ""; ; {
		users, next, err := read(cursor, limit)
		k.must(err)
		if len(users) > most(limit) {
			k.Errorf("%d users on a page of %d", len(users), limit)
		}
		for _, u := range users {
			times[u.ID]++
		}
		pages++
		if between != nil {
			between(users)
		}
		if cursor = next; cursor == "" {
			return times, pages
		}
	}
}

// most is the maximum number of users on a page: limit is a hint, for databases that read several keys at a time.
func most(limit int) int { return 2*limit + 16 }

// once checks that each user was listed once, and no other user unless others is set.
func (k *kit) once(times map[string]int, users map[string]*core.User, others bool) {
	k.Helper()
	for id, n := range times {
		if n != 1 || users[id] == nil && !others {
			k.Errorf("the user %s was listed %d times", id, n)
		}
	}
	for id, u := range users {
		if times[id] == 0 {
			k.Errorf("the user %s with the address %q was not listed", id, u.Email)
		}
	}
}

// crowd creates n users, every fifth without an address.
func (k *kit) crowd(n int) map[string]*core.User {
	k.Helper()
	all := map[string]*core.User{}
	for i := range n {
		email := fmt.Sprintf("u%03d@example.com", i)
		if i%5 == 4 {
			email = ""
		}
		u := k.user(fmt.Sprint("crowd", i), email)
		all[u.ID] = u
	}
	return all
}

func (k finding) pages() {
	users, _, err := k.allUsers("", 10)
	k.must(err)
	if len(users) > 0 {
		k.Errorf("an empty store lists %d users", len(users))
	}
	all := k.crowd(53)
	for _, u := range all { // other rows of the users are not listed
		k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", u.ID)))
		break
	}
	for _, limit := range []int{1, 7, 52, 53, 54, store.MaxPage} {
		times, _ := k.listUsers(k.allUsers, limit, func(users []*store.User) {
			for _, u := range users {
				k.same(u, all[u.ID])
			}
		})
		k.once(times, all, false)
	}
}

// growing lists the users while others are created, before, during and after each page.
func (k finding) growing() {
	all := k.crowd(40)
	stop, done := make(chan struct{}), make(chan error, 1)
	var made atomic.Int64
	go func() {
		for i := range 200 {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			u := &core.User{ID: uuid(fmt.Sprint("late", i)), Email: fmt.Sprintf("u%03d-late@example.com", i)}
			if _, err := k.store.CreateUser(k.Context(), u); err != nil {
				done <- err
				return
			}
			made.Add(1)
		}
		done <- nil
	}()
	reads := []page{k.allUsers}
	withAddress := maps.Clone(all)
	maps.DeleteFunc(withAddress, func(_ string, u *core.User) bool { return u.Email == "" })
	wants := []map[string]*core.User{all, withAddress}
	if k.findsPrefixes() {
		reads = append(reads, k.byPrefix("u"))
	}
	for i, read := range reads {
		n := 0
		times, _ := k.listUsers(read, 3, func([]*store.User) {
			n++
			k.user(fmt.Sprint("between", i, n), fmt.Sprintf("u%03d-%d@example.com", n, i))
		})
		k.once(times, wants[i], true)
	}
	close(stop)
	k.must(<-done)
	k.Logf("%d users were created meanwhile", made.Load())
}

// shrinking lists the users while the last of each page, whose ID may be the cursor, is deleted.
func (k finding) shrinking() {
	remaining := k.crowd(30)
	times, _ := k.listUsers(k.allUsers, 4, func(users []*store.User) {
		if len(users) == 0 {
			return
		}
		last := users[len(users)-1].ID
		k.must(k.store.(store.UserDeleter).DeleteUser(k.Context(), last))
		delete(remaining, last)
	})
	for id, n := range times {
		if n != 1 {
			k.Errorf("the user %s was listed %d times", id, n)
		}
	}
	k.once(times, remaining, true)
	times, _ = k.listUsers(k.allUsers, 4, nil)
	k.once(times, remaining, false)
}

// wrongCursors passes cursors that the store has not returned. The store must not fail, and must return only users.
func (k finding) wrongCursors() {
	all := k.crowd(12)
	reads := []page{k.allUsers}
	if k.findsPrefixes() {
		reads = append(reads, k.byPrefix("u"), k.byPrefix(""))
	}
	for _, read := range reads {
		for _, cursor := range []string{
			"x", "0", "-1", "18446744073709551616", "user/", "zzz", "\x00", "\xff", " ", "\n", "%", "null", "' OR '1'='1",
			"00000000-0000-0000-0000-000000000000", "ffffffffffffffffffffffff", strings.Repeat("z", 3000), "😀", `{"$gt":""}`,
			"EMAIL#u000@example.com\nEMAIL", "email/u000@example.com", uuid("nobody"),
		} {
			users, _, err := read(cursor, 5)
			if err != nil && !errors.Is(err, store.ErrCursor) {
				k.Errorf("cursor %.40q: %v", cursor, err)
			}
			for _, u := range users {
				if all[u.ID] == nil {
					k.Errorf("cursor %.40q: a user %s", cursor, u.ID)
				}
			}
		}
	}
}

func (k finding) limits() {
	all := k.crowd(40)
	for _, limit := range []int{-1 << 31, -1, 0} {
		users, next, err := k.allUsers("", limit)
		k.must(err)
		if len(users) > most(1) || len(users) < len(all) && next == "" {
			k.Errorf("limit %d: %d users, and the next cursor %q", limit, len(users), next)
		}
	}
	times, _ := k.listUsers(k.allUsers, 1<<30, nil)
	k.once(times, all, false)
	if !k.findsPrefixes() {
		return
	}
	users, next, err := k.byPrefix("u")("", -7)
	k.must(err)
	if len(users) > most(1) || len(users) < len(all) && next == "" {
		k.Errorf("limit -7: %d users, and the next cursor %q", len(users), next)
	}
}

// findsPrefixes reports whether the store supports ListUsersByEmail.
func (k *kit) findsPrefixes() bool {
	k.Helper()
	_, _, err := k.byPrefix("u")("", 1)
	if errors.Is(err, store.ErrUnsupported) {
		if !errors.Is(err, errors.ErrUnsupported) {
			k.Errorf("%v is not errors.ErrUnsupported", err)
		}
		k.Logf("%v", err)
		return false
	}
	k.must(err)
	return true
}

// prefixes finds addresses that differ in case, accents and special characters. Addresses that the database's own rules
// consider equal are skipped.
func (k finding) prefixes() {
	k.user("nobody", "")
	if !k.findsPrefixes() {
		return
	}
	all := map[string]*core.User{}
	for i, email := range []string{
		"ada@example.com", "ADA@example.com", "Ada@example.com", "ad@example.com", "adam@example.com", "áda@example.com",
		"a\u0301da@example.com", "ad%m@example.com", "ad_m@example.com", "ad*m@example.com", "ad|m@example.com",
		`ad\m@example.com`, "ad/m@example.com", "ad~m@example.com", "~ad@example.com", "adz@example.com",
		"ad😀@example.com", "adé@example.com", "ae@example.com", "b@example.com", "z@example.com", "{z@example.com",
		"zz@example.com", "\U0010ffff@example.com", "日本@example.com",
	} {
		u, err := k.store.CreateUser(k.Context(), &core.User{ID: uuid(fmt.Sprint("u", i)), Email: email})
		if errors.Is(err, store.ErrConflict) {
			k.Logf("%q is equal to another address", email)
			continue
		}
		k.must(err)
		all[u.ID] = u
	}
	for _, prefix := range []string{
		"", "a", "ad", "ada", "ada@example.com", "ADA", "A", "á", "a\u0301", "ad%", "ad_", "ad*", "ad|", `ad\`, "ad/", "ad~",
		"~", "adz", "ad😀", "adé", "z", "{", "\U0010ffff", "日", "q", "ada@example.com ", "\x00", "\xff", "ad\xff",
		strings.Repeat("a", 2000),
	} {
		want := maps.Clone(all)
		maps.DeleteFunc(want, func(_ string, u *core.User) bool { return !strings.HasPrefix(u.Email, prefix) })
		for _, limit := range []int{1, 3, 100} {
			times, _ := k.listUsers(k.byPrefix(prefix), limit, func(users []*store.User) {
				for _, u := range users {
					k.same(u, all[u.ID])
				}
			})
			k.once(times, want, false)
			if k.Failed() {
				k.Fatalf("prefix %.40q, pages of %d", prefix, limit)
			}
		}
	}
}

// moved changes an address. The user is then found by the new one only.
func (k finding) moved() {
	if !k.findsPrefixes() {
		return
	}
	u := k.user("u1", "ada@example.com")
	u.Email = "bob@example.com"
	_, err := k.store.UpdateUser(k.Context(), u)
	k.must(err)
	other := k.user("u2", "ada@example.com")
	for prefix, id := range map[string]string{"ada": other.ID, "bob": u.ID} {
		times, _ := k.listUsers(k.byPrefix(prefix), 10, nil)
		if !maps.Equal(times, map[string]int{id: 1}) {
			k.Errorf("prefix %s: %v, want %s", prefix, times, id)
		}
	}
}

// Large fills a store with n users and n records, and lists them: all of them, and few of them by a prefix. It checks
// the number of calls and their duration. Batch is the number of rows in a transaction; zero means no transactions.
// With -short it is skipped.
func Large(t *testing.T, s core.Store, n, batch int) {
	t.Helper()
	if testing.Short() {
		t.Skip("fills the store with many rows")
	}
	k := &kit{t, s}
	began := time.Now()
	ids := make([]string, n)
	k.fill(n, batch, func(ctx context.Context, s core.Store, i int) error {
		u, err := s.CreateUser(ctx, &core.User{ID: uuid(fmt.Sprint("u", i)), Email: fmt.Sprintf("u%06d@example.com", i)})
		if err == nil {
			ids[i] = u.ID
		}
		return err
	})
	k.fill(n, batch, func(ctx context.Context, s core.Store, i int) error {
		r := &store.Record{Kind: "large", Key: fmt.Sprintf("k%06d", i), Value: []byte("1")}
		if i%2 == 0 {
			r.Expires = base
		}
		return s.(store.RecordStore).CreateRecord(ctx, r)
	})
	t.Logf("%d users and %d records, written in %v", n, n, time.Since(began).Round(time.Millisecond))

	pages := 0
	k.bounded("users", n, &pages, func() {
		var times map[string]int
		times, pages = k.listUsers(k.allUsers, store.MaxPage, nil)
		if len(times) != n {
			t.Errorf("%d users, want %d", len(times), n)
		}
		for _, id := range ids {
			if times[id] != 1 {
				t.Fatalf("the user %s was listed %d times", id, times[id])
			}
		}
	})
	if k.findsPrefixes() {
		k.bounded("users by prefix", 0, &pages, func() {
			var times map[string]int
			times, pages = k.listUsers(k.byPrefix("u00001"), 100, nil)
			if len(times) != 10 {
				t.Errorf("%d users by prefix, want 10", len(times))
			}
		})
	}
	for prefix, want := range map[string]int{"": n, "k00001": 10} {
		k.bounded("records", n, &pages, func() {
			var seen map[string]bool
			if seen, pages = k.listRecords("large", prefix); len(seen) != want {
				t.Errorf("%d records with the prefix %q, want %d", len(seen), prefix, want)
			}
		})
	}
}

// bounded checks the number of pages, and the duration, of a list of a store with three keys for each of n users.
func (k *kit) bounded(what string, n int, pages *int, list func()) {
	k.Helper()
	began := time.Now()
	list()
	took := time.Since(began)
	k.Logf("%s: %d pages in %v", what, *pages, took.Round(time.Millisecond))
	if most := 5*n/store.MaxPage + 5; *pages > most {
		k.Errorf("%s: %d pages, want at most %d", what, *pages, most)
	}
	if took > time.Minute {
		k.Errorf("%s: %v, want less than a minute", what, took)
	}
}

// fill calls create for each number below n, in concurrent transactions if batch is not zero.
func (k *kit) fill(n, batch int, create func(ctx context.Context, s core.Store, i int) error) {
	k.Helper()
	const workers = 4
	var next atomic.Int64
	failed := make(chan error, workers)
	work := func() error {
		size := max(batch, 1)
		for {
			from := int(next.Add(int64(size))) - size
			if from >= n {
				return nil
			}
			all := func(ctx context.Context, s core.Store) error {
				for i := from; i < min(from+size, n); i++ {
					if err := create(ctx, s, i); err != nil {
						return err
					}
				}
				return nil
			}
			var err error
			if batch == 0 {
				err = all(k.Context(), k.store)
			} else {
				err = k.store.(store.Transactor).InTransaction(k.Context(), all)
			}
			if err != nil {
				return err
			}
		}
	}
	for range workers {
		go func() { failed <- work() }()
	}
	var errs []error
	for range workers {
		errs = append(errs, <-failed)
	}
	k.must(errors.Join(errs...))
}

// listRecords returns the keys of the records of a kind with a prefix.
func (k *kit) listRecords(kind, prefix string) (seen map[string]bool, pages int) {
	k.Helper()
	seen = map[string]bool{}
	for cursor := ""; ; {
		list, next, err := k.store.(store.RecordLister).ListRecords(k.Context(), kind, prefix, cursor, store.MaxPage)
		k.must(err)
		for _, r := range list {
			seen[r.Key] = true
		}
		pages++
		if cursor = next; cursor == "" {
			return seen, pages
		}
	}
}
