package passkeys_test

import (
	"context"
	"errors"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/passkeys"
	"github.com/latchkey-go/latchkey/core/store"
)

// rows is a store with a user, a passkey and an account.
type rows struct {
	store.Store
	store.AccountStore
	user    store.User
	account store.Account
	key     store.Authenticator
	fault   error
	linked  *store.Account
	created *store.Authenticator
}

func newRows() *rows {
	return &rows{
		user:    store.User{ID: "u1", Email: "ada@example.com"},
		account: store.Account{UserID: "u1", Provider: "passkey", ProviderAccountID: "+/8=", Label: "stored"},
		key:     store.Authenticator{UserID: "u1", CredentialID: "+/8=", ProviderAccountID: "+/8=", Transports: "usb"},
	}
}

// find returns v, the fault, or store.ErrNotFound.
func find[T any](r *rows, v *T, found bool) (*T, error) {
	switch {
	case r.fault != nil:
		return nil, r.fault
	case !found:
		return nil, store.ErrNotFound
	}
	return v, nil
}

func (r *rows) User(_ context.Context, id string) (*store.User, error) {
	return find(r, &r.user, id == r.user.ID)
}

func (r *rows) UserByEmail(_ context.Context, email string) (*store.User, error) {
	return find(r, &r.user, email == r.user.Email)
}

func (r *rows) UserByAccount(_ context.Context, provider, id string) (*store.User, error) {
	return find(r, &r.user, provider == r.account.Provider && id == r.account.ProviderAccountID)
}

func (r *rows) Account(_ context.Context, provider, id string) (*store.Account, error) {
	return find(r, &r.account, provider == r.account.Provider && id == r.account.ProviderAccountID)
}

func (r *rows) LinkAccount(_ context.Context, a *store.Account) error {
	r.linked = a
	return r.fault
}

func (r *rows) Authenticator(context.Context, string) (*store.Authenticator, error) {
	return &r.key, r.fault
}

func (r *rows) Authenticators(context.Context, string) ([]*store.Authenticator, error) {
	return []*store.Authenticator{&r.key}, r.fault
}

func (r *rows) CreateAuthenticator(_ context.Context, a *store.Authenticator) error {
	r.created = a
	return r.fault
}

func (r *rows) UpdateAuthenticatorCounter(_ context.Context, _ string, counter uint32) error {
	r.key.Counter = counter
	return r.fault
}

var errFault = errors.New("fault")

func TestDescribed(t *testing.T) {
	t.Parallel()
	r := newRows()
	s := passkeys.Stores{Passkeys: r}
	all, err := s.Described(t.Context(), "u1")
	if err != nil || len(all) != 1 || all[0].ID != "-_8" {
		t.Errorf("%+v, %v", all, err)
	}
	r.key.CredentialID = "-_8"
	if _, err := s.Described(t.Context(), "u1"); err == nil {
		t.Error("a credential ID in base64url is accepted")
	}
	r.fault = errFault
	if _, err := s.Described(t.Context(), "u1"); !errors.Is(err, errFault) {
		t.Errorf("%v", err)
	}
}

// TestOwner finds the user of a passkey in a store with accounts and in one without.
func TestOwner(t *testing.T) {
	t.Parallel()
	for _, accounts := range []bool{true, false} {
		r := newRows()
		s := passkeys.Stores{Users: r, Passkeys: r}
		label := ""
		if accounts {
			s.Accounts, label = r, "stored"
		}
		user, account, err := s.Owner(t.Context(), "passkey", &r.key, 7)
		if err != nil || user.ID != "u1" || account.UserID != "u1" || account.ProviderAccountID != "+/8=" ||
			account.Label != label || r.key.Counter != 7 {
			t.Errorf("%+v, %+v, %v", user, account, err)
		}
		if _, _, err := s.Owner(t.Context(), "other", &r.key, 7); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("another provider: %v", err)
		}
		r.account.UserID, r.user.ID = "u2", "u3"
		if _, _, err := s.Owner(t.Context(), "passkey", &r.key, 7); accounts && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a deleted user: %v", err)
		}
		r.fault = errFault
		if _, _, err := s.Owner(t.Context(), "passkey", &r.key, 7); !errors.Is(err, errFault) {
			t.Errorf("%v", err)
		}
	}
}

// TestTyped: the address that an unauthenticated user types is that of a user, the label of passkeys, or new.
func TestTyped(t *testing.T) {
	t.Parallel()
	r := newRows()
	r.account.ProviderAccountID = "label@example.com"
	s := passkeys.Stores{Users: r}
	for _, row := range []struct {
		address        string
		labels, exists bool
		id, email      string
	}{
		{"", true, false, "", ""}, {"ada@example.com", false, true, "u1", "ada@example.com"},
		{"new@example.com", true, false, "", "new@example.com"},
		{"label@example.com", true, true, "u1", "ada@example.com"},
		{"label@example.com", false, false, "", "label@example.com"},
	} {
		user, exists, err := s.Typed(t.Context(), "passkey", row.address, row.address, row.labels)
		if user == nil {
			user = &store.User{}
		}
		if err != nil || exists != row.exists || user.ID != row.id || user.Email != row.email {
			t.Errorf("%+v: %+v, %v, %v", row, user, exists, err)
		}
	}
	r.fault = errFault
	_, exists, err := s.Typed(t.Context(), "passkey", "ada@example.com", "", true)
	if exists || !errors.Is(err, errFault) {
		t.Errorf("%v, %v", exists, err)
	}
}

// TestAdd stores a passkey for a new user, unless a user has it.
func TestAdd(t *testing.T) {
	t.Parallel()
	r := newRows()
	s := passkeys.Stores{Users: r, Passkeys: r}
	if err := s.Add(t.Context(), r.key, &r.account, "u2"); !errors.Is(err, store.ErrConflict) || r.linked != nil {
		t.Errorf("the passkey of another user: %v", err)
	}
	account := &store.Account{Provider: "passkey", ProviderAccountID: "new"}
	key := store.Authenticator{CredentialID: "new"}
	if err := s.Add(t.Context(), key, account, "u2"); err != nil || r.linked.UserID != "u2" || account.UserID != "" ||
		r.created.UserID != "u2" || r.created.CredentialID != "new" {
		t.Errorf("%+v, %+v, %v", r.linked, r.created, err)
	}
	r.fault, r.linked, r.created = errFault, nil, nil
	if err := s.Add(t.Context(), key, account, "u2"); !errors.Is(err, errFault) || r.linked != nil || r.created != nil {
		t.Errorf("%v", err)
	}
}
