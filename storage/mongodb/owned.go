package mongodb

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/latchkey-go/latchkey/core/store"
)

func ofUser(id bson.ObjectID) bson.D { return bson.D{{Key: "userId", Value: id}} }

// exists reports whether a user exists.
func (s *Store) exists(ctx context.Context, id bson.ObjectID) (bool, error) {
	_, err := find(ctx, s.users, byID(id))
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	return err == nil, err
}

// mustExist returns ErrNotFound if the user does not exist.
func (s *Store) mustExist(ctx context.Context, id bson.ObjectID) error {
	there, err := s.exists(ctx, id)
	if err == nil && !there {
		err = store.ErrNotFound
	}
	return err
}

// insertFor inserts a document that belongs to a user, if the user exists. It replaces an existing document with the
// same key but without a user, which is the result of a concurrent deletion of that user.
func (s *Store) insertFor(ctx context.Context, user bson.ObjectID, c *mongo.Collection, d, key bson.D) error {
	if err := s.mustExist(ctx, user); err != nil {
		return err
	}
	id := bson.NewObjectID()
	d = append(byID(id), d...)
	_, err := c.InsertOne(ctx, d)
	if mongo.IsDuplicateKeyError(err) && s.removedOrphan(ctx, c, key) {
		_, err = c.InsertOne(ctx, d)
	}
	if err != nil {
		return err
	}
	gone := s.mustExist(ctx, user)
	if errors.Is(gone, store.ErrNotFound) {
		if _, err := c.DeleteOne(ctx, byID(id)); err != nil {
			return err
		}
	}
	return gone
}

// removedOrphan deletes the document with a key if its user does not exist.
func (s *Store) removedOrphan(ctx context.Context, c *mongo.Collection, key bson.D) bool {
	doc, err := find(ctx, c, key)
	if err != nil {
		return errors.Is(err, mongo.ErrNoDocuments)
	}
	user, err := owner(doc, "userId")
	if err != nil {
		return false
	}
	if there, err := s.exists(ctx, user); there || err != nil {
		return false
	}
	result, err := c.DeleteOne(ctx, bson.D{{Key: "_id", Value: doc.Lookup("_id")}})
	return err == nil && result.DeletedCount == 1
}
