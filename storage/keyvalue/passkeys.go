package keyvalue

import (
	"context"
	"fmt"

	"github.com/latchkey-go/latchkey/core/store"
)

// Authenticator implements [store.AuthenticatorStore].
func (s *Store) Authenticator(ctx context.Context, credentialID string) (*store.Authenticator, error) {
	return one(ctx, s, "read authenticator", decodePasskey, func(ctx context.Context, v *view) ([]string, error) {
		if impossible(credentialID) {
			return nil, store.ErrNotFound
		}
		return found(v.get(ctx, key("passkey", escaped(credentialID))))
	})
}

// CreateAuthenticator implements [store.AuthenticatorStore]. It returns ErrNotFound if the user does not exist.
func (s *Store) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	const operation = "create authenticator"
	document, err := encodePasskey(a)
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	return s.createOwned(ctx, operation, "passkey", escaped(a.CredentialID), escaped(a.UserID), document)
}

// Authenticators implements [store.AuthenticatorStore].
func (s *Store) Authenticators(ctx context.Context, userID string) ([]*store.Authenticator, error) {
	return list(ctx, s, "list authenticators", decodePasskey, owned("user-passkeys", "passkey", userID))
}

// UpdateAuthenticatorCounter implements [store.AuthenticatorStore].
func (s *Store) UpdateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) error {
	_, err := s.run(ctx, "update authenticator", func(ctx context.Context, v *view) ([]string, error) {
		if impossible(credentialID) {
			return nil, store.ErrNotFound
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

// DeleteAuthenticator implements [store.AuthenticatorDeleter].
func (s *Store) DeleteAuthenticator(ctx context.Context, credentialID string) error {
	_, err := s.run(ctx, "delete authenticator", func(ctx context.Context, v *view) ([]string, error) {
		if impossible(credentialID) {
			return nil, store.ErrNotFound
		}
		name := escaped(credentialID)
		document, err := found(v.get(ctx, key("passkey", name)))
		if err != nil {
			return nil, err
		}
		o, err := decode[owner](document[0])
		if err != nil {
			return nil, err
		}
		v.remove(key("passkey", name))
		v.drop(key("user-passkeys", escaped(o.UserID)), name)
		return nil, nil
	})
	return err
}

func encodePasskey(a *store.Authenticator) (string, error) {
	var o object
	o.text("credentialID", a.CredentialID)
	o.text("userId", a.UserID)
	o.text("providerAccountId", a.ProviderAccountID)
	o.text("credentialPublicKey", a.CredentialPublicKey)
	o.raw("counter", fmt.Append(nil, a.Counter))
	o.text("credentialDeviceType", a.CredentialDeviceType)
	o.raw("credentialBackedUp", fmt.Append(nil, a.CredentialBackedUp))
	o.optional("transports", a.Transports)
	return o.done()
}

func decodePasskey(document string) (*store.Authenticator, error) {
	d, err := decode[struct {
		CredentialID         string `json:"credentialID"`
		UserID               string `json:"userId"`
		ProviderAccountID    string `json:"providerAccountId"`
		CredentialPublicKey  string `json:"credentialPublicKey"`
		Counter              uint32 `json:"counter"`
		CredentialDeviceType string `json:"credentialDeviceType"`
		CredentialBackedUp   bool   `json:"credentialBackedUp"`
		Transports           string `json:"transports"`
	}](document)
	if err != nil {
		return nil, err
	}
	return &store.Authenticator{
		CredentialID: d.CredentialID, UserID: d.UserID, ProviderAccountID: d.ProviderAccountID,
		CredentialPublicKey: d.CredentialPublicKey, Counter: d.Counter, CredentialDeviceType: d.CredentialDeviceType,
		CredentialBackedUp: d.CredentialBackedUp, Transports: d.Transports,
	}, nil
}
