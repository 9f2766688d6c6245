package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkey-go/latchkey/core/store"
)

// The maximum time that Migrate waits for a new table, and the interval between checks.
const (
	patience = 2 * time.Minute
	pause    = 100 * time.Millisecond
)

// Migrate creates the table if it is missing, and waits until it is active. The table is billed per request and has the
// index of Auth.js's adapter. Migrate may run at every start and in several processes concurrently. It needs the
// permission dynamodb:DescribeTable and, to create the table, dynamodb:CreateTable. If you create the table yourself,
// you do not need Migrate.
func (s *Store) Migrate(ctx context.Context) error { return failed(ctx, "migrate", s.migrate(ctx)) }

func (s *Store) migrate(ctx context.Context) error {
	_, err := s.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &s.layout.Table})
	if err != nil && !errors.As(err, new(*types.ResourceNotFoundException)) {
		return err
	}
	if err != nil {
		_, err = s.client.CreateTable(ctx, definition(s.layout))
		if err != nil && !errors.As(err, new(*types.ResourceInUseException)) { // another process creates it
			return err
		}
	}
	waiter := dynamodb.NewTableExistsWaiter(s.client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = pause, time.Second
	})
	return waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &s.layout.Table}, patience)
}

// definition returns the definition of the table with its index.
func definition(l Layout) *dynamodb.CreateTableInput {
	var attributes []types.AttributeDefinition
	for _, name := range []string{l.PartitionKey, l.SortKey, l.IndexPartitionKey, l.IndexSortKey} {
		attributes = append(attributes, types.AttributeDefinition{
			AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS,
		})
	}
	schema := func(partition, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: aws.String(partition), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(sort), KeyType: types.KeyTypeRange},
		}
	}
	return &dynamodb.CreateTableInput{
		TableName: &l.Table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: attributes, KeySchema: schema(l.PartitionKey, l.SortKey),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: &l.Index, KeySchema: schema(l.IndexPartitionKey, l.IndexSortKey),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}
}

// AdoptAuthJS prepares a table of Auth.js's DynamoDB adapter for this store: it reserves the users' addresses, and
// gives sessions and accounts their own keys. It reads the whole table. Stop Auth.js first, and run it once. If it
// fails, or Auth.js has written since, run it again. If users share an address or an account is linked twice, it adopts
// the first one, does not change the others, and returns an error with their number.
func (s *Store) AdoptAuthJS(ctx context.Context) error {
	return failed(ctx, "adopt the table of Auth.js", s.adopt(ctx))
}

func (s *Store) adopt(ctx context.Context) error {
	taken := 0
	pages := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{
		TableName: &s.layout.Table, ConsistentRead: aws.Bool(true),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, of := range page.Items {
			err := s.adoptItem(ctx, of)
			if errors.Is(err, store.ErrConflict) {
				taken++
				continue
			}
			if err != nil {
				return err
			}
		}
	}
	if taken > 0 {
		return fmt.Errorf("%d items have an email address or account of another item: remove them and call it again", taken)
	}
	return nil
}

// adoptItem adds what an item of Auth.js lacks.
func (s *Store) adoptItem(ctx context.Context, of item) error {
	k := s.keyOf(of)
	kind, user := cut(k.partition)
	if kind != "USER" {
		return nil
	}
	sort, token := cut(k.sort)
	switch {
	case sort == "USER" && plain(of, "email") != "" && of[nonceName] == nil: // items of CreateUser have a nonce
		return s.reserve(ctx, plain(of, "email"), user)
	case sort == "SESSION" && plain(of, "sessionToken") == token && of["expires"] != nil:
		until, err := fromSeconds(of, "expires")
		if err != nil {
			return err
		}
		own := sessionKey(token)
		if err := s.adoptOwned(ctx, user, k, own, of, item{untilName: seconds(until)}); err != nil {
			return err
		}
		err = s.publish(ctx, user, &own)
		if errors.Is(err, store.ErrNotFound) {
			return nil // a session without a user, which is never returned
		}
		return err
	case sort == "ACCOUNT" && of[nonceName] == nil && plain(of, "provider") != "":
		provider, id := plain(of, "provider"), plain(of, "providerAccountId")
		entry := item{"provider": str(provider), "providerAccountId": str(id)}
		return s.adoptOwned(ctx, user, k, accountKey(provider, id), of, entry)
	}
	return nil
}

// adoptOwned moves an item to its own key and leaves an entry. The item can be found by its user at every moment,
// because it already is in the place of the entry.
func (s *Store) adoptOwned(ctx context.Context, user string, entry, own key, of, entryAttributes item) error {
	mine := item{nonceName: nonce(), "userId": str(user)}
	err := s.put(ctx, own, merged(without(of, s.layout.PartitionKey, s.layout.SortKey), mine), s.isFree())
	if errors.Is(err, errCondition) {
		there, err := s.must(ctx, own)
		if err != nil {
			return err
		}
		if plain(there, "userId") != user {
			return store.ErrConflict
		}
		mine[nonceName] = there[nonceName] // of a call that was interrupted
	} else if err != nil {
		return err
	}
	return s.put(ctx, entry, merged(entryAttributes, mine), condition{})
}
