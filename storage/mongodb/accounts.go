package mongodb

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkey-go/latchkey/core/store"
)

// accountKeys are the fields of an account that an update does not change.
var accountKeys = []string{"_id", "id", "userId", "type", "provider", "providerAccountId", privateField}

// tokenFields are the fields of an account that are texts and numbers in the contract. session_state and
// authorization_details are stored as JSON, like the members of Extra.
var tokenFields = []string{"refresh_token", "access_token", "expires_at", "id_token", "scope", "token_type"}

var accountFields = append(slices.Clone(accountKeys), tokenFields...)

func byAccount(provider, id string) bson.D {
	return bson.D{{Key: "provider", Value: provider}, {Key: "providerAccountId", Value: id}}
}

// findAccount reads the document of an account.
func (s *Store) findAccount(ctx context.Context, provider, id string) (bson.Raw, error) {
	if !possible(provider, id) {
		return nil, none(ctx, "")
	}
	return find(ctx, s.accounts, byAccount(provider, id))
}

func accountOf(doc bson.Raw) (*store.Account, error) {
	id, err := owner(doc, "userId")
	if err != nil {
		return nil, err
	}
	a := store.Account{UserID: id.Hex()}
	for _, field := range []struct {
		name string
		into func(string)
	}{
		{"type", func(v string) { a.Type = store.ProviderType(v) }},
		{"provider", func(v string) { a.Provider = v }},
		{"providerAccountId", func(v string) { a.ProviderAccountID = v }},
		{"refresh_token", func(v string) { a.RefreshToken = store.Secret(v) }},
		{"access_token", func(v string) { a.AccessToken = store.Secret(v) }},
		{"id_token", func(v string) { a.IDToken = store.Secret(v) }},
		{"scope", func(v string) { a.Scope = v }},
		{"token_type", func(v string) { a.TokenType = v }},
	} {
		v, _, err := text(doc, field.name)
		if err != nil {
			return nil, err
		}
		field.into(v)
	}
	expires, err := whole(doc, "expires_at")
	if err != nil {
		return nil, err
	}
	a.SetExpiresAtUnix(expires)
	all, err := members(doc, accountFields)
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

// accountValues returns the fields of an account that an update overwrites.
func accountValues(a *store.Account) (bson.D, string, error) {
	err := storable(string(a.RefreshToken), string(a.AccessToken), string(a.IDToken), a.Scope, a.TokenType)
	if err != nil {
		return nil, "", err
	}
	var expires any
	if !a.ExpiresAt.IsZero() {
		expires = a.ExpiresAtUnix()
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
	natives, extra, err := fields(all, accountFields)
	return append(bson.D{
		{Key: "refresh_token", Value: orNull(string(a.RefreshToken))},
		{Key: "access_token", Value: orNull(string(a.AccessToken))}, {Key: "expires_at", Value: expires},
		{Key: "id_token", Value: orNull(string(a.IDToken))}, {Key: "scope", Value: orNull(a.Scope)},
		{Key: "token_type", Value: orNull(a.TokenType)},
	}, natives...), extra, err
}

// LinkAccount implements [store.Store]. It returns ErrNotFound if the user does not exist.
func (s *Store) LinkAccount(ctx context.Context, a *store.Account) error {
	return failed(ctx, "link account", s.linkAccount(ctx, a))
}

func (s *Store) linkAccount(ctx context.Context, a *store.Account) error {
	if err := storable(string(a.Type), a.Provider, a.ProviderAccountID); err != nil {
		return err
	}
	user, err := objectID(a.UserID)
	if err != nil {
		return err
	}
	values, extra, err := accountValues(a)
	if err != nil {
		return err
	}
	d := append(bson.D{
		{Key: "userId", Value: user}, {Key: "type", Value: string(a.Type)}, {Key: "provider", Value: a.Provider},
		{Key: "providerAccountId", Value: a.ProviderAccountID},
	}, values...)
	if extra != "" {
		d = append(d, bson.E{Key: privateField, Value: bson.D{{Key: "extra", Value: extra}}})
	}
	return s.insertFor(ctx, user, s.accounts, d, byAccount(a.Provider, a.ProviderAccountID))
}

// UpdateAccount implements [store.AccountStore]. It changes neither the user nor the type of the account.
func (s *Store) UpdateAccount(ctx context.Context, a *store.Account) error {
	return failed(ctx, "update account", s.updateAccount(ctx, a))
}

func (s *Store) updateAccount(ctx context.Context, a *store.Account) error {
	values, extra, err := accountValues(a)
	if err != nil {
		return err
	}
	doc, err := s.findAccount(ctx, a.Provider, a.ProviderAccountID)
	if err != nil {
		return err
	}
	elements, err := doc.Elements()
	if err != nil {
		return err
	}
	unset := bson.D{}
	for _, e := range elements {
		name := e.Key()
		kept := slices.Contains(accountKeys, name) ||
			slices.ContainsFunc(values, func(v bson.E) bool { return v.Key == name })
		if !kept && fieldName(name) {
			unset = append(unset, bson.E{Key: name, Value: ""})
		}
	}
	if extra == "" {
		unset = append(unset, bson.E{Key: privateField, Value: ""})
	} else {
		values = append(values, bson.E{Key: privateField, Value: bson.D{{Key: "extra", Value: extra}}})
	}
	update := bson.D{{Key: "$set", Value: values}}
	if len(unset) > 0 {
		update = append(update, bson.E{Key: "$unset", Value: unset})
	}
	result, err := s.accounts.UpdateOne(ctx, bson.D{{Key: "_id", Value: doc.Lookup("_id")}}, update)
	if err == nil && result.MatchedCount == 0 {
		err = store.ErrNotFound
	}
	return err
}

// UnlinkAccount implements [store.AccountStore].
func (s *Store) UnlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	const operation = "unlink account"
	if !possible(provider, providerAccountID) {
		return none(ctx, operation)
	}
	return deleteOne(ctx, operation, s.accounts, byAccount(provider, providerAccountID))
}

// Account implements [store.AccountStore].
func (s *Store) Account(ctx context.Context, provider, providerAccountID string) (*store.Account, error) {
	const operation = "read account"
	doc, err := s.findAccount(ctx, provider, providerAccountID)
	return decoded(ctx, operation, doc, err, accountOf)
}

// Accounts implements [store.AccountStore]. The list is ordered by provider and account ID.
func (s *Store) Accounts(ctx context.Context, userID string) ([]*store.Account, error) {
	all, err := list(ctx, "list accounts", s.accounts, userID, "provider", accountOf)
	slices.SortFunc(all, func(a, b *store.Account) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ProviderAccountID, b.ProviderAccountID))
	})
	return all, err
}
