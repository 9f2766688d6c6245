package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/examples/sqlc/db"
)

// Store translates between Latchkey and the application's queries. It is a [store.Store] that also implements the
// interfaces below. It does not implement [store.AuthenticatorStore] for passkeys and [store.RecordStore], which most
// plugins need. In a transaction, pool is nil.
type Store struct {
	pool    *sql.DB
	queries *db.Queries
}

var (
	_ store.AccountStore           = (*Store)(nil)
	_ store.Cleaner                = (*Store)(nil)
	_ store.SessionLister          = (*Store)(nil)
	_ store.SessionStore           = (*Store)(nil)
	_ store.Transactor             = (*Store)(nil)
	_ store.UserDeleter            = (*Store)(nil)
	_ store.VerificationTokenStore = (*Store)(nil)
)

// InTransaction implements [store.Transactor]. After an error or a panic of do, it rolls back.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	if s.pool == nil {
		return do(ctx, s) // part of the outer transaction
	}
	tx, err := s.pool.BeginTx(ctx, nil)
	if err != nil {
		return failure(ctx, "begin transaction", err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit, it does nothing
	if err := do(ctx, &Store{queries: s.queries.WithTx(tx)}); err != nil {
		return err
	}
	return failure(ctx, "commit transaction", tx.Commit())
}

// CreateUser implements [store.Store].
func (s *Store) CreateUser(ctx context.Context, u *store.User) (*store.User, error) {
	profile, err := encode(u.Extra)
	if err != nil {
		return nil, err
	}
	row, err := s.queries.CreatePerson(ctx, db.CreatePersonParams{
		ID: u.ID, Email: emailColumn(u.Email), EmailConfirmedAt: timeColumn(u.EmailVerified),
		FullName: u.Name, PhotoUrl: u.Image, Profile: profile,
	})
	return user(ctx, "create user", row, err)
}

// User implements [store.Store].
func (s *Store) User(ctx context.Context, id string) (*store.User, error) {
	row, err := s.queries.Person(ctx, id)
	return user(ctx, "read user", row, err)
}

// UserByEmail implements [store.Store].
func (s *Store) UserByEmail(ctx context.Context, email string) (*store.User, error) {
	row, err := s.queries.PersonByEmail(ctx, emailColumn(email))
	return user(ctx, "read user by email", row, err)
}

// UserByAccount implements [store.Store].
func (s *Store) UserByAccount(ctx context.Context, provider, accountID string) (*store.User, error) {
	row, err := s.queries.PersonByLogin(ctx, db.PersonByLoginParams{Service: provider, ServiceID: accountID})
	return user(ctx, "read user by account", row, err)
}

// UpdateUser implements [store.Store]. It does not change the columns that belong to the application alone.
func (s *Store) UpdateUser(ctx context.Context, u *store.User) (*store.User, error) {
	profile, err := encode(u.Extra)
	if err != nil {
		return nil, err
	}
	row, err := s.queries.UpdatePerson(ctx, db.UpdatePersonParams{
		ID: u.ID, Email: emailColumn(u.Email), EmailConfirmedAt: timeColumn(u.EmailVerified),
		FullName: u.Name, PhotoUrl: u.Image, Profile: profile,
	})
	return user(ctx, "update user", row, err)
}

// DeleteUser implements [store.UserDeleter].
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	rows, err := s.queries.DeletePerson(ctx, id)
	return changed(ctx, "delete user", rows, err)
}

// LinkAccount implements [store.Store].
func (s *Store) LinkAccount(ctx context.Context, a *store.Account) error {
	more, err := encode(a.StoredMembers())
	if err != nil {
		return err
	}
	return failure(ctx, "link account", s.queries.CreateLogin(ctx, db.CreateLoginParams{
		Service: a.Provider, ServiceID: a.ProviderAccountID, PersonID: a.UserID, Kind: string(a.Type),
		AccessToken: string(a.AccessToken), RefreshToken: string(a.RefreshToken), IDToken: string(a.IDToken),
		TokenType: a.TokenType, Scope: a.Scope, ExpiresAt: a.ExpiresAtUnix(),
		SessionState: string(a.SessionState), AuthorizationDetails: string(a.AuthorizationDetails), More: more,
	}))
}

