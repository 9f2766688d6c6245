package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkey-go/latchkey/core/store"
)

func byCredential(id string) bson.D { return bson.D{{Key: "credentialID", Value: id}} }

func authenticatorOf(doc bson.Raw) (*store.Authenticator, error) {
	id, err := owner(doc, "userId")
	if err != nil {
		return nil, err
	}
	a := store.Authenticator{UserID: id.Hex()}
	for name, into := range map[string]*string{
		"credentialID": &a.CredentialID, "providerAccountId": &a.ProviderAccountID,
		"credentialPublicKey":  &a.CredentialPublicKey,
		"credentialDeviceType": &a.CredentialDeviceType, "transports": &a.Transports,
	} {
		if *into, _, err = text(doc, name); err != nil {
			return nil, err
		}
	}
	counter, err := whole(doc, "counter")
	if err != nil {
		return nil, err
	}
	a.Counter = uint32(counter) //nolint:gosec // it was written from one
	a.CredentialBackedUp, _ = doc.Lookup("credentialBackedUp").BooleanOK()
	return &a, nil
}

// Authenticator implements [store.AuthenticatorStore].
func (s *Store) Authenticator(ctx context.Context, credentialID string) (*store.Authenticator, error) {
	const operation = "read authenticator"
	if !possible(credentialID) {
		return nil, none(ctx, operation)
	}
	doc, err := find(ctx, s.authenticators, byCredential(credentialID))
	return decoded(ctx, operation, doc, err, authenticatorOf)
}

// CreateAuthenticator implements [store.AuthenticatorStore]. It returns ErrNotFound if the user does not exist.
func (s *Store) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	const operation = "create authenticator"
	err := storable(
		a.CredentialID, a.ProviderAccountID, a.CredentialPublicKey, a.CredentialDeviceType, a.Transports,
	)
	if err != nil {
		return failed(ctx, operation, err)
	}
	user, err := objectID(a.UserID)
	if err != nil {
		return none(ctx, operation)
	}
	return failed(ctx, operation, s.insertFor(ctx, user, s.authenticators, bson.D{
		{Key: "credentialID", Value: a.CredentialID}, {Key: "userId", Value: user},
		{Key: "providerAccountId", Value: a.ProviderAccountID},
		{Key: "credentialPublicKey", Value: a.CredentialPublicKey}, {Key: "counter", Value: int64(a.Counter)},
		{Key: "credentialDeviceType", Value: a.CredentialDeviceType},
		{Key: "credentialBackedUp", Value: a.CredentialBackedUp},
		{Key: "transports", Value: orNull(a.Transports)},
	}, byCredential(a.CredentialID)))
}

// Authenticators implements [store.AuthenticatorStore]. The list is ordered by credential ID.
func (s *Store) Authenticators(ctx context.Context, userID string) ([]*store.Authenticator, error) {
	return list(ctx, "list authenticators", s.authenticators, userID, "credentialID", authenticatorOf)
}

// UpdateAuthenticatorCounter implements [store.AuthenticatorStore].
func (s *Store) UpdateAuthenticatorCounter(
	ctx context.Context, credentialID string, counter uint32,
) error {
	const operation = "update authenticator"
	if !possible(credentialID) {
		return none(ctx, operation)
	}
	set := bson.D{{Key: "counter", Value: int64(counter)}}
	return updated(ctx, operation, s.authenticators, byCredential(credentialID), set)
}

// DeleteAuthenticator implements [store.AuthenticatorDeleter].
func (s *Store) DeleteAuthenticator(ctx context.Context, credentialID string) error {
	const operation = "delete authenticator"
	if !possible(credentialID) {
		return none(ctx, operation)
	}
	return deleteOne(ctx, operation, s.authenticators, byCredential(credentialID))
}
