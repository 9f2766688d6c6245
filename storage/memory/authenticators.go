package memory

import (
	"context"

	"github.com/latchkey-go/latchkey/core/store"
)

// Authenticator implements [store.AuthenticatorStore].
func (s *Store) Authenticator(
	ctx context.Context, credentialID string,
) (a *store.Authenticator, err error) {
	err = s.locked(ctx, func(d *data) error { a, err = get(d.authenticators, credentialID); return err })
	return a, err
}

// CreateAuthenticator implements [store.AuthenticatorStore].
func (s *Store) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	return s.locked(ctx, func(d *data) error {
		if _, taken := d.authenticators[a.CredentialID]; taken {
			return store.ErrConflict
		}
		d.authenticators[a.CredentialID] = *a
		return nil
	})
}

// Authenticators implements [store.AuthenticatorStore].
func (s *Store) Authenticators(
	ctx context.Context, userID string,
) (out []*store.Authenticator, err error) {
	err = s.locked(ctx, func(d *data) error {
		for _, a := range d.authenticators {
			if a.UserID == userID {
				out = append(out, &a)
			}
		}
		return nil
	})
	return out, err
}

// UpdateAuthenticatorCounter implements [store.AuthenticatorStore].
func (s *Store) UpdateAuthenticatorCounter(
	ctx context.Context, credentialID string, counter uint32,
) error {
	return s.locked(ctx, func(d *data) error {
		a, err := get(d.authenticators, credentialID)
		if err != nil {
			return err
		}
		a.Counter = counter
		d.authenticators[credentialID] = *a
		return nil
	})
}

// DeleteAuthenticator implements [store.AuthenticatorDeleter].
func (s *Store) DeleteAuthenticator(ctx context.Context, credentialID string) error {
	return s.locked(ctx, func(d *data) error {
		if _, err := get(d.authenticators, credentialID); err != nil {
			return err
		}
		delete(d.authenticators, credentialID)
		return nil
	})
}
