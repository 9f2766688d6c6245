package sqlstore

import (
	"context"
	"database/sql"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/sqlpool"
)

func (s *Store) readAccount(rows sqlpool.Rows) (*store.Account, error) {
	var a store.Account
	var user, kind, refresh, access, id, scope, state, tokenType, details text
	var expires sql.NullInt64
	further := membersOf(s.layout.AccountMembers)
	into := []any{
		&user, &kind, &a.Provider, &a.ProviderAccountID,
		&refresh, &access, &expires, &id, &scope, &state, &tokenType, &details,
	}
	if err := rows.Scan(further.into(into)...); err != nil {
		return nil, err
	}
	a.UserID, a.Type = user.value, store.ProviderType(kind.value)
	a.RefreshToken, a.AccessToken = store.Secret(refresh.value), store.Secret(access.value)
	a.IDToken = store.Secret(id.value)
	a.Scope, a.TokenType = scope.value, tokenType.value
	a.SetExpiresAtUnix(expires.Int64)
	a.SessionState, a.AuthorizationDetails = decodeJSON(state), decodeJSON(details)
	m, err := further.members()
	a.SetStoredMembers(m)
	return &a, err
}

// accountArgs returns the values of an account's columns after its key.
func (s *Store) accountArgs(a *store.Account) ([]any, error) {
	state, err := encodeJSON(a.SessionState)
	if err != nil {
		return nil, err
	}
	details, err := encodeJSON(a.AuthorizationDetails)
	if err != nil {
		return nil, err
	}
	further, err := memberArgs(a.StoredMembers(), s.layout.AccountMembers)
	return append([]any{
		orNull(string(a.RefreshToken)), orNull(string(a.AccessToken)),
		sql.NullInt64{Int64: a.ExpiresAtUnix(), Valid: !a.ExpiresAt.IsZero()},
		orNull(string(a.IDToken)), orNull(a.Scope), state, orNull(a.TokenType), details,
	}, further...), err
}

// LinkAccount implements [store.Store]. It returns ErrNotFound if the user does not exist.
func (s *Store) LinkAccount(ctx context.Context, a *store.Account) error {
	args, err := s.accountArgs(a)
	if err != nil {
		return s.failed(ctx, "link account", err, nil)
	}
	args = s.withRecordID(accounts, append([]any{string(a.Type), a.Provider, a.ProviderAccountID}, args...))
	return s.execOne(ctx, "link account", s.linkAccount, append(args, s.id(a.UserID))...)
}

// UpdateAccount implements [store.AccountStore]. It changes neither the user nor the type of the account.
func (s *Store) UpdateAccount(ctx context.Context, a *store.Account) error {
	args, err := s.accountArgs(a)
	if err != nil {
		return s.failed(ctx, "update account", err, nil)
	}
	args = append(args, a.Provider, a.ProviderAccountID)
	return s.updateOne(ctx, "update account", s.updateAccount, s.account, 2, args...)
}

// UnlinkAccount implements [store.AccountStore].
func (s *Store) UnlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	return s.execOne(ctx, "unlink account", s.unlinkAccount, provider, providerAccountID)
}

// Account implements [store.AccountStore].
func (s *Store) Account(ctx context.Context, provider, providerAccountID string) (*store.Account, error) {
	return queryOne(ctx, s, "read account", s.account, s.readAccount, provider, providerAccountID)
}

// Accounts implements [store.AccountStore]. The list is ordered by provider and account ID.
func (s *Store) Accounts(ctx context.Context, userID string) ([]*store.Account, error) {
	return query(ctx, s, "list accounts", s.accounts, s.readAccount, s.id(userID))
}

func readAuthenticator(rows sqlpool.Rows) (*store.Authenticator, error) {
	var a store.Authenticator
	var user, transports text
	err := rows.Scan(&a.CredentialID, &user, &a.ProviderAccountID, &a.CredentialPublicKey, &a.Counter,
		&a.CredentialDeviceType, &a.CredentialBackedUp, &transports)
	a.UserID, a.Transports = user.value, transports.value
	return &a, err
}

// Authenticator implements [store.AuthenticatorStore].
func (s *Store) Authenticator(ctx context.Context, credentialID string) (*store.Authenticator, error) {
	return queryOne(ctx, s, "read authenticator", s.authenticator, readAuthenticator, credentialID)
}

// CreateAuthenticator implements [store.AuthenticatorStore]. It returns ErrNotFound if the user does not exist.
func (s *Store) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	args := s.withRecordID(authenticators, []any{
		a.CredentialID, a.ProviderAccountID, a.CredentialPublicKey, int64(a.Counter),
		a.CredentialDeviceType, a.CredentialBackedUp, orNull(a.Transports),
	})
	return s.execOne(ctx, "create authenticator", s.createAuthenticator, append(args, s.id(a.UserID))...)
}

// Authenticators implements [store.AuthenticatorStore]. The list is ordered by credential ID.
func (s *Store) Authenticators(ctx context.Context, userID string) ([]*store.Authenticator, error) {
	return query(ctx, s, "list authenticators", s.authenticators, readAuthenticator, s.id(userID))
}

// UpdateAuthenticatorCounter implements [store.AuthenticatorStore].
func (s *Store) UpdateAuthenticatorCounter(
	ctx context.Context, credentialID string, counter uint32,
) error {
	return s.updateOne(ctx, "update authenticator", s.updateCounter, s.authenticator, 1, int64(counter), credentialID)
}

// DeleteAuthenticator implements [store.AuthenticatorDeleter].
func (s *Store) DeleteAuthenticator(ctx context.Context, credentialID string) error {
	return s.execOne(ctx, "delete authenticator", s.deleteAuthenticator, credentialID)
}

// CreateVerificationToken implements [store.VerificationTokenStore]. It returns ErrConflict if the identifier already
// has this token.
func (s *Store) CreateVerificationToken(ctx context.Context, t *store.VerificationToken) error {
	expires, err := s.encodeTime(t.Expires)
	if err != nil {
		return s.failed(ctx, "create verification token", err, nil)
	}
	args := s.withRecordID(tokens, []any{t.Identifier, t.Token, expires})
	_, err = s.exec(ctx, "create verification token", s.createToken, args...)
	return err
}

// UseVerificationToken implements [store.VerificationTokenStore]. The database deletes a row only once, so only one
// caller gets it.
func (s *Store) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	read := func(rows sqlpool.Rows) (*store.VerificationToken, error) {
		var t store.VerificationToken
		expires := timeColumn{engine: s.engine}
		err := rows.Scan(&t.Identifier, &t.Token, &expires)
		t.Expires = expires.at
		return &t, err
	}
	return deleteOne(ctx, s, "use verification token", s.token, s.useToken, read, identifier, token)
}
