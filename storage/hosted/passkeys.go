package hosted

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/store"
)

func (s *Store) passkey(ctx context.Context, v *view, credentialID string) (record, error) {
	if impossible(credentialID) {
		return nil, store.ErrNotFound
	}
	return first(v.query(ctx, s.tables.passkeys, map[string]any{"credentialID": credentialID}))
}

// Authenticator implements [store.AuthenticatorStore].
func (s *Store) Authenticator(ctx context.Context, credentialID string) (*store.Authenticator, error) {
	return one(ctx, s, "read authenticator", decodePasskey, func(ctx context.Context, v *view) ([]record, error) {
		r, err := s.passkey(ctx, v, credentialID)
		return []record{r}, err
	})
}

// CreateAuthenticator implements [store.AuthenticatorStore]. It returns ErrNotFound if the user does not exist.
func (s *Store) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	const operation = "create authenticator"
	fields := record{
		"credentialID": a.CredentialID, "providerAccountId": a.ProviderAccountID,
		"credentialPublicKey": a.CredentialPublicKey, "counter": int64(a.Counter),
		"credentialDeviceType": a.CredentialDeviceType, "credentialBackedUp": a.CredentialBackedUp,
		"transports": orNull(a.Transports), "user": linkTo(a.UserID),
	}
	if err := storable(fields); err != nil {
		return s.failed(ctx, operation, err)
	}
	id, user := a.CredentialID, a.UserID
	_, err := s.run(ctx, operation, func(ctx context.Context, v *view) ([]record, error) {
		switch _, err := s.passkey(ctx, v, id); {
		case err == nil:
			return nil, store.ErrConflict
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
		if _, err := v.byID(ctx, s.tables.users, user); err != nil {
			return nil, err
		}
		v.insert(s.tables.passkeys, recordID("passkey", id), fields)
		return nil, nil
	})
	return err
}

// Authenticators implements [store.AuthenticatorStore].
func (s *Store) Authenticators(ctx context.Context, userID string) ([]*store.Authenticator, error) {
	return list(ctx, s, "list authenticators", decodePasskey, s.owned(s.tables.passkeys, userID))
}

// UpdateAuthenticatorCounter implements [store.AuthenticatorStore].
func (s *Store) UpdateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) error {
	_, err := s.run(ctx, "update authenticator", func(ctx context.Context, v *view) ([]record, error) {
		old, err := s.passkey(ctx, v, credentialID)
		if err == nil {
			v.overwrite(s.tables.passkeys, old, record{"counter": int64(counter)})
		}
		return nil, err
	})
	return err
}

// DeleteAuthenticator implements [store.AuthenticatorDeleter].
func (s *Store) DeleteAuthenticator(ctx context.Context, credentialID string) error {
	_, err := s.run(ctx, "delete authenticator", func(ctx context.Context, v *view) ([]record, error) {
		old, err := s.passkey(ctx, v, credentialID)
		if err == nil {
			v.remove(s.tables.passkeys, old.id())
		}
		return nil, err
	})
	return err
}
