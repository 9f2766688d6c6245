package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/latchkey-go/latchkey/core"
)

const accountColumns = `"userId", type, provider, "providerAccountId", refresh_token, access_token, expires_at, id_token, scope, session_state, token_type, authorization_details, extra`

func scanAccount(scan func(...any) error) (*core.Account, error) {
	var a core.Account
	var refresh, access, id, scope, state, kind, details, extra sql.NullString
	var expires sql.NullInt64
	err := scan(&a.UserID, &a.Type, &a.Provider, &a.ProviderAccountID, &refresh, &access, &expires, &id, &scope, &state, &kind, &details, &extra)
	if err != nil {
		return nil, err
	}
	a.RefreshToken, a.AccessToken, a.IDToken = core.Secret(refresh.String), core.Secret(access.String), core.Secret(id.String)
	a.ExpiresAt, a.Scope, a.TokenType = expires.Int64, scope.String, kind.String
	if state.Valid {
		a.SessionState = json.RawMessage(state.String)
	}
	if details.Valid {
		a.AuthorizationDetails = json.RawMessage(details.String)
	}
	if extra.Valid {
		if err := json.Unmarshal([]byte(extra.String), &a.Extra); err != nil {
			return nil, err
		}
	}
	return &a, nil
}

// tokenArgs are the values of an account after its key.
func tokenArgs(a *core.Account) ([]any, error) {
	extra, err := members(a.Extra)
	return []any{
		optional(string(a.RefreshToken)), optional(string(a.AccessToken)), sql.NullInt64{Int64: a.ExpiresAt, Valid: a.ExpiresAt != 0},
		optional(string(a.IDToken)), optional(a.Scope), optional(string(a.SessionState)), optional(a.TokenType),
		optional(string(a.AuthorizationDetails)), extra,
	}, err
}

// LinkAccount implements [core.Store].
func (s *Store) LinkAccount(ctx context.Context, a *core.Account) error {
	args, err := tokenArgs(a)
	if err != nil {
		return failed("link account", err)
	}
	return s.exec(ctx, "link account", `INSERT INTO accounts (`+accountColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, 1,
		append([]any{a.UserID, string(a.Type), a.Provider, a.ProviderAccountID}, args...)...)
}

// UpdateAccount implements [core.AccountUpdater].
func (s *Store) UpdateAccount(ctx context.Context, a *core.Account) error {
	args, err := tokenArgs(a)
	if err != nil {
		return failed("update account", err)
	}
	return s.exec(ctx, "update account", `UPDATE accounts SET refresh_token = ?, access_token = ?, expires_at = ?, id_token = ?, scope = ?,
		session_state = ?, token_type = ?, authorization_details = ?, extra = ? WHERE provider = ? AND "providerAccountId" = ?`, 1,
		append(args, a.Provider, a.ProviderAccountID)...)
}

// UnlinkAccount implements [core.Deleter].
func (s *Store) UnlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	return s.exec(ctx, "unlink account", `DELETE FROM accounts WHERE provider = ? AND "providerAccountId" = ?`, 1, provider, providerAccountID)
}

// Account implements [core.AuthenticatorStore].
func (s *Store) Account(ctx context.Context, provider, providerAccountID string) (*core.Account, error) {
	row := s.q.QueryRowContext(ctx, `SELECT `+accountColumns+` FROM accounts WHERE provider = ? AND "providerAccountId" = ?`, provider, providerAccountID)
	a, err := scanAccount(row.Scan)
	return a, failed("read account", err)
}

// Accounts implements [core.Deleter], ordered by provider and account.
func (s *Store) Accounts(ctx context.Context, userID string) ([]*core.Account, error) {
	return list(ctx, s, "list accounts", scanAccount, `SELECT `+accountColumns+` FROM accounts WHERE "userId" = ? ORDER BY provider, "providerAccountId"`, userID)
}

// list reads all rows of a query.
func list[T any](ctx context.Context, s *Store, operation string, scan func(func(...any) error) (*T, error), query string, args ...any) ([]*T, error) {
	rows, err := s.q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, failed(operation, err)
	}
	defer func() { _ = rows.Close() }()
	var out []*T
	for rows.Next() {
		v, err := scan(rows.Scan)
		if err != nil {
			return nil, failed(operation, err)
		}
		out = append(out, v)
	}
	return out, failed(operation, rows.Err())
}
