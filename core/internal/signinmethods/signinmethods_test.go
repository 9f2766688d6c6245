package signinmethods_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/signinmethods"
	"github.com/latchkey-go/latchkey/core/store"
)

var (
	now      = time.Unix(1_000_000, 0)
	errFault = errors.New("fault")
)

// tables is a store with the methods of the user ada. Operations with the name in fails return an error.
type tables struct {
	store.AccountStore
	store.AuthenticatorStore
	store.RecordStore
	accounts []*store.Account
	keys     []*store.Authenticator
	records  map[string]*store.Record
	fails    string
}

func (t *tables) fail(operation string) error {
	if t.fails == operation {
		return errFault
	}
	return nil
}

func (t *tables) Accounts(context.Context, string) ([]*store.Account, error) {
	return t.accounts, t.fail("accounts")
}

func (t *tables) UnlinkAccount(_ context.Context, provider, id string) error {
	n := len(t.accounts)
	t.accounts = slices.DeleteFunc(t.accounts, func(a *store.Account) bool {
		return a.Provider == provider && a.ProviderAccountID == id
	})
	if len(t.accounts) == n {
		return store.ErrNotFound
	}
	return t.fail("unlink")
}

func (t *tables) Authenticators(context.Context, string) ([]*store.Authenticator, error) {
	return t.keys, t.fail("passkeys")
}

func (t *tables) DeleteAuthenticator(_ context.Context, id string) error {
	if id == "" {
		return errFault
	}
	n := len(t.keys)
	t.keys = slices.DeleteFunc(t.keys, func(k *store.Authenticator) bool { return k.CredentialID == id })
	if len(t.keys) == n {
		return store.ErrNotFound
	}
	return t.fail("delete passkey")
}

func (t *tables) CreateRecord(_ context.Context, r *store.Record) error {
	if t.records[r.Key] != nil {
		return store.ErrConflict
	}
	t.records[r.Key] = r
	return t.fail("create record")
}

func (t *tables) DeleteRecord(_ context.Context, kind, key string) (*store.Record, error) {
	r := t.records[key]
	if delete(t.records, key); r == nil {
		return nil, store.ErrNotFound
	}
	return r, t.fail("delete record")
}

func (t *tables) UserRecords(context.Context, string, string) (all []*store.Record, err error) {
	for _, r := range t.records {
		all = append(all, r)
	}
	return all, t.fail("records")
}

func newMethods(fails string) (*tables, *signinmethods.Methods) {
	t := &tables{
		accounts: []*store.Account{
			{Type: store.TypeOIDC, Provider: "op", ProviderAccountID: "1"},
			{Type: store.TypeEmail, Provider: "email", ProviderAccountID: "ada@example.com"},
			{Type: store.TypeWebAuthn, Provider: "passkey", ProviderAccountID: "k1"},
			{Type: store.TypeWebAuthn, Provider: "passkey", ProviderAccountID: "ada@example.com"},
		},
		keys: []*store.Authenticator{
			{CredentialID: "k1", ProviderAccountID: "k1"}, {CredentialID: "k2", ProviderAccountID: "k2"},
		},
		records: map[string]*store.Record{}, fails: fails,
	}
	return t, &signinmethods.Methods{
		Accounts: t, Passkeys: t, Deleter: t, Records: t, Now: func() time.Time { return now },
	}
}