// UpdateAccount implements [store.AccountStore].
func (s *Store) UpdateAccount(ctx context.Context, a *store.Account) error {
	more, err := encode(a.StoredMembers())
	if err != nil {
		return err
	}
	rows, err := s.queries.UpdateLogin(ctx, db.UpdateLoginParams{
		Service: a.Provider, ServiceID: a.ProviderAccountID, Kind: string(a.Type),
		AccessToken: string(a.AccessToken), RefreshToken: string(a.RefreshToken), IDToken: string(a.IDToken),
		TokenType: a.TokenType, Scope: a.Scope, ExpiresAt: a.ExpiresAtUnix(),
		SessionState: string(a.SessionState), AuthorizationDetails: string(a.AuthorizationDetails), More: more,
	})
	return changed(ctx, "update account", rows, err)
}

// Account implements [store.AccountStore].
func (s *Store) Account(ctx context.Context, provider, accountID string) (*store.Account, error) {
	row, err := s.queries.Login(ctx, db.LoginParams{Service: provider, ServiceID: accountID})
	if err != nil {
		return nil, failure(ctx, "read account", err)
	}
	return account(row)
}

// Accounts implements [store.AccountStore].
func (s *Store) Accounts(ctx context.Context, userID string) (list []*store.Account, err error) {
	rows, err := s.queries.LoginsOfPerson(ctx, userID)
	for _, row := range rows {
		a, err := account(row)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, failure(ctx, "list accounts", err)
}

// UnlinkAccount implements [store.AccountStore].
func (s *Store) UnlinkAccount(ctx context.Context, provider, accountID string) error {
	rows, err := s.queries.DeleteLogin(ctx, db.DeleteLoginParams{Service: provider, ServiceID: accountID})
	return changed(ctx, "unlink account", rows, err)
}

// CreateSession implements [store.SessionStore].
func (s *Store) CreateSession(ctx context.Context, session *store.Session) error {
	return failure(ctx, "create session", s.queries.CreateDevice(ctx, db.CreateDeviceParams{
		Token: string(session.Token), PersonID: session.UserID, ExpiresAt: session.Expires.UnixMilli(),
	}))
}

// SessionAndUser implements [store.SessionStore].
func (s *Store) SessionAndUser(ctx context.Context, token string) (*store.Session, *store.User, error) {
	row, err := s.queries.DeviceAndPerson(ctx, token)
	u, err := user(ctx, "read session", row.Person, err)
	if err != nil {
		return nil, nil, err
	}
	return session(row.Device), u, nil
}

// UpdateSession implements [store.SessionStore].
func (s *Store) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	rows, err := s.queries.ExtendDevice(ctx, db.ExtendDeviceParams{Token: token, ExpiresAt: expires.UnixMilli()})
	return changed(ctx, "extend session", rows, err)
}

// DeleteSession implements [store.SessionStore].
func (s *Store) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	row, err := s.queries.DeleteDevice(ctx, token)
	if err != nil {
		return nil, failure(ctx, "delete session", err)
	}
	return session(row), nil
}

// Sessions implements [store.SessionLister].
func (s *Store) Sessions(ctx context.Context, userID string) (list []*store.Session, err error) {
	rows, err := s.queries.DevicesOfPerson(ctx, userID)
	for _, row := range rows {
		list = append(list, session(row))
	}
	return list, failure(ctx, "list sessions", err)
}

// DeleteSessions implements [store.SessionLister].
func (s *Store) DeleteSessions(ctx context.Context, userID string) (int, error) {
	rows, err := s.queries.DeleteDevicesOfPerson(ctx, userID)
	return int(rows), failure(ctx, "delete sessions", err)
}

// CreateVerificationToken implements [store.VerificationTokenStore].
func (s *Store) CreateVerificationToken(ctx context.Context, t *store.VerificationToken) error {
	return failure(ctx, "create verification token", s.queries.CreateEmailLink(ctx, db.CreateEmailLinkParams{
		Email: t.Identifier, TokenHash: t.Token, ExpiresAt: t.Expires.UnixMilli(),
	}))
}

