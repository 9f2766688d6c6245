// Package dynamodb keeps users, accounts, sessions and tokens in one table of Amazon DynamoDB, which Auth.js's adapter
// may have made.
//
//	store, err := dynamodb.New(awsdynamodb.NewFromConfig(config))
//	if err == nil {
//		err = store.Migrate(ctx)
//	}
//
// All reads are strongly consistent, by primary key: the table's index, which lags behind, is written for Auth.js and
// never asked. What must be unique is the key of an item, written under a condition. copies.go says why the copy of a
// user that a session holds is never out of date.
package dynamodb

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkey-go/latchkey/core/store"
)

// Layout names the table and its keys. Those that are empty have the names of Auth.js's DynamoDB adapter.
type Layout struct {
	Table             string // "next-auth"
	PartitionKey      string // "pk"
	SortKey           string // "sk"
	Index             string // "GSI1"
	IndexPartitionKey string // "GSI1PK"
	IndexSortKey      string // "GSI1SK"
}

// Store is a store in DynamoDB. It is safe for concurrent use; make it with [New].
type Store struct {
	*table
	copies
	userStore
	accountStore
	sessionStore
	tokenStore
	authenticatorStore
	recordStore
	cleaner
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
)

// New returns a Store with a client that stays the caller's; how often a request is tried is the client's setting. It
// asks the engine nothing. At most one layout is given.
func New(client *dynamodb.Client, layout ...Layout) (*Store, error) {
	if client == nil {
		return nil, errors.New("dynamodb: no client: give New the result of dynamodb.NewFromConfig")
	}
	var l Layout
	switch len(layout) {
	case 0:
	case 1:
		l = layout[0]
	default:
		return nil, errors.New("dynamodb: more than one layout")
	}
	for name, usual := range map[*string]string{
		&l.Table: "next-auth", &l.PartitionKey: "pk", &l.SortKey: "sk",
		&l.Index: "GSI1", &l.IndexPartitionKey: "GSI1PK", &l.IndexSortKey: "GSI1SK",
	} {
		if *name == "" {
			*name = usual
		}
	}
	in := &table{client: client, layout: l}
	theirs := owned{in}
	changes := copies{theirs}
	return &Store{
		in, changes, userStore{changes}, accountStore{theirs}, sessionStore{changes}, tokenStore{in},
		authenticatorStore{theirs}, recordStore{theirs}, cleaner{theirs},
	}, nil
}

// RefreshSessions brings the sessions of a user up to date after another program has changed the user's item: sessions
// show the user as this package last wrote it. UpdateUser needs no such call. ErrNotFound: there is no such user.
func (s *Store) RefreshSessions(ctx context.Context, userID string) error {
	err := s.change(ctx, userID, nil, func(user item) (item, error) { return without(user, nextName), nil })
	return failed(ctx, "refresh sessions", err)
}
