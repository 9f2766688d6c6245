package main

import (
	"context"
	"fmt"

	"github.com/latchkey-go/latchkey/core/store"
)

// passkeyRows are the authenticators.
type passkeyRows struct {
	*calls
	passkeys []*store.Authenticator
}

func (m *passkeyRows) passkey(credentialID string) *store.Authenticator {
	return find(m.passkeys, func(a *store.Authenticator) bool { return a.CredentialID == credentialID })
}

func (m *passkeyRows) Authenticator(_ context.Context, credentialID string) (*store.Authenticator, error) {
	done, err := m.call("getAuthenticator", credentialID)
	if err != nil {
		return nil, err
	}
	return found(done, m.passkey(credentialID))
}

func (m *passkeyRows) CreateAuthenticator(_ context.Context, a *store.Authenticator) error {
	done, err := m.call("createAuthenticator", authenticatorObject(a))
	if err != nil {
		return err
	}
	row := *a
	m.passkeys = append(m.passkeys, &row)
	done("object")
	return nil
}

func (m *passkeyRows) Authenticators(_ context.Context, userID string) (list []*store.Authenticator, err error) {
	done, err := m.call("listAuthenticatorsByUserId", userID)
	if err != nil {
		return nil, err
	}
	for _, a := range m.passkeys {
		if a.UserID == userID {
			list = append(list, a)
		}
	}
	done(fmt.Sprintf("list:%d", len(list)))
	return list, nil
}

func (m *passkeyRows) UpdateAuthenticatorCounter(_ context.Context, credentialID string, counter uint32) error {
	done, err := m.call("updateAuthenticatorCounter", credentialID, plain(counter))
	if err != nil {
		return err
	}
	row := m.passkey(credentialID)
	if row != nil {
		row.Counter = counter
	}
	_, err = found(done, row)
	return err
}
