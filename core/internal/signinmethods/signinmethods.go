// Package signinmethods lists and removes the sign-in methods of users: their accounts and passkeys. It records when
// they were added.
package signinmethods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/sessionid"
)

const (
	// kind is the kind of the records that contain the time when a sign-in method was added. The key is the ID of the
	// method. They expire after recent.
	kind   = "method"
	recent = 31 * 24 * time.Hour
)

// note is the content of a record.
type note struct {
	Added int64 `json:"at"` // Unix seconds
}

// Method is a sign-in method.
type Method struct {
	// ID is a hash of the account or the credential ID.
	ID       string
	Provider string
	Passkey  bool
	// Added is when the method was added, to the second. It is zero if that was long ago or is unknown.
	Added time.Time

	accounts   []*store.Account
	credential string // credential ID of a passkey
}

// AccountID returns the ID of an account as a sign-in method.
func AccountID(a *store.Account) string {
	return sessionid.Of("account " + a.Provider + " " + a.ProviderAccountID).String()
}

// PasskeyID returns the ID of a passkey as a sign-in method.
func PasskeyID(credentialID string) string { return sessionid.Of("passkey " + credentialID).String() }

// OfAccount returns the sign-in method of an account.
func OfAccount(a *store.Account) Method {
	return Method{
		ID: AccountID(a), Provider: a.Provider, Passkey: a.Type == store.TypeWebAuthn, accounts: []*store.Account{a},
	}
}

// Methods are the sign-in methods in a store. An interface that the store does not implement is nil.
type Methods struct {
	Accounts store.AccountStore
	Passkeys store.AuthenticatorStore
	Deleter  store.AuthenticatorDeleter
	Records  store.RecordStore
	Now      func() time.Time
}

// List returns the accounts and the passkeys of a user, in the order of the store. A passkey without an account cannot
// sign in and is left out.
func (s *Methods) List(ctx context.Context, userID string) (all []Method, err error) {
	var accounts []*store.Account
	if s.Accounts != nil {
		if accounts, err = s.Accounts.Accounts(ctx, userID); err != nil {
			return nil, fmt.Errorf("list the accounts of a user: %w", err)
		}
	}
	var keys []*store.Authenticator
	if s.Passkeys != nil {
		if keys, err = s.Passkeys.Authenticators(ctx, userID); err != nil {
			return nil, fmt.Errorf("list the passkeys of a user: %w", err)
		}
	}
	added, err := s.added(ctx, userID)
	if err != nil {
		return nil, fmt.Errorf("list the records of sign-in methods: %w", err)
	}
	for _, a := range accounts {
		if a.Type == store.TypeWebAuthn || a.Type == store.TypeEmail {
			continue
		}
		m := OfAccount(a)
		m.Added = added[m.ID]
		all = append(all, m)
	}
	for _, k := range keys {
		m := Method{ID: PasskeyID(k.CredentialID), Passkey: true, credential: k.CredentialID}
		m.Added = added[m.ID]
		for _, a := range accounts {
			if a.Type == store.TypeWebAuthn && a.ProviderAccountID == k.ProviderAccountID {
				m.Provider = a.Provider
				m.accounts = append(m.accounts, a)
			}
		}
		if len(m.accounts) > 0 {
			all = append(all, m)
		}
	}
	return all, nil
}

// added returns when the recent sign-in methods of a user were added, by ID.
func (s *Methods) added(ctx context.Context, userID string) (map[string]time.Time, error) {
	if s.Records == nil {
		return nil, nil
	}
	list, err := s.Records.UserRecords(ctx, userID, kind)
	added := make(map[string]time.Time, len(list))
	for _, r := range list {
		var n note
		if json.Unmarshal(r.Value, &n) == nil && r.Expires.After(s.Now()) {
			added[r.Key] = time.Unix(n.Added, 0)
		}
	}
	return added, err
}

// Note records that a sign-in method was added now. It does nothing if the store has no records.
func (s *Methods) Note(ctx context.Context, userID, id string) error {
	if s.Records == nil {
		return nil
	}
	now := s.Now()
	value, err := json.Marshal(note{now.Unix()})
	if err != nil {
		return err
	}
	r := &store.Record{Kind: kind, Key: id, UserID: userID, Value: value, Expires: now.Add(recent)}
	if err = s.Records.CreateRecord(ctx, r); !errors.Is(err, store.ErrConflict) {
		return err
	}
	// The method was added before, and removed since.
	if err := s.forget(ctx, id); err != nil {
		return err
	}
	return s.Records.CreateRecord(ctx, r)
}

// Remove removes the method's accounts before its passkey, because a passkey without its account cannot sign in.
func (s *Methods) Remove(ctx context.Context, m *Method) error {
	for _, a := range m.accounts {
		err := s.Accounts.UnlinkAccount(ctx, a.Provider, a.ProviderAccountID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	if m.Passkey && s.Deleter != nil {
		err := s.Deleter.DeleteAuthenticator(ctx, m.credential)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	if s.Records == nil {
		return nil
	}
	return s.forget(ctx, m.ID)
}

// forget deletes the record of a method.
func (s *Methods) forget(ctx context.Context, id string) error {
	_, err := s.Records.DeleteRecord(ctx, kind, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
