package core

import (
	"context"
	"errors"
	"maps"
	"strings"
)

// authorize asks the application whether the fields are right (WIRE 10).
func (x *exchange) authorize(ctx context.Context, p *CredentialsProvider) (*identity, error) {
	credentials := make(map[string]string)
	for _, name := range x.fields.Names() {
		if text, ok := x.fields.Text(name); ok {
			credentials[name] = text
		}
	}
	attempt := LimitParams{Attempt: AttemptCredentials, Identifier: p.name(credentials), Credentials: maps.Clone(credentials)}
	if err := x.limit(ctx, attempt); err != nil {
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
	x.forgive(ctx, attempt)
	user = user.Clone()
	if user.ID == "" {
		if user.ID, err = x.uuid(); err != nil {
			return nil, err
		}
	}
	account := &Account{Type: TypeCredentials, Provider: x.provider.id, ProviderAccountID: user.ID}
	return &identity{user: user, account: account, credentials: credentials}, nil
}

// withoutUser says what is missing when the store refused a session because it lacks the user, whom the application named.
func (x *exchange) withoutUser(ctx context.Context, user *User, err error) error {
	if x.session.Strategy != StrategyDatabase {
		return err
	}
	_, absent := guarded("Store.User", func() (*User, error) { return present(x.store.User(ctx, user.ID)) })
	if !errors.Is(absent, ErrNotFound) {
		return err
	}
	return errorf(AdapterError, "the store has no user with the ID %q, and sessions live there: return one that it holds, which Store.CreateUser makes (core.NewID makes an ID), or set Session.Strategy to StrategyJWT: %w", user.ID, err)
}

// name is who a form says it is: its first field that holds no secret. A form without declared fields has the names that
// such forms usually have.
func (p *CredentialsProvider) name(form map[string]string) string {
	for _, f := range p.Fields {
		if f.Type == "" || f.Type == "text" || f.Type == "email" || f.Type == "tel" {
			return canonicalName(form[f.Name])
		}
	}
	for _, name := range []string{"email", "username", "name"} {
		if form[name] != "" {
			return canonicalName(form[name])
		}
	}
	return ""
}

// canonicalName is the one spelling by which a name is counted.
func canonicalName(name string) string {
	if address, err := NormalizeEmail(name); err == nil {
		return address
	}
	return strings.ToLower(strings.TrimSpace(name))
}
