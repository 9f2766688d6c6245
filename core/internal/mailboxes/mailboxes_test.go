package mailboxes_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/mailboxes"
	"github.com/latchkey-go/latchkey/core/store"
)

// table is a store with users by address. It counts lookups.
type table struct {
	store.Store
	users   map[string]*store.User
	lookups int
	err     error
}

func (t *table) UserByEmail(_ context.Context, email string) (*store.User, error) {
	t.lookups++
	if u := t.users[email]; u != nil {
		return u, nil
	}
	if t.err != nil {
		return nil, t.err
	}
	return nil, store.ErrNotFound
}

// TestFind checks whom each lookup finds, and the number of lookups, which must not reveal whether an address exists.
func TestFind(t *testing.T) {
	t.Parallel()
	verified := time.Unix(1, 0)
	const canonical, spelled = "ada@example.com", "Ada@Example.com"
	user := func(id, email string, at time.Time) *store.User {
		return &store.User{ID: id, Email: email, EmailVerified: at}
	}
	for name, row := range map[string]struct {
		users                      []*store.User
		given                      string
		find, canonicalOnly, first string // IDs
		lookups                    int    // of Find
	}{
		"canonical":        {[]*store.User{user("1", canonical, verified)}, canonical, "1", "1", "1", 1},
		"no user":          {nil, canonical, "", "", "", 1},
		"no user, spelled": {nil, spelled, "", "", "", 2},
		"spelled in table": {[]*store.User{user("2", spelled, verified)}, spelled, "2", "2", "2", 2},
		"both, first proved": {
			[]*store.User{user("1", canonical, verified), user("2", spelled, verified)}, spelled, "1", "1", "1", 2,
		},
		"only second proved": {
			[]*store.User{user("1", canonical, time.Time{}), user("2", spelled, verified)}, spelled, "2", "2", "1", 2,
		},
		"none proved": {
			[]*store.User{user("1", canonical, time.Time{}), user("2", spelled, time.Time{})}, spelled, "1", "1", "1", 2,
		},
		"not an address":    {[]*store.User{user("1", "ada", verified)}, "ada", "", "", "", 0},
		"several addresses": {nil, "ada@example.com,eve@example.com", "", "", "", 0},
	} {
		s := &table{users: map[string]*store.User{}}
		for _, u := range row.users {
			s.users[u.Email] = u
		}
		check := func(function, want string, u *store.User, err error) {
			if got := u; want == "" && !errors.Is(err, store.ErrNotFound) || want != "" && (err != nil || got.ID != want) {
				t.Errorf("%s, %s: %v, %v", name, function, u, err)
			}
		}
		u, err := mailboxes.Find(t.Context(), s, row.given)
		check("Find", row.find, u, err)
		if s.lookups != row.lookups {
			t.Errorf("%s: %d lookups", name, s.lookups)
		}
		u, err = mailboxes.FindCanonical(t.Context(), s, canonical, row.given)
		check("FindCanonical", row.canonicalOnly, u, err)
		u, err = mailboxes.FindFirst(t.Context(), s, canonical, row.given)
		check("FindFirst", row.first, u, err)
	}
}

// TestFailures checks that a failure of the second lookup is not taken for a missing user.
func TestFailures(t *testing.T) {
	t.Parallel()
	failure := errors.New("unavailable")
	s := &table{users: map[string]*store.User{"ada@example.com": {ID: "1", Email: "ada@example.com"}}, err: failure}
	if _, err := mailboxes.Find(t.Context(), s, "Ada@example.com"); !errors.Is(err, failure) {
		t.Error(err)
	}
	if _, err := mailboxes.Find(t.Context(), s, "eve@example.com"); !errors.Is(err, failure) {
		t.Error(err)
	}
	if _, err := mailboxes.ByEmail(t.Context(), s, ""); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

// TestSame compares spellings.
func TestSame(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		a, b string
		same bool
	}{
		{"ada@example.com", "ADA@example.com", true}, {"ada@bücher.example", "ada@xn--bcher-kva.example", true},
		{"ada@example.com", "eve@example.com", false}, {"", "", false}, {"ada", "ada", false},
	} {
		if mailboxes.Same(row.a, row.b) != row.same {
			t.Errorf("%q and %q", row.a, row.b)
		}
	}
}

// TestFindTyped checks which spelling of an address an email is sent to.
func TestFindTyped(t *testing.T) {
	t.Parallel()
	const canonical, spelled = "ada@example.com", "Ada@Example.com"
	for name, row := range map[string]struct {
		stored string
		want   string
		found  bool
	}{
		"no user":                    {"", canonical, false},
		"the canonical form":         {canonical, canonical, true},
		"another spelling":           {spelled, spelled, true},
		"an address of someone else": {"eve@example.com", canonical, false},
	} {
		users := &table{users: map[string]*store.User{row.stored: {ID: "1", Email: row.stored}}}
		user, address, err := mailboxes.FindTyped(t.Context(), users, canonical, spelled)
		if address != row.want || (err == nil) != row.found || (user != nil) != row.found {
			t.Errorf("%s: %v at %q, %v", name, user, address, err)
		}
	}
}
