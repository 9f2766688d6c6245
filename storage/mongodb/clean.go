package mongodb

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkey-go/latchkey/core/store"
)

// batch is the number of documents that one command of DeleteExpired deletes.
const batch = 500

// DeleteExpired implements [store.Cleaner]. It deletes 500 documents with one command, found by the indexes on expires.
// If ctx ends or a command fails, the completed batches stay deleted and are counted in n. The remaining documents are
// counted with the same indexes.
func (s *Store) DeleteExpired(ctx context.Context, now time.Time) (n int, err error) {
	old := bson.E{Key: "expires", Value: bson.D{{Key: "$lt", Value: milliseconds(now)}}}
	for _, c := range []struct {
		of        *mongo.Collection
		operation string
	}{
		{s.sessions, "delete expired sessions"}, {s.tokens, "delete expired verification tokens"},
		{s.records, "delete expired records"},
	} {
		for {
			found, gone, err := deleteSome(ctx, c.of, old)
			n += gone
			if err != nil {
				return n, store.WithLeft(ctx, failed(ctx, c.operation, err), func(ctx context.Context) (int, bool, error) {
					return s.left(ctx, old)
				})
			}
			if found < batch || gone == 0 {
				break
			}
		}
	}
	return n, nil
}

// left counts expired documents. more reports whether it stopped at store.MostLeft.
func (s *Store) left(ctx context.Context, old bson.E) (rows int, more bool, err error) {
	for _, c := range []*mongo.Collection{s.sessions, s.tokens, s.records} {
		n, err := c.CountDocuments(ctx, bson.D{old}, options.Count().SetLimit(int64(store.MostLeft-rows)))
		rows += int(n)
		if err != nil || rows >= store.MostLeft {
			return rows, true, err
		}
	}
	return rows, false, nil
}

// deleteSome deletes some documents that match a condition, if they still match it then.
func deleteSome(ctx context.Context, c *mongo.Collection, old bson.E) (found, gone int, err error) {
	cursor, err := c.Find(ctx, bson.D{old}, options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}}).SetLimit(batch))
	if err != nil {
		return 0, 0, err
	}
	var ids []struct {
		ID any `bson:"_id"`
	}
	if err := cursor.All(ctx, &ids); err != nil || len(ids) == 0 {
		return 0, 0, err
	}
	in := make(bson.A, len(ids))
	for i := range ids {
		in[i] = ids[i].ID
	}
	result, err := c.DeleteMany(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: in}}}, old})
	if err != nil {
		return len(ids), 0, err
	}
	return len(ids), int(result.DeletedCount), nil
}
