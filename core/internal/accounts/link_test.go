package accounts_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/accounts"
	"github.com/latchkey-go/latchkey/core/internal/storecalls"
	"github.com/latchkey-go/latchkey/core/store"
)

// TestAttempts checks that a conflict that stays is an error after five attempts, and that the user with the ID of the
// new user is not deleted as if this sign-in had created them.
func TestAttempts(t *testing.T) {
	t.Parallel()
	count := func(s *tables, operation string) (n int) {
		for _, logged := range s.log {
			n += map[bool]int{true: 1}[logged == operation]
		}
		return n
	}
	s := newTables().add("u", "other@example.com", true)
	_, err := (&effects{}).link(t.Context(), newLinker(s), byOAuth(false))
	if !errors.Is(err, store.ErrConflict) || count(s, "create user") != 5 || len(s.users) != 1 {
		t.Error(err, s.log, s.users)
	}
	s = newTables().add("me", "", true).add("a", "", true, account("1", ""))
	in := byOAuth(false)
	in.Current = current("me")
	if _, err := (&effects{}).link(t.Context(), newLinker(s), in); err == nil || count(s, "user by account") != 1 {
		t.Error("another user's account is not a lost race:", err, s.log)
	}
}

// TestNewUser checks what a new user gets from the sign-in if the flow has found the previous user of the address.
func TestNewUser(t *testing.T) {
	t.Parallel()
	for owner, want := range map[string]string{"a": "new-1", "": ""} {
		s := newTables().add("a", ada, false, account("2", ""))
		in := byLink()
		in.User = &store.User{ID: "a", Name: "Eve", Email: ada, Stored: true}
		in.Account.UserID = owner
		m, err := (&effects{}).link(t.Context(), newLinker(&transactor{s, false}), in)
		if err != nil || m.User.ID != "new-1" || m.User.Name != "" || in.Account.UserID != want {
			t.Error(m.User, in.Account.UserID, err)
		}
	}
	in := byOAuth(false)
	in.User.Stored = true // deleted in the meantime
	if m, err := (&effects{}).link(t.Context(), newLinker(newTables()), in); err != nil || m.User.ID != "new-1" {
		t.Error(m.User, err)
	}
}

// TestUndoneLink checks an account that is unlinked because the user cannot be read again, or was deleted.
func TestUndoneLink(t *testing.T) {
	t.Parallel()
	for _, fault := range []error{errFault, store.ErrNotFound} {
		s := newTables().add("me", ada, false)
		ctx, disconnect := context.WithCancel(t.Context())
		s.hook = func(operation string) error {
			if operation == "user" {
				disconnect()
				return fault
			}
			return nil
		}
		in := byOAuth(false)
		in.Current = current("me")
		in.Current.User = &store.User{ID: "me", Email: ada}
		if _, err := (&effects{}).link(ctx, newLinker(s), in); !errors.Is(err, fault) || len(s.accounts) != 0 {
			t.Error(err, s.accounts)
		}
		// A store that cannot list accounts does not unlink them either.
		in.Account.UserID = ""
		if _, err := (&effects{}).link(t.Context(), newLinker(listless{s}), in); err != nil || len(s.accounts) != 1 {
			t.Error(err, s.accounts)
		}
	}
}

// TestAnnounced checks that the user is announced in the transaction, with the ID that the store has chosen, or before
// they are created.
func TestAnnounced(t *testing.T) {
	t.Parallel()
	for _, inTransaction := range []bool{false, true} {
		s, e := newTables(), &effects{}
		created := 0
		s.hook = func(operation string) error {
			if operation == "create user" {
				created = len(e.announced)
			}
			return nil
		}
		l := newLinker(s)
		if inTransaction {
			l = newLinker(&transactor{s, false})
			within := l.Within
			l.Within = func(tx store.Store) storecalls.Stores {
				found := within(tx)
				found.Records = struct{ store.RecordStore }{}
				return found
			}
		}
		_, err := e.link(t.Context(), l, byOAuth(false))
		if err != nil || !slices.Equal(e.announced, []string{"user.created"}) || (created == 0) != inTransaction {
			t.Error(err, e.announced, created)
		}
	}
}

