package emailproof_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/emailproof"
	"github.com/latchkey-go/latchkey/core/store"
)

func TestNeeded(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		user    store.User
		address string
		needed  bool
		err     error // store.ErrNotFound: any error but a conflict
	}{
		"not verified": {store.User{Email: "ada@example.com"}, "ada@example.com", true, nil},
		"verified": {
			store.User{Email: "ada@example.com", EmailVerified: time.Now()}, "ada@example.com", false, nil,
		},
		"another address":       {store.User{Email: "new@example.com"}, "ada@example.com", false, emailproof.ErrChanged},
		"compared exactly":      {store.User{Email: "ada@example.com"}, "ADA@example.com", false, store.ErrConflict},
		"no address":            {store.User{}, "", false, store.ErrNotFound},
		"an address of no user": {store.User{}, "ada@example.com", false, emailproof.ErrChanged},
	} {
		needed, err := emailproof.Needed(&row.user, row.address)
		ok := errors.Is(err, row.err)
		if errors.Is(row.err, store.ErrNotFound) {
			ok = err != nil && !errors.Is(err, store.ErrConflict)
		}
		if needed != row.needed || !ok {
			t.Errorf("%s: %v %v", name, needed, err)
		}
	}
}

// memory is a store of accounts and passkeys.
type memory struct {
	store.AccountStore
	store.AuthenticatorStore
	removed  []string
	failures map[string]error
}

func (s *memory) UnlinkAccount(_ context.Context, provider, id string) error {
	s.removed = append(s.removed, provider+" "+id)
	return s.failures[id]
}

func (s *memory) Authenticators(context.Context, string) ([]*store.Authenticator, error) {
	keys := []*store.Authenticator{
		{CredentialID: "key 1", ProviderAccountID: "p1"}, {CredentialID: "key 2", ProviderAccountID: "p2"},
		{CredentialID: "key 3", ProviderAccountID: "gone"},
	}
	return keys, s.failures["keys"]
}

func (s *memory) DeleteAuthenticator(_ context.Context, id string) error {
	s.removed = append(s.removed, id)
	return s.failures[id]
}

// TestRemove checks which accounts and passkeys stay: those whose provider has vouched for the address.
func TestRemove(t *testing.T) {
	t.Parallel()
	errUnavailable := errors.New("unavailable")
	vouched := &store.Account{Provider: "acme", ProviderAccountID: "a1", VerifiedEmail: "ADA@example.com"}
	other := &store.Account{Provider: "acme", ProviderAccountID: "a2", VerifiedEmail: "eve@example.com"}
	unvouched := &store.Account{Provider: "acme", ProviderAccountID: "a3"}
	key1 := &store.Account{Provider: "passkey", ProviderAccountID: "p1", Type: store.TypeWebAuthn}
	key2 := &store.Account{
		Provider: "passkey", ProviderAccountID: "p2", Type: store.TypeWebAuthn, VerifiedEmail: "ada@example.com",
	}
	for name, row := range map[string]struct {
		linked   []*store.Account
		failures map[string]error
		without  bool // the store has no passkeys
		keeps    bool // the store cannot delete passkeys
		want     []string
		accounts int
		err      error
	}{
		"vouched": {linked: []*store.Account{vouched, key2}},
		"unvouched": {
			linked: []*store.Account{vouched, other, unvouched}, want: []string{"acme a2", "acme a3"}, accounts: 2,
		},
		"passkeys": {
			linked: []*store.Account{key1, key2}, want: []string{"passkey p1", "key 1", "key 3"}, accounts: 1,
		},
		"a passkey before an account": {
			linked: []*store.Account{key1, unvouched}, want: []string{"passkey p1", "acme a3", "key 1", "key 2", "key 3"},
			accounts: 2,
		},
		"passkeys cannot be deleted": {
			linked: []*store.Account{key1}, keeps: true, want: []string{"passkey p1"}, accounts: 1,
		},
		"no store of passkeys": {
			linked: []*store.Account{key1, key2}, without: true, want: []string{"passkey p1"}, accounts: 1,
		},
		"removed by another request": {
			linked:   []*store.Account{key1},
			failures: map[string]error{"p1": store.ErrNotFound, "key 1": store.ErrNotFound},
			want:     []string{"passkey p1", "key 1", "key 2", "key 3"}, accounts: 1,
		},
		"an account stays": {
			linked: []*store.Account{unvouched, other}, failures: map[string]error{"a3": errUnavailable},
			want: []string{"acme a3"}, err: errUnavailable,
		},
		"a passkey stays": {
			linked: []*store.Account{key1}, failures: map[string]error{"key 1": errUnavailable},
			want: []string{"passkey p1", "key 1"}, accounts: 1, err: errUnavailable,
		},
		"no list of passkeys": {
			linked: []*store.Account{key1}, failures: map[string]error{"keys": errUnavailable},
			want: []string{"passkey p1"}, accounts: 1, err: errUnavailable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &memory{failures: row.failures}
			m := &emailproof.Methods{Accounts: s, Passkeys: s, Deleter: s}
			if row.without {
				m.Passkeys = nil
			}
			if row.keeps {
				m.Deleter = nil
			}
			removed, err := m.Remove(t.Context(), &store.User{ID: "u1", Email: "ada@example.com"}, row.linked)
			if !errors.Is(err, row.err) || len(removed) != row.accounts || !slices.Equal(s.removed, row.want) {
				t.Errorf("%d accounts, removed %q: %v", len(removed), s.removed, err)
			}
		})
	}
}
