package core

import (
	"context"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

type watchedPasskeys struct {
	store.AuthenticatorStore
	watch watch
}

func (s watchedPasskeys) Authenticator(ctx context.Context, credentialID string) (*store.Authenticator, error) {
	return inStore(ctx, s.watch, "read authenticator", func(ctx context.Context) (*store.Authenticator, error) {
		return s.AuthenticatorStore.Authenticator(ctx, credentialID)
	})
}

func (s watchedPasskeys) CreateAuthenticator(ctx context.Context, authenticator *store.Authenticator) error {
	return inStoreOnly(ctx, s.watch, "create authenticator", func(ctx context.Context) error {
		return s.AuthenticatorStore.CreateAuthenticator(ctx, authenticator)
	})
}

func (s watchedPasskeys) Authenticators(ctx context.Context, userID string) ([]*store.Authenticator, error) {
	return inStore(ctx, s.watch, "list authenticators", func(ctx context.Context) ([]*store.Authenticator, error) {
		return s.AuthenticatorStore.Authenticators(ctx, userID)
	})
}

func (s watchedPasskeys) UpdateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) error {
	return inStoreOnly(ctx, s.watch, "update authenticator", func(ctx context.Context) error {
		return s.AuthenticatorStore.UpdateAuthenticatorCounter(ctx, credentialID, counter)
	})
}

type watchedUnkey struct {
	store.AuthenticatorDeleter
	watch watch
}

func (s watchedUnkey) DeleteAuthenticator(ctx context.Context, credentialID string) error {
	return inStoreOnly(ctx, s.watch, "delete authenticator", func(ctx context.Context) error {
		return s.AuthenticatorDeleter.DeleteAuthenticator(ctx, credentialID)
	})
}

type watchedRecords struct {
	store.RecordStore
	watch watch
}

func (s watchedRecords) CreateRecord(ctx context.Context, r *store.Record) error {
	return inStoreOnly(ctx, s.watch, "create record", func(ctx context.Context) error {
		return s.RecordStore.CreateRecord(ctx, r)
	})
}

func (s watchedRecords) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	return inStore(ctx, s.watch, "read record", func(ctx context.Context) (*store.Record, error) {
		return s.RecordStore.Record(ctx, kind, key)
	})
}

func (s watchedRecords) UpdateRecord(ctx context.Context, r *store.Record) error {
	return inStoreOnly(ctx, s.watch, "update record", func(ctx context.Context) error {
		return s.RecordStore.UpdateRecord(ctx, r)
	})
}

func (s watchedRecords) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	return inStore(ctx, s.watch, "delete record", func(ctx context.Context) (*store.Record, error) {
		return s.RecordStore.DeleteRecord(ctx, kind, key)
	})
}

func (s watchedRecords) UserRecords(ctx context.Context, userID, kind string) ([]*store.Record, error) {
	return inStore(ctx, s.watch, "list records", func(ctx context.Context) ([]*store.Record, error) {
		return s.RecordStore.UserRecords(ctx, userID, kind)
	})
}

func (s watchedRecords) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	return inStore(ctx, s.watch, "delete records", func(ctx context.Context) (int, error) {
		return s.RecordStore.DeleteUserRecords(ctx, userID, kind)
	})
}

type watchedCleaner struct {
	store.Cleaner
	watch watch
}

func (s watchedCleaner) DeleteExpired(ctx context.Context, now time.Time) (int, error) {
	return inStore(ctx, s.watch, "delete expired sessions", func(ctx context.Context) (int, error) {
		return s.Cleaner.DeleteExpired(ctx, now)
	})
}
