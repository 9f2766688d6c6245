package mongodb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Error codes of the database.
const (
	namespaceNotFound = 26
	notImplemented    = 238
)

type index struct {
	of     *mongo.Collection
	fields []string
	unique bool
	texts  bool // only documents with non-empty texts in the fields
}

func (s *Store) indexes() []index {
	return []index{
		{of: s.users, fields: []string{"email"}, unique: true, texts: true},
		{of: s.accounts, fields: []string{"provider", "providerAccountId"}, unique: true},
		{of: s.accounts, fields: []string{"userId"}},
		{of: s.sessions, fields: []string{"sessionToken"}, unique: true},
		{of: s.sessions, fields: []string{"userId"}},
		{of: s.sessions, fields: []string{"expires"}},
		{of: s.tokens, fields: []string{"identifier", "token"}, unique: true},
		{of: s.tokens, fields: []string{"expires"}},
		{of: s.authenticators, fields: []string{"credentialID"}, unique: true},
		{of: s.authenticators, fields: []string{"userId"}},
		{of: s.records, fields: []string{"userId", "kind"}},
		{of: s.records, fields: []string{"expires"}},
	}
}

// Migrate creates missing indexes, which the store needs for correctness and speed, and copies users into sessions that
// another program created. It may run at every start and in several processes concurrently. It deletes nothing: if
// documents violate a unique index, the error names the collection.
func (s *Store) Migrate(ctx context.Context) error {
	for _, i := range s.indexes() {
		if err := i.ensure(ctx); err != nil {
			return err
		}
	}
	return failed(ctx, "migrate: copy users into sessions", s.publishAll(ctx))
}

func (i index) keys() bson.D {
	var d bson.D
	for _, field := range i.fields {
		d = append(d, bson.E{Key: field, Value: 1})
	}
	return d
}

// ensure creates an index unless an equivalent one exists.
func (i index) ensure(ctx context.Context) error {
	operation := fmt.Sprintf("migrate: index %v of the collection %s", i.fields, i.of.Name())
	there, err := i.there(ctx)
	if err != nil || there {
		return failed(ctx, operation, err)
	}
	o := options.Index().SetUnique(i.unique)
	if i.texts {
		var filter bson.D // not {$type: "string"}: MongoDB would not use that index to search for a value
		for _, field := range i.fields {
			filter = append(filter, bson.E{Key: field, Value: bson.D{{Key: "$gt", Value: ""}}})
		}
		o.SetPartialFilterExpression(filter)
	}
	_, err = i.of.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: i.keys(), Options: o})
	if code(err, notImplemented) && i.texts {
		// FerretDB: its unique indexes ignore documents without the field, like sparse indexes.
		o = options.Index().SetUnique(i.unique).SetSparse(true)
		_, err = i.of.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: i.keys(), Options: o})
	}
	if mongo.IsDuplicateKeyError(err) {
		return fmt.Errorf("mongodb: %s: documents violate a unique index: remove the duplicates", operation)
	}
	return failed(ctx, operation, err)
}

// there reports whether an equivalent index exists, with any name. A unique index is also equivalent to one that is not
// unique.
func (i index) there(ctx context.Context) (bool, error) {
	list, err := i.of.Indexes().ListSpecifications(ctx)
	if code(err, namespaceNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, index := range list {
		unique := index.Unique != nil && *index.Unique
		if sameKeys(index.KeysDocument, i.fields) && (unique || !i.unique) {
			return true, nil
		}
	}
	return false, nil
}

func sameKeys(keys bson.Raw, fields []string) bool {
	elements, err := keys.Elements()
	if err != nil || len(elements) != len(fields) {
		return false
	}
	for n, e := range elements {
		if e.Key() != fields[n] {
			return false
		}
	}
	return true
}

func code(err error, n int) bool {
	var answer mongo.ServerError
	return errors.As(err, &answer) && answer.HasErrorCode(n)
}

// publishAll copies users into sessions without a copy.
func (s *Store) publishAll(ctx context.Context) error {
	cursor, err := s.sessions.Find(ctx, bson.D{{Key: revisionField, Value: bson.D{{Key: "$exists", Value: false}}}},
		options.Find().SetProjection(bson.D{{Key: "userId", Value: 1}}))
	if err != nil {
		return err
	}
	defer func() { _ = cursor.Close(ctx) }()
	users := map[bson.ObjectID]bool{}
	for cursor.Next(ctx) {
		if id, ok := cursor.Current.Lookup("userId").ObjectIDOK(); ok {
			users[id] = true
		}
	}
	if err := cursor.Err(); err != nil {
		return err
	}
	for id := range users {
		if err := s.publish(ctx, id); err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
			return err
		}
	}
	return nil
}