// TestList checks which accounts and passkeys are sign-in methods, and when they were added.
func TestList(t *testing.T) {
	t.Parallel()
	s, m := newMethods("")
	account, key := signinmethods.AccountID(s.accounts[0]), signinmethods.PasskeyID("k1")
	if account == key || account == signinmethods.AccountID(s.accounts[1]) || key == signinmethods.PasskeyID("k2") {
		t.Error("methods with the same ID")
	}
	if err := m.Note(t.Context(), "ada", key); err != nil {
		t.Fatal(err)
	}
	all, err := m.List(t.Context(), "ada")
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	if a := all[0]; a.ID != account || a.Provider != "op" || a.Passkey || !a.Added.IsZero() {
		t.Error(a)
	}
	if k := all[1]; k.ID != key || k.Provider != "passkey" || !k.Passkey || !k.Added.Equal(now) {
		t.Error(k)
	}
	s.records[key].Expires = now // whether or not it was deleted
	if all, err = m.List(t.Context(), "ada"); err != nil || !all[1].Added.IsZero() {
		t.Error(all, err)
	}
	if of := signinmethods.OfAccount(s.accounts[2]); !of.Passkey || of.ID != signinmethods.AccountID(s.accounts[2]) {
		t.Error(of)
	}
	s.accounts = append(s.accounts, &store.Account{Type: store.TypeOIDC, Provider: "op", ProviderAccountID: "k2"})
	all, err = m.List(t.Context(), "ada")
	if err != nil || len(all) != 3 || all[1].ID != signinmethods.AccountID(s.accounts[4]) || all[2].ID != key {
		t.Error("a passkey without an account that only shares its ID with one:", all, err)
	}
	if all, err := (&signinmethods.Methods{}).List(t.Context(), "ada"); len(all) > 0 || err != nil {
		t.Error("a store that lists nothing:", all, err)
	}
	for _, fails := range []string{"accounts", "passkeys", "records"} {
		if _, m := newMethods(fails); !errors.Is(second(m.List(t.Context(), "ada")), errFault) {
			t.Error("no error of", fails)
		}
	}
}

func second[A, B any](_ A, b B) B { return b }

// TestRemove checks that all that belongs to a method is removed, and that what is gone is no error.
func TestRemove(t *testing.T) {
	t.Parallel()
	s, m := newMethods("")
	all, err := m.List(t.Context(), "ada")
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range all {
		if err := m.Note(t.Context(), "ada", method.ID); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := m.Remove(t.Context(), &method); err != nil {
				t.Error(method.ID, err)
			}
		}
	}
	if len(s.accounts) != 2 || len(s.keys) != 1 || len(s.records) != 0 {
		t.Error(s.accounts, s.keys, s.records)
	}
	account, passkey := all[0], all[1]
	s, m = newMethods("delete passkey")
	if err := m.Remove(t.Context(), &account); err != nil || len(s.keys) != 2 {
		t.Error("an account:", s.keys, err)
	}
	s, m = newMethods("")
	m.Deleter, m.Records = nil, nil
	if err := m.Remove(t.Context(), &passkey); err != nil || len(s.accounts) != 3 || len(s.keys) != 2 {
		t.Error("a store that cannot delete passkeys:", s.accounts, s.keys, err)
	}
	for _, fails := range []string{"unlink", "delete passkey", "delete record"} {
		s, m := newMethods(fails)
		if err := m.Note(t.Context(), "ada", all[1].ID); err != nil {
			t.Fatal(err)
		}
		if err := m.Remove(t.Context(), &all[1]); !errors.Is(err, errFault) {
			t.Error("no error of", fails)
		}
		if _, kept := s.records[all[1].ID]; fails == "unlink" && (!kept || len(s.keys) != 2) {
			t.Error("the passkey is deleted before its account")
		}
	}
}

// TestNote checks a method that is added, removed elsewhere and added again.
func TestNote(t *testing.T) {
	t.Parallel()
	s, m := newMethods("")
	for range 2 {
		if err := m.Note(t.Context(), "ada", "id"); err != nil {
			t.Fatal(err)
		}
		if r := s.records["id"]; r.UserID != "ada" || !r.Expires.After(now.Add(30*24*time.Hour)) {
			t.Error(r)
		}
	}
	s.fails = "delete record"
	if err := m.Note(t.Context(), "ada", "id"); !errors.Is(err, errFault) {
		t.Error(err)
	}
	if _, m := newMethods("create record"); !errors.Is(m.Note(t.Context(), "ada", "id"), errFault) {
		t.Error("no error of create record")
	}
	if err := (&signinmethods.Methods{}).Note(t.Context(), "ada", "id"); err != nil {
		t.Error("a store without records:", err)
	}
}
