package keyvalue

import (
	"context"

	"github.com/latchkey-go/latchkey/core"
)

// Authenticator implements [core.AuthenticatorStore].
func (s *Store) Authenticator(ctx context.Context, credentialID string) (*core.Authenticator, error) {
	return one(ctx, s, "read authenticator", decodePasskey, func(ctx context.Context, v *view) ([]string, error) {
		if impossible(credentialID) {
			return nil, core.ErrNotFound
		}
		return found(v.get(ctx, key("passkey", escaped(credentialID))))
	})
}

// CreateAuthenticator implements [core.AuthenticatorStore]; ErrNotFound when there is no such user.
func (s *Store) CreateAuthenticator(ctx context.Context, a *core.Authenticator) error {
	const operation = "create authenticator"
	document, err := encodePasskey(a)
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	return s.createOwned(ctx, operation, "passkey", escaped(a.CredentialID), escaped(a.UserID), document)
}

// Authenticators implements [core.AuthenticatorStore].
func (s *Store) Authenticators(ctx context.Context, userID string) ([]*core.Authenticator, error) {
	return list(ctx, s, "list authenticators", decodePasskey, owned("user-passkeys", "passkey", userID))
}

// UpdateAuthenticatorCounter implements [core.AuthenticatorStore].
func (s *Store) UpdateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) error {
	_, err := s.run(ctx, "update authenticator", func(ctx context.Context, v *view) ([]string, error) {
		if impossible(credentialID) {
			return nil, core.ErrNotFound
		}
		at := key("passkey", escaped(credentialID))
		document, err := found(v.get(ctx, at))
		if err != nil {
			return nil, err
		}
		a, err := decodePasskey(document[0])
		if err != nil {
			return nil, err
		}
		a.Counter = counter
		fresh, err := encodePasskey(a)
		if err != nil {
			return nil, err
		}
		v.put(at, fresh)
		return nil, nil
	})
	return err
}
