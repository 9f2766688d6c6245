package main

import (
	"context"
	"slices"

	"github.com/latchkey-go/latchkey/core/store"
)

// tokenRows are the verification tokens.
type tokenRows struct {
	*calls
	tokens    []*store.VerificationToken
	tokenOnly bool // a token is found without its address
}

func (m *tokenRows) CreateVerificationToken(_ context.Context, t *store.VerificationToken) error {
	done, err := m.call("createVerificationToken", tokenObject(t))
	if err != nil {
		return err
	}
	row := *t
	m.tokens = append(m.tokens, &row)
	done("object")
	return nil
}

func (m *tokenRows) UseVerificationToken(
	_ context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	asked := object{"token": token}
	if identifier != "" {
		asked["identifier"] = identifier
	}
	done, err := m.call("useVerificationToken", asked)
	if err != nil {
		return nil, err
	}
	row := find(m.tokens, func(t *store.VerificationToken) bool {
		return t.Token == token && (m.tokenOnly || t.Identifier == identifier)
	})
	m.tokens = slices.DeleteFunc(m.tokens, func(t *store.VerificationToken) bool { return t == row })
	return found(done, row)
}
