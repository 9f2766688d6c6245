package sqlstore

import (
	"context"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/sqlpool"
)

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
	return one(ctx, s, "read authenticator", s.authenticator, readAuthenticator, credentialID)
}

// CreateAuthenticator implements [store.AuthenticatorStore]. It returns ErrNotFound if the user does not exist.
func (s *Store) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	args := s.withRecordID(authenticators, []any{
		a.CredentialID, a.ProviderAccountID, a.CredentialPublicKey, int64(a.Counter),
		a.CredentialDeviceType, a.CredentialBackedUp, orNull(a.Transports),
	})
	return s.must(ctx, "create authenticator", s.createAuthenticator, append(args, s.id(a.UserID))...)
}

// Authenticators implements [store.AuthenticatorStore]. The list is ordered by credential ID.
func (s *Store) Authenticators(ctx context.Context, userID string) ([]*store.Authenticator, error) {
	return query(ctx, s, "list authenticators", s.authenticators, readAuthenticator, s.id(userID))
}

// UpdateAuthenticatorCounter implements [store.AuthenticatorStore].
func (s *Store) UpdateAuthenticatorCounter(
	ctx context.Context, credentialID string, counter uint32,
) error {
	return s.found(ctx, "update authenticator", s.updateCounter, s.authenticator, 1, int64(counter), credentialID)
}

// DeleteAuthenticator implements [store.AuthenticatorDeleter].
func (s *Store) DeleteAuthenticator(ctx context.Context, credentialID string) error {
	return s.must(ctx, "delete authenticator", s.deleteAuthenticator, credentialID)
}