// UseVerificationToken implements [store.VerificationTokenStore].
func (s *Store) UseVerificationToken(ctx context.Context, email, hash string) (*store.VerificationToken, error) {
	row, err := s.queries.UseEmailLink(ctx, db.UseEmailLinkParams{Email: email, TokenHash: hash})
	if err != nil {
		return nil, failure(ctx, "use verification token", err)
	}
	return &store.VerificationToken{
		Identifier: row.Email, Token: row.TokenHash, Expires: time.UnixMilli(row.ExpiresAt).UTC(),
	}, nil
}

// DeleteExpired implements [store.Cleaner].
func (s *Store) DeleteExpired(ctx context.Context, now time.Time) (int, error) {
	devices, err := s.queries.DeleteExpiredDevices(ctx, now.UnixMilli())
	var links int64
	if err == nil {
		links, err = s.queries.DeleteExpiredEmailLinks(ctx, now.UnixMilli())
	}
	err = store.WithLeft(ctx, failure(ctx, "delete expired rows", err), func(ctx context.Context) (int, bool, error) {
		rows, err := s.queries.CountExpired(ctx, now.UnixMilli())
		return int(min(rows, store.MostLeft)), rows > store.MostLeft, err
	})
	return int(devices + links), err
}

// failure translates an error of the driver. Core distinguishes ErrNotFound and ErrConflict from failures.
func failure(ctx context.Context, operation string, err error) error {
	var refused *sqlite.Error
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	} else if errors.As(err, &refused) {
		switch refused.Code() {
		case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
			err = store.ErrConflict
		case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: // the user was deleted in the meantime
			err = store.ErrNotFound
		}
	}
	return store.OpError(ctx, "people", operation, err)
}

// changed is failure for a statement that must change one row.
func changed(ctx context.Context, operation string, rows int64, err error) error {
	if err == nil && rows == 0 {
		err = store.ErrNotFound
	}
	return failure(ctx, operation, err)
}

func user(ctx context.Context, operation string, row db.Person, err error) (*store.User, error) {
	if err != nil {
		return nil, failure(ctx, operation, err)
	}
	u := store.User{ID: row.ID, Name: row.FullName, Email: row.Email.String, Image: row.PhotoUrl}
	if row.EmailConfirmedAt.Valid {
		u.EmailVerified = time.UnixMilli(row.EmailConfirmedAt.Int64).UTC()
	}
	if err := json.Unmarshal([]byte(row.Profile), &u.Extra); err != nil {
		return nil, failure(ctx, operation, err)
	}
	return u.AsStored(), nil
}

func account(row db.Login) (*store.Account, error) {
	a := &store.Account{
		UserID: row.PersonID, Type: store.ProviderType(row.Kind),
		Provider: row.Service, ProviderAccountID: row.ServiceID,
		AccessToken: store.Secret(row.AccessToken), RefreshToken: store.Secret(row.RefreshToken),
		IDToken: store.Secret(row.IDToken), TokenType: row.TokenType, Scope: row.Scope,
		SessionState: raw(row.SessionState), AuthorizationDetails: raw(row.AuthorizationDetails),
	}
	a.SetExpiresAtUnix(row.ExpiresAt)
	var more store.Members
	err := json.Unmarshal([]byte(row.More), &more)
	a.SetStoredMembers(more)
	return a, err
}

func session(row db.Device) *store.Session {
	return &store.Session{
		Token: store.Secret(row.Token), UserID: row.PersonID, Expires: time.UnixMilli(row.ExpiresAt).UTC(),
	}
}

// emailColumn stores a missing address as NULL, because the column is unique.
func emailColumn(email string) sql.NullString {
	return sql.NullString{String: email, Valid: email != ""}
}

func timeColumn(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: !t.IsZero()}
}

// encode writes members byte for byte. json.Marshal would escape "<" in their values.
func encode(m store.Members) (string, error) {
	if len(m) == 0 {
		return "{}", nil
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(m)
	return strings.TrimSuffix(text.String(), "\n"), err
}

func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
