package dynamodb

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkey-go/latchkey/core/store"
)

func authenticatorOf(of item) (*store.Authenticator, error) {
	counter, err := whole(of, "counter")
	if err != nil {
		return nil, err
	}
	backedUp, _ := of["credentialBackedUp"].(*types.AttributeValueMemberBOOL)
	return &store.Authenticator{
		CredentialID: plain(of, "credentialID"), UserID: plain(of, "userId"),
		ProviderAccountID: plain(of, "providerAccountId"), CredentialPublicKey: plain(of, "credentialPublicKey"),
		Counter:              uint32(counter), //nolint:gosec // it was written from one
		CredentialDeviceType: plain(of, "credentialDeviceType"),
		CredentialBackedUp:   backedUp != nil && backedUp.Value, Transports: plain(of, "transports"),
	}, nil
}

func count(n uint32) types.AttributeValue { return num(strconv.FormatUint(uint64(n), 10)) }

// Authenticator implements [store.AuthenticatorStore].
func (s *Store) Authenticator(ctx context.Context, credentialID string) (*store.Authenticator, error) {
	const operation = "read authenticator"
	of, err := s.must(ctx, credentialKey(credentialID))
	return decoded(ctx, operation, of, err, authenticatorOf)
}

// CreateAuthenticator implements [store.AuthenticatorStore]. It returns ErrNotFound if the user does not exist.
func (s *Store) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	const operation = "create authenticator"
	if err := storable(a.ProviderAccountID, a.CredentialPublicKey, a.CredentialDeviceType, a.Transports); err != nil {
		return failed(ctx, operation, err)
	}
	of := item{
		"type": str("AUTHENTICATOR"), "credentialID": str(a.CredentialID), "counter": count(a.Counter),
		"credentialBackedUp": &types.AttributeValueMemberBOOL{Value: a.CredentialBackedUp},
	}
	for name, value := range map[string]string{
		"providerAccountId": a.ProviderAccountID, "credentialPublicKey": a.CredentialPublicKey,
		"credentialDeviceType": a.CredentialDeviceType, "transports": a.Transports,
	} {
		orNone(of, name, value)
	}
	entry := item{"credentialID": str(a.CredentialID)}
	err := s.add(ctx, a.UserID, credentialEntry(a.UserID, a.CredentialID), credentialKey(a.CredentialID), entry, of)
	return failed(ctx, operation, err)
}

// Authenticators implements [store.AuthenticatorStore]. The list is ordered by credential ID.
func (s *Store) Authenticators(
	ctx context.Context, userID string,
) (all []*store.Authenticator, err error) {
	const operation = "list authenticators"
	items, err := s.list(ctx, userID, "AUTHENTICATOR#")
	all, err = allDecoded(ctx, operation, items, err, authenticatorOf)
	slices.SortFunc(all, func(a, b *store.Authenticator) int { return cmp.Compare(a.CredentialID, b.CredentialID) })
	return all, err
}

// UpdateAuthenticatorCounter implements [store.AuthenticatorStore].
func (s *Store) UpdateAuthenticatorCounter(
	ctx context.Context, credentialID string, counter uint32,
) error {
	err := s.mustUpdate(ctx, credentialKey(credentialID), item{"counter": count(counter)})
	return failed(ctx, "update authenticator", err)
}

// DeleteAuthenticator implements [store.AuthenticatorDeleter].
func (s *Store) DeleteAuthenticator(ctx context.Context, credentialID string) error {
	_, err := s.take(ctx, credentialKey(credentialID), func(of item) key {
		return credentialEntry(plain(of, "userId"), credentialID)
	})
	return failed(ctx, "delete authenticator", err)
}
