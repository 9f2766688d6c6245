// Package dynamodb stores users, accounts, sessions and tokens in one table of Amazon DynamoDB, which may be a table of
// Auth.js's adapter.
//
//	store, err := dynamodb.New(awsdynamodb.NewFromConfig(config), dynamodb.Options{})
//	if err == nil {
//		err = store.Migrate(ctx)
//	}
//
// All reads are strongly consistent and use the primary key. The table's index is eventually consistent: it is written
// for Auth.js and never read. Whatever must be unique is the key of an item that is written with a condition. copies.go
// explains why a session's copy of its user is never outdated.
package dynamodb

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkey-go/latchkey/core/store"
)

// Options are the settings of a Store. The zero value is valid.
type Options struct {
	// Layout names the table and its keys. The default is the layout of Auth.js's DynamoDB adapter.
	Layout Layout
}

// Layout names the table and its keys. The defaults are the names of Auth.js's DynamoDB adapter.
type Layout struct {
	// Table is the name of the table. The default is "next-auth".
	Table string
	// PartitionKey and SortKey are the attributes of the table's key. The defaults are "pk" and "sk".
	PartitionKey, SortKey string
	// Index is the name of the global secondary index, which the store does not read. The default is "GSI1".
	Index string
	// IndexPartitionKey and IndexSortKey are the attributes of its key. The defaults are "GSI1PK" and "GSI1SK".
	IndexPartitionKey, IndexSortKey string
}

// Store is a store in DynamoDB. It is safe for concurrent use. Create it with [New].
type Store struct {
	client *dynamodb.Client
	layout Layout
}

var (
	_ store.SessionStore           = (*Store)(nil)
	_ store.VerificationTokenStore = (*Store)(nil)
	_ store.AuthenticatorStore     = (*Store)(nil)
	_ store.AuthenticatorDeleter   = (*Store)(nil)
	_ store.AccountStore           = (*Store)(nil)
	_ store.UserDeleter            = (*Store)(nil)
	_ store.SessionLister          = (*Store)(nil)
	_ store.Cleaner                = (*Store)(nil)
	_ store.RecordStore            = (*Store)(nil)
	_ store.RecordLister           = (*Store)(nil)
	_ store.RecordPairReader       = (*Store)(nil)
	_ store.UserFinder             = (*Store)(nil)
)

// New returns a Store that uses the caller's client. The client's settings decide how often a request is retried. New
// sends nothing to DynamoDB.
func New(client *dynamodb.Client, options Options) (*Store, error) {
	if client == nil {
		return nil, errors.New("dynamodb: no client: give New the result of dynamodb.NewFromConfig")
	}
	l := options.Layout
	for name, usual := range map[*string]string{
		&l.Table: "next-auth", &l.PartitionKey: "pk", &l.SortKey: "sk",
		&l.Index: "GSI1", &l.IndexPartitionKey: "GSI1PK", &l.IndexSortKey: "GSI1SK",
	} {
		if *name == "" {
			*name = usual
		}
	}
	return &Store{client, l}, nil
}

// RefreshSessions updates the sessions of a user after another program has changed the user's item. Until then,
// sessions return the user as this package last wrote it. After UpdateUser it is not needed. It returns ErrNotFound if
// the user does not exist.
func (s *Store) RefreshSessions(ctx context.Context, userID string) error {
	err := s.change(ctx, userID, nil, func(user item) (item, error) { return without(user, nextName), nil })
	return failed(ctx, "refresh sessions", err)
}