// TestNotVouchedByOthers checks which added accounts do not count as vouched for.
func TestNotVouchedByOthers(t *testing.T) {
	t.Parallel()
	s := newTables().add("me", ada, true, account("2", ada))
	in := byOAuth(false)
	in.Current = current("me")
	in.Current.User.Email = ada
	_, err := (&effects{}).link(t.Context(), newLinker(s), in)
	if got := s.accounts["op/1"].VerifiedEmail; err != nil || got != "" {
		t.Errorf("an account of a verified user: %q, %v", got, err)
	}
	s = newTables().add("a", ada, false, account("1", ada))
	s.hook = func(operation string) error {
		return map[string]error{"user by account": store.ErrNotFound}[operation] // a lost account record
	}
	_, err = (&effects{}).link(t.Context(), newLinker(s), byOAuth(false))
	if got := s.accounts["op/1"].VerifiedEmail; err != nil || got != "" {
		t.Errorf("an account of a user who was not signed in: %q, %v", got, err)
	}
}

// TestRefresh checks what a sign-in with a known account changes in it.
func TestRefresh(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		email         string
		verified      bool
		before        string // the address that the provider has vouched for
		vouched       bool   // now
		idToken       bool
		byPasskey     bool
		after, tokens string
	}{
		"not vouched for any more": {ada, false, ada, false, false, false, ada, "fresh"},
		"vouched for now":          {ada, false, "", true, false, false, ada, "fresh"},
		"a verified user":          {ada, true, ada, false, false, false, "", "fresh"},
		"a user without address":   {"", false, ada, false, false, false, "", "fresh"},
		"only an ID token":         {ada, true, "", true, true, false, ada, "old"},
		"not by OAuth":             {ada, true, ada, false, false, true, ada, "old"},
	} {
		old := account("1", row.before)
		old.AccessToken = "old"
		s := newTables().add("a", row.email, row.verified, old)
		in := byOAuth(row.vouched)
		in.OnlyIDToken, in.OAuth = row.idToken, !row.byPasskey
		_, err := (&effects{}).link(t.Context(), newLinker(s), in)
		if got := s.accounts["op/1"]; err != nil || got.VerifiedEmail != row.after || string(got.AccessToken) != row.tokens {
			t.Errorf("%s: %q, %q, %v", name, got.VerifiedEmail, string(got.AccessToken), err)
		}
	}
}

// TestFaults checks which errors of the store fail a sign-in.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		in    *accounts.SignIn
		fails string
		fault error
		want  error
	}{
		"the account is not read":       {byOAuth(false), "account", errFault, errFault},
		"the account is not updated":    {byOAuth(false), "update account", errFault, errFault},
		"the account was unlinked":      {byOAuth(false), "account", store.ErrNotFound, nil},
		"it was unlinked before update": {byOAuth(false), "update account", store.ErrNotFound, nil},
		"the passkey is not stored":     {byPasskey("eve@example.com"), "create passkey", errFault, errFault},
	} {
		s := newTables().add("a", ada, false, account("1", ""))
		s.hook = func(operation string) error { return map[string]error{row.fails: row.fault}[operation] }
		if _, err := (&effects{}).link(t.Context(), newLinker(s), row.in); !errors.Is(err, row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := newTables().add("a", ada, true)
	s.hook = func(operation string) error { return map[string]error{"delete session": errFault}[operation] }
	in := byLink()
	in.Current = current("me")
	if _, err := (&effects{}).link(t.Context(), newLinker(s), in); !errors.Is(err, errFault) {
		t.Error("the session of the other user does not end:", err)
	}
	s = newTables().add("a", ada, false, account("1", ""))
	if m, err := (&effects{}).link(t.Context(), newLinker(listless{s}), byOAuth(false)); err != nil || m.User.ID != "a" {
		t.Error("a store without accounts:", m.User, err)
	}
	if _, err := (&effects{}).link(t.Context(), newLinker(listless{newTables()}), byPasskey("")); err == nil {
		t.Error("a store without passkeys")
	}
}
