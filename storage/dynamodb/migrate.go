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

// How long Migrate waits for a table that it makes, and how often it looks.
const (
	patience = 2 * time.Minute
	pause    = 100 * time.Millisecond
)

// Migrate makes the table when it is missing, billed by request, with the index that Auth.js's adapter wants, and waits
// until it can be used. It may run at every start and in several processes at once; it needs the permissions for
// dynamodb:DescribeTable and, to make the table, dynamodb:CreateTable. A table that is made in another way needs no
// Migrate.
func (s *Store) Migrate(ctx context.Context) error { return failed(ctx, "migrate", s.migrate(ctx)) }

func (s *Store) migrate(ctx context.Context) error {
	_, err := s.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &s.layout.Table})
	if err != nil && !errors.As(err, new(*types.ResourceNotFoundException)) {
		return err
	}
	if err != nil {
		_, err = s.client.CreateTable(ctx, definition(s.layout))
		if err != nil && !errors.As(err, new(*types.ResourceInUseException)) { // another process makes it
			return err
		}
	}
	waiter := dynamodb.NewTableExistsWaiter(s.client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = pause, time.Second
	})
	return waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &s.layout.Table}, patience)
}

// definition is that of the table with its index.
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

// AdoptAuthJS goes on with a table that Auth.js's DynamoDB adapter has filled: it reserves the users' addresses, and
// gives sessions and accounts keys of their own. It reads the whole table. Stop Auth.js before, and run it once; when
// it fails, or Auth.js has written since, run it again. Users who share an address, and accounts that are linked twice,
// are an error that counts them: their first is kept, the others are left as they are.
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
		return fmt.Errorf("%d items share an e-mail address or an account with another: remove them and call it again", taken)
	}
	return nil
}

// adoptItem gives an item of Auth.js what it lacks.
func (s *Store) adoptItem(ctx context.Context, of item) error {
	k := s.keyOf(of)
	kind, user := cut(k.partition)
	if kind != "USER" {
		return nil
	}
	sort, token := cut(k.sort)
	switch {
	case sort == "USER" && plain(of, "email") != "" && of[nonceName] == nil: // those of CreateUser have a nonce
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
			return nil // a session without a user, which is never found
		}
		return err
	case sort == "ACCOUNT" && of[nonceName] == nil && plain(of, "provider") != "":
		provider, id := plain(of, "provider"), plain(of, "providerAccountId")
		entry := item{"provider": str(provider), "providerAccountId": str(id)}
		return s.adoptOwned(ctx, user, k, accountKey(provider, id), of, entry)
	}
	return nil
}

// adoptOwned moves an item to a key of its own and leaves an entry behind. The item is there already as an entry: it is
// found by its user at every moment.
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
		mine[nonceName] = there[nonceName] // of a call that did not come to its end
	} else if err != nil {
		return err
	}
	return s.put(ctx, entry, merged(entryAttributes, mine), condition{})
}
