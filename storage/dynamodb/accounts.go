package dynamodb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/latchkey-go/latchkey/core/store"
)

// accountNames are the attributes of an account that are not in Extra. session_state and authorization_details are
// stored as JSON, like the members of Extra.
var accountNames = []string{
	"userId", "type", "provider", "providerAccountId",
	"refresh_token", "access_token", "expires_at", "id_token", "scope", "token_type",
}

func (s *Store) accountOf(of item) (*store.Account, error) {
	a := store.Account{
		UserID: plain(of, "userId"), Type: store.ProviderType(plain(of, "type")),
		Provider: plain(of, "provider"), ProviderAccountID: plain(of, "providerAccountId"),
	}
	a.RefreshToken, a.AccessToken = store.Secret(plain(of, "refresh_token")), store.Secret(plain(of, "access_token"))
	a.IDToken = store.Secret(plain(of, "id_token"))
	a.Scope, a.TokenType = plain(of, "scope"), plain(of, "token_type")
	expires, err := whole(of, "expires_at")
	if err != nil {
		return nil, err
	}
	a.SetExpiresAtUnix(expires)
	all, err := s.members(of, accountNames)
	if err != nil {
		return nil, err
	}
	pull := func(name string) json.RawMessage {
		raw := all[name]
		delete(all, name)
		return raw
	}
	a.SessionState, a.AuthorizationDetails = pull("session_state"), pull("authorization_details")
	a.SetStoredMembers(all)
	return &a, nil
}

// accountItem returns the item of an account. before is the stored item, or nil.
func (s *Store) accountItem(a *store.Account, before item) (item, error) {
	err := storable(string(a.Type), a.Provider, a.ProviderAccountID,
		string(a.RefreshToken), string(a.AccessToken), string(a.IDToken), a.Scope, a.TokenType)
	if err != nil {
		return nil, err
	}
	of := item{"type": str(string(a.Type)), "provider": str(a.Provider), "providerAccountId": str(a.ProviderAccountID)}
	for name, value := range map[string]string{
		"refresh_token": string(a.RefreshToken), "access_token": string(a.AccessToken),
		"id_token": string(a.IDToken), "scope": a.Scope, "token_type": a.TokenType,
	} {
		orNone(of, name, value)
	}
	if !a.ExpiresAt.IsZero() {
		of["expires_at"] = num(strconv.FormatInt(a.ExpiresAtUnix(), 10))
	}
	all := maps.Clone(a.StoredMembers())
	if all == nil {
		all = store.Members{}
	}
	for name, raw := range map[string]json.RawMessage{
		"session_state": a.SessionState, "authorization_details": a.AuthorizationDetails,
	} {
		delete(all, name)
		if len(raw) > 0 {
			all[name] = raw
		}
	}
	s.indexed(of, "ACCOUNT#"+a.Provider, "ACCOUNT#"+a.ProviderAccountID)
	return of, s.write(of, all, accountNames, before)
}

// LinkAccount implements [store.Store]. It returns ErrNotFound if the user does not exist.
func (s *Store) LinkAccount(ctx context.Context, a *store.Account) error {
	const operation = "link account"
	of, err := s.accountItem(a, nil)
	if err != nil {
		return failed(ctx, operation, err)
	}
	entry := item{"provider": str(a.Provider), "providerAccountId": str(a.ProviderAccountID)}
	claim, k := accountEntry(a.UserID, a.Provider, a.ProviderAccountID), accountKey(a.Provider, a.ProviderAccountID)
	err = s.add(ctx, a.UserID, claim, k, entry, of)
	return failed(ctx, operation, err)
}

// UpdateAccount implements [store.AccountStore]. It changes neither the user nor the type of the account.
func (s *Store) UpdateAccount(ctx context.Context, a *store.Account) error {
	return failed(ctx, "update account", s.updateAccount(ctx, a))
}

func (s *Store) updateAccount(ctx context.Context, a *store.Account) error {
	k := accountKey(a.Provider, a.ProviderAccountID)
	for {
		before, err := s.must(ctx, k)
		if err != nil {
			return err
		}
		of, err := s.accountItem(a, before)
		if err != nil {
			return err
		}
		for _, name := range []string{"userId", "type", "id", nonceName} {
			if v := before[name]; v != nil {
				of[name] = v
			}
		}
		// Only if it is still the account that was read: an account that was unlinked meanwhile must not reappear.
		err = s.put(ctx, k, of, is(nonceName, "=", before[nonceName]))
		if !errors.Is(err, errCondition) {
			return err
		}
	}
}

// UnlinkAccount implements [store.AccountStore].
func (s *Store) UnlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	_, err := s.take(ctx, accountKey(provider, providerAccountID), func(of item) key {
		return accountEntry(plain(of, "userId"), provider, providerAccountID)
	})
	return failed(ctx, "unlink account", err)
}

// Account implements [store.AccountStore].
func (s *Store) Account(ctx context.Context, provider, providerAccountID string) (*store.Account, error) {
	const operation = "read account"
	of, err := s.must(ctx, accountKey(provider, providerAccountID))
	return decoded(ctx, operation, of, err, s.accountOf)
}

// Accounts implements [store.AccountStore]. The list is ordered by provider and account ID.
func (s *Store) Accounts(ctx context.Context, userID string) (all []*store.Account, err error) {
	const operation = "list accounts"
	items, err := s.list(ctx, userID, "ACCOUNT#")
	all, err = allDecoded(ctx, operation, items, err, s.accountOf)
	slices.SortFunc(all, func(a, b *store.Account) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ProviderAccountID, b.ProviderAccountID))
	})
	return all, err
}
