package dynamodb

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkey-go/latchkey/core/store"
)

// CleansItself implements [store.SelfCleaner]. It returns true, because DynamoDB deletes expired items by time to live,
// and DeleteExpired reads the whole table.
func (s *Store) CleansItself() bool { return true }

// DeleteExpired implements [store.Cleaner]. It reads the whole table, with the corresponding cost. DynamoDB's time to
// live deletes expired sessions, tokens and records free of charge. It does not delete the entries of sessions and
// records; DeleteExpired does.
//
// If ctx ends, the remaining rows are counted in at most the next megabyte.
func (s *Store) DeleteExpired(ctx context.Context, now time.Time) (n int, err error) {
	const operation = "delete expired sessions"
	old := is("expires", "<", seconds(now))
	stale := old.or(is(untilName, "<", seconds(now)))
	pages := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{
		TableName: &s.layout.Table, ConsistentRead: aws.Bool(true),
		FilterExpression:         aws.String(stale.text),
		ExpressionAttributeNames: stale.names, ExpressionAttributeValues: stale.values,
	})
	var from item // the start of the current page
	stopped := func(err error) error {
		return store.WithLeft(ctx, failed(ctx, operation, err), func(ctx context.Context) (int, bool, error) {
			return s.left(ctx, from, old)
		})
	}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return n, stopped(err)
		}
		for _, of := range page.Items {
			gone, err := s.clean(ctx, of, old)
			if err != nil {
				return n, stopped(err)
			}
			n += gone
		}
		from = page.LastEvaluatedKey
	}
	return n, nil
}

// left counts expired items with one request, starting at an item. more reports whether the table continues.
func (s *Store) left(ctx context.Context, from item, old condition) (rows int, more bool, err error) {
	page, err := s.client.Scan(ctx, &dynamodb.ScanInput{
		TableName: &s.layout.Table, Select: types.SelectCount, Limit: aws.Int32(store.MostLeft), ExclusiveStartKey: from,
		FilterExpression:         aws.String(old.text),
		ExpressionAttributeNames: old.names, ExpressionAttributeValues: old.values,
	})
	if err != nil {
		return 0, false, err
	}
	return int(page.Count), len(page.LastEvaluatedKey) > 0, nil
}

// clean deletes an expired item, unless it was extended meanwhile, or the entry of a deleted session or record.
func (s *Store) clean(ctx context.Context, of item, old condition) (int, error) {
	k := s.keyOf(of)
	switch kind, rest := cut(k.partition); kind {
	case "USER":
		own, ok := s.ownKey(of)
		if !ok || of[untilName] == nil {
			return 0, nil
		}
		there, err := s.get(ctx, own)
		if err != nil || len(there) > 0 {
			return 0, err
		}
		return 0, s.discard(ctx, k, of)
	case "SESSION", "VT", "REC":
		gone, err := s.remove(ctx, k, old)
		if err != nil || len(gone) == 0 {
			return 0, ignored(err)
		}
		switch user := plain(gone, "userId"); {
		case kind == "SESSION":
			err = s.discard(ctx, sessionEntry(user, rest), gone)
		case kind == "REC" && user != "":
			err = s.discard(ctx, recordEntry(user, rest), gone)
		}
		return 1, err
	}
	return 0, nil
}
