package sqlite

import (
	"context"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// CreateSession implements [core.SessionStore].
func (s *Store) CreateSession(ctx context.Context, v *core.StoredSession) error {
	return s.exec(ctx, "create session", `INSERT INTO sessions ("sessionToken", "userId", expires) VALUES (?, ?, ?)`, 1, string(v.Token), v.UserID, micros(v.Expires))
}

// SessionAndUser implements [core.SessionStore]: one query, by primary keys.
func (s *Store) SessionAndUser(ctx context.Context, token string) (*core.StoredSession, *core.User, error) {
	session := &core.StoredSession{Token: core.Secret(token)}
	var row userRow
	var expires int64
	err := s.q.QueryRowContext(ctx, sessionAndUser, token).Scan(append([]any{&session.UserID, &expires}, row.into()...)...)
	if err != nil {
		return nil, nil, failed("read session", err)
	}
	session.Expires = fromMicros(expires)
	user, err := row.user()
	if err != nil {
		return nil, nil, err
	}
	return session, user, nil
}

const sessionAndUser = `SELECT s."userId", s.expires, ` + userColumns + ` FROM sessions s JOIN users u ON u.id = s."userId" WHERE s."sessionToken" = ?`

// UpdateSession implements [core.SessionStore]: one update.
func (s *Store) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	return s.exec(ctx, "extend session", `UPDATE sessions SET expires = ? WHERE "sessionToken" = ?`, 1, micros(expires), token)
}

func scanSession(scan func(...any) error) (*core.StoredSession, error) {
	var v core.StoredSession
	var token string
	var expires int64
	err := scan(&token, &v.UserID, &expires)
	v.Token, v.Expires = core.Secret(token), fromMicros(expires)
	if err != nil {
		return nil, err
	}
	return &v, nil
}

// DeleteSession implements [core.SessionStore].
func (s *Store) DeleteSession(ctx context.Context, token string) (*core.StoredSession, error) {
	row := s.q.QueryRowContext(ctx, `DELETE FROM sessions WHERE "sessionToken" = ? RETURNING "sessionToken", "userId", expires`, token)
	v, err := scanSession(row.Scan)
	return v, failed("delete session", err)
}

// Sessions implements [core.SessionLister].
func (s *Store) Sessions(ctx context.Context, userID string) ([]*core.StoredSession, error) {
	return list(ctx, s, "list sessions", scanSession, `SELECT "sessionToken", "userId", expires FROM sessions WHERE "userId" = ?`, userID)
}

// DeleteSessions implements [core.SessionLister].
func (s *Store) DeleteSessions(ctx context.Context, userID string) (int, error) {
	return s.remove(ctx, "delete sessions", `DELETE FROM sessions WHERE "userId" = ?`, userID)
}

func (s *Store) remove(ctx context.Context, operation, query string, args ...any) (int, error) {
	result, err := s.q.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, failed(operation, err)
	}
	n, err := result.RowsAffected()
	return int(n), failed(operation, err)
}

// DeleteExpired implements [core.Cleaner].
func (s *Store) DeleteExpired(ctx context.Context, now time.Time) (int, error) {
	sessions, err := s.remove(ctx, "delete expired sessions", `DELETE FROM sessions WHERE expires < ?`, micros(now))
	if err != nil {
		return 0, err
	}
	tokens, err := s.remove(ctx, "delete expired tokens", `DELETE FROM verification_token WHERE expires < ?`, micros(now))
	return sessions + tokens, err
}

// CreateVerificationToken implements [core.VerificationTokenStore].
func (s *Store) CreateVerificationToken(ctx context.Context, t *core.VerificationToken) error {
	return s.exec(ctx, "create verification token", `INSERT INTO verification_token (identifier, token, expires) VALUES (?, ?, ?)`, 1, t.Identifier, t.Token, micros(t.Expires))
}

// UseVerificationToken implements [core.VerificationTokenStore]: one statement removes and returns the row, so one caller gets it.
func (s *Store) UseVerificationToken(ctx context.Context, identifier, token string) (*core.VerificationToken, error) {
	t := &core.VerificationToken{Identifier: identifier, Token: token}
	var expires int64
	err := s.q.QueryRowContext(ctx, `DELETE FROM verification_token WHERE identifier = ? AND token = ? RETURNING expires`, identifier, token).Scan(&expires)
	if err != nil {
		return nil, failed("use verification token", err)
	}
	t.Expires = fromMicros(expires)
	return t, nil
}

const authenticatorColumns = `"credentialID", "userId", "providerAccountId", "credentialPublicKey", counter, "credentialDeviceType", "credentialBackedUp", COALESCE(transports, '')`

func scanAuthenticator(scan func(...any) error) (*core.Authenticator, error) {
	var a core.Authenticator
	err := scan(&a.CredentialID, &a.UserID, &a.ProviderAccountID, &a.CredentialPublicKey, &a.Counter, &a.CredentialDeviceType, &a.CredentialBackedUp, &a.Transports)
	if err != nil {
		return nil, err
	}
	return &a, nil
}

// Authenticator implements [core.AuthenticatorStore].
func (s *Store) Authenticator(ctx context.Context, credentialID string) (*core.Authenticator, error) {
	a, err := scanAuthenticator(s.q.QueryRowContext(ctx, `SELECT `+authenticatorColumns+` FROM authenticators WHERE "credentialID" = ?`, credentialID).Scan)
	return a, failed("read authenticator", err)
}

// CreateAuthenticator implements [core.AuthenticatorStore].
func (s *Store) CreateAuthenticator(ctx context.Context, a *core.Authenticator) error {
	return s.exec(ctx, "create authenticator", `INSERT INTO authenticators ("credentialID", "userId", "providerAccountId", "credentialPublicKey", counter, "credentialDeviceType", "credentialBackedUp", transports) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, 1,
		a.CredentialID, a.UserID, a.ProviderAccountID, a.CredentialPublicKey, a.Counter, a.CredentialDeviceType, a.CredentialBackedUp, optional(a.Transports))
}

// Authenticators implements [core.AuthenticatorStore].
func (s *Store) Authenticators(ctx context.Context, userID string) ([]*core.Authenticator, error) {
	return list(ctx, s, "list authenticators", scanAuthenticator, `SELECT `+authenticatorColumns+` FROM authenticators WHERE "userId" = ? ORDER BY "credentialID"`, userID)
}

// UpdateAuthenticatorCounter implements [core.AuthenticatorStore].
func (s *Store) UpdateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) error {
	return s.exec(ctx, "update authenticator", `UPDATE authenticators SET counter = ? WHERE "credentialID" = ?`, 1, counter, credentialID)
}
