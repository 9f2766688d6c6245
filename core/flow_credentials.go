package core

import (
	"context"
	"errors"
	"maps"
)

// authorize asks the application whether the fields are right (WIRE 10).
func (x *exchange) authorize(ctx context.Context, p *CredentialsProvider) (*identity, error) {
	credentials := make(map[string]string)
	for _, name := range x.fields.Names() {
		if text, ok := x.fields.Text(name); ok {
			credentials[name] = text
		}
	}
	if err := x.limit(ctx, LimitParams{Attempt: AttemptCredentials, Credentials: maps.Clone(credentials)}); err != nil {
		return nil, err
	}
	user, err := guarded("Authorize", func() (*User, error) { return p.Authorize(ctx, credentials, x.r) })
	switch {
	case errors.Is(err, CredentialsSignin):
		return nil, err
	case err != nil:
		return nil, asError(err, CallbackRouteError)
	case user == nil:
		return nil, errorf(CredentialsSignin, "Authorize refused")
	}
	user = user.clone()
	if user.ID == "" {
		if user.ID, err = x.uuid(); err != nil {
			return nil, err
		}
	}
	account := &Account{Type: TypeCredentials, Provider: x.provider.id, ProviderAccountID: user.ID}
	return &identity{user: user, account: account, credentials: credentials}, nil
}
