package keyvalue

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// accountName returns the name of an account in keys and sets.
func accountName(provider, providerAccountID string) string {
	return escaped(provider) + "/" + escaped(providerAccountID)
}

// LinkAccount implements [store.Store]. It returns ErrNotFound if the user does not exist.
func (s *Store) LinkAccount(ctx context.Context, a *store.Account) error {
	const operation = "link account"
	document, err := encodeAccount(a, a.UserID)
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	name := accountName(a.Provider, a.ProviderAccountID)
	return s.createOwned(ctx, operation, "account", name, escaped(a.UserID), document)
}

// Account implements [store.AccountStore].
func (s *Store) Account(ctx context.Context, provider, providerAccountID string) (*store.Account, error) {
	return one(ctx, s, "read account", decodeAccount, func(ctx context.Context, v *view) ([]string, error) {
		if impossible(provider, providerAccountID) {
			return nil, store.ErrNotFound
		}
		return found(v.get(ctx, key("account", accountName(provider, providerAccountID))))
	})
}

// UpdateAccount implements [store.AccountStore]. It does not change the owner.
func (s *Store) UpdateAccount(ctx context.Context, a *store.Account) error {
	const operation = "update account"
	document, err := encodeAccount(a, "")
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	at := key("account", accountName(a.Provider, a.ProviderAccountID))
	_, err = s.run(ctx, operation, func(ctx context.Context, v *view) ([]string, error) {
		old, err := found(v.get(ctx, at))
		if err != nil {
			return nil, err
		}
		o, err := decode[owner](old[0])
		if err != nil {
			return nil, err
		}
		v.put(at, ofOwner(document, o.UserID))
		return nil, nil
	})
	return err
}

// UnlinkAccount implements [store.AccountStore].
func (s *Store) UnlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	_, err := s.run(ctx, "unlink account", func(ctx context.Context, v *view) ([]string, error) {
		if impossible(provider, providerAccountID) {
			return nil, store.ErrNotFound
		}
		name := accountName(provider, providerAccountID)
		account, err := found(v.get(ctx, key("account", name)))
		if err != nil {
			return nil, err
		}
		o, err := decode[owner](account[0])
		if err != nil {
			return nil, err
		}
		v.remove(key("account", name))
		v.drop(key("user-accounts", escaped(o.UserID)), name)
		return nil, nil
	})
	return err
}

// Accounts implements [store.AccountStore]. The list is ordered by provider and account ID. If the database has lost
// the record of an account, the list contains the account with its keys only: it still belongs to the user, and
// LinkAccount creates the record again.
func (s *Store) Accounts(ctx context.Context, userID string) ([]*store.Account, error) {
	const set = "user-accounts"
	read := func(ctx context.Context, v *view) (out []string, err error) {
		if impossible(userID) {
			return nil, nil
		}
		in := key(set, escaped(userID))
		err = v.pages(ctx, in, pageSize, func(names []string) error {
			values, err := v.peek(ctx, keys("account", names)...)
			if err != nil {
				return err
			}
			for i, value := range values {
				text := value.Text
				if !value.Found {
					if text, err = v.lostAccount(ctx, userID, in, names[i]); err != nil {
						return err
					}
				}
				if text != "" {
					out = append(out, text)
				}
			}
			return nil
		})
		return out, err
	}
	return list(ctx, s, "list accounts", decodeAccount, read)
}

// lostAccount returns the account with this name in a user's set, if its record is lost. The result is empty if the
// account has been unlinked.
func (v *view) lostAccount(ctx context.Context, userID, set, name string) (string, error) {
	provider, id, ok := strings.Cut(name, "/")
	provider, plain := unescaped(provider)
	id, plainID := unescaped(id)
	if !ok || !plain || !plainID {
		return "", nil
	}
	at := key("account", name)
	delete(v.known, at)
	got, err := v.read(ctx, Query{Keys: []string{at}, Sets: []Page{{Set: set, After: before(name), Limit: 1}}})
	if err != nil || got.Values[0].Found {
		return got.Values[0].Text, err
	}
	if !slices.Contains(got.Names[0], name) {
		return "", nil
	}
	return encodeAccount(&store.Account{Provider: provider, ProviderAccountID: id}, userID)
}

func encodeAccount(a *store.Account, userID string) (string, error) {
	var o object
	o.text("userId", userID)
	o.text("type", string(a.Type))
	o.text("provider", a.Provider)
	o.text("providerAccountId", a.ProviderAccountID)
	o.optional("refresh_token", string(a.RefreshToken))
	o.optional("access_token", string(a.AccessToken))
	if !a.ExpiresAt.IsZero() {
		o.raw("expires_at", fmt.Append(nil, a.ExpiresAtUnix()))
	}
	o.optional("token_type", a.TokenType)
	o.optional("scope", a.Scope)
	o.optional("id_token", string(a.IDToken))
	o.json("session_state", a.SessionState)
	o.json("authorization_details", a.AuthorizationDetails)
	o.members("extra", a.StoredMembers())
	return o.done()
}

// ofOwner sets the owner of an account that was encoded without one.
func ofOwner(account, userID string) string {
	return `{"userId":` + string(exactjson.Quote(userID)) + strings.TrimPrefix(account, `{"userId":""`)
}

func decodeAccount(document string) (*store.Account, error) {
	d, err := decode[struct {
		UserID               string          `json:"userId"`
		Type                 string          `json:"type"`
		Provider             string          `json:"provider"`
		ProviderAccountID    string          `json:"providerAccountId"`
		RefreshToken         string          `json:"refresh_token"`
		AccessToken          string          `json:"access_token"`
		ExpiresAt            int64           `json:"expires_at"`
		TokenType            string          `json:"token_type"`
		Scope                string          `json:"scope"`
		IDToken              string          `json:"id_token"`
		SessionState         json.RawMessage `json:"session_state"`
		AuthorizationDetails json.RawMessage `json:"authorization_details"`
		Extra                store.Members   `json:"extra"`
	}](document)
	if err != nil {
		return nil, err
	}
	a := &store.Account{
		UserID: d.UserID, Type: store.ProviderType(d.Type), Provider: d.Provider, ProviderAccountID: d.ProviderAccountID,
		RefreshToken: store.Secret(d.RefreshToken), AccessToken: store.Secret(d.AccessToken),
		IDToken:   store.Secret(d.IDToken),
		TokenType: d.TokenType, Scope: d.Scope,
		SessionState: d.SessionState, AuthorizationDetails: d.AuthorizationDetails,
	}
	a.SetExpiresAtUnix(d.ExpiresAt)
	a.SetStoredMembers(d.Extra)
	return a, nil
}

// before returns a name that sorts directly before this one: after all other names that sort before it.
func before(name string) string {
	last := len(name) - 1
	return name[:last] + string([]byte{name[last] - 1}) + "\xff"
}
