package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkey-go/latchkey/core/store"
)

func bySession(token string) bson.D { return bson.D{{Key: "sessionToken", Value: token}} }

func sessionOf(doc bson.Raw) (*store.Session, bson.ObjectID, error) {
	id, err := owner(doc, "userId")
	if err != nil {
		return nil, id, err
	}
	token, _, err := text(doc, "sessionToken")
	if err != nil {
		return nil, id, err
	}
	expires, err := moment(doc, "expires")
	return &store.Session{Token: store.Secret(token), UserID: id.Hex(), Expires: expires}, id, err
}

// CreateSession implements [store.SessionStore]. It returns ErrNotFound if the user does not exist, and ErrConflict if
// the token exists.
func (s *Store) CreateSession(ctx context.Context, session *store.Session) error {
	return failed(ctx, "create session", s.createSession(ctx, session))
}

func (s *Store) createSession(ctx context.Context, session *store.Session) error {
	if err := storable(string(session.Token)); err != nil {
		return err
	}
	user, err := objectID(session.UserID)
	if err != nil {
		return err
	}
	id := bson.NewObjectID()
	if _, err := s.sessions.InsertOne(ctx, bson.D{
		{Key: "_id", Value: id}, {Key: "sessionToken", Value: string(session.Token)}, {Key: "userId", Value: user},
		{Key: "expires", Value: milliseconds(session.Expires)},
	}); err != nil {
		return err
	}
	// Until then the session has neither a copy nor a user, so it gives no access.
	err = s.publish(ctx, user)
	if errors.Is(err, mongo.ErrNoDocuments) {
		if _, err := s.sessions.DeleteOne(ctx, byID(id)); err != nil {
			return err
		}
	}
	return err
}

// SessionAndUser implements [store.SessionStore] with one query. It takes a second query if another program created the
// session, or if the user is being changed.
func (s *Store) SessionAndUser(ctx context.Context, token string) (*store.Session, *store.User, error) {
	const operation = "read session"
	if !possible(token) {
		return nil, nil, none(ctx, operation)
	}
	doc, err := find(ctx, s.sessions, bySession(token))
	if err != nil {
		return nil, nil, failed(ctx, operation, err)
	}
	session, id, err := sessionOf(doc)
	if err != nil {
		return nil, nil, failed(ctx, operation, err)
	}
	user, ok := doc.Lookup(copyField).DocumentOK()
	if _, copied := doc.Lookup(revisionField).AsInt64OK(); !ok || !copied {
		if user, err = find(ctx, s.users, byID(id)); err != nil {
			return nil, nil, failed(ctx, operation, err)
		}
	}
	u, err := userOf(user)
	if err != nil {
		return nil, nil, failed(ctx, operation, err)
	}
	return session, u, nil
}

// UpdateSession implements [store.SessionStore] with one update.
func (s *Store) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	const operation = "extend session"
	if !possible(token) {
		return none(ctx, operation)
	}
	return updated(ctx, operation, s.sessions, bySession(token), bson.D{{Key: "expires", Value: milliseconds(expires)}})
}

// updated changes the document that matches a filter. It returns ErrNotFound if there is none.
func updated(ctx context.Context, operation string, c *mongo.Collection, filter, set bson.D) error {
	result, err := c.UpdateOne(ctx, filter, bson.D{{Key: "$set", Value: set}})
	if err == nil && result.MatchedCount == 0 {
		err = store.ErrNotFound
	}
	return failed(ctx, operation, err)
}

// take deletes a document and returns it. The database counts the deletion for only one of concurrent calls. FerretDB's
// findAndModify could return it to several.
func take(ctx context.Context, c *mongo.Collection, filter bson.D) (bson.Raw, error) {
	doc, err := find(ctx, c, filter)
	if err != nil {
		return nil, err
	}
	result, err := c.DeleteOne(ctx, bson.D{{Key: "_id", Value: doc.Lookup("_id")}})
	if err == nil && result.DeletedCount == 0 {
		err = store.ErrNotFound
	}
	return doc, err
}

// DeleteSession implements [store.SessionStore]. Of concurrent calls only one gets the session.
func (s *Store) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	const operation = "delete session"
	if !possible(token) {
		return nil, none(ctx, operation)
	}
	doc, err := take(ctx, s.sessions, bySession(token))
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	session, _, err := sessionOf(doc)
	return session, failed(ctx, operation, err)
}

// Sessions implements [store.SessionLister]. The list is ordered by expiry.
func (s *Store) Sessions(ctx context.Context, userID string) ([]*store.Session, error) {
	return list(ctx, "list sessions", s.sessions, userID, "expires", func(doc bson.Raw) (*store.Session, error) {
		session, _, err := sessionOf(doc)
		return session, err
	}, copyField)
}

// list reads the documents that belong to a user, in the order of a field and without some fields.
func list[T any](
	ctx context.Context, operation string, c *mongo.Collection, userID, order string,
	read func(bson.Raw) (T, error), without ...string,
) (all []T, err error) {
	id, err := objectID(userID)
	if err != nil {
		return nil, failed(ctx, operation, ctx.Err())
	}
	o := options.Find().SetSort(bson.D{{Key: order, Value: 1}})
	if len(without) > 0 {
		var projection bson.D
		for _, field := range without {
			projection = append(projection, bson.E{Key: field, Value: 0})
		}
		o.SetProjection(projection)
	}
	return listed(ctx, operation, c, ofUser(id), o, read)
}

// listed reads the documents that match a filter.
func listed[T any](
	ctx context.Context, operation string, c *mongo.Collection, filter bson.D, o *options.FindOptionsBuilder,
	read func(bson.Raw) (T, error),
) (all []T, err error) {
	cursor, err := c.Find(ctx, filter, o)
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	defer func() { _ = cursor.Close(ctx) }()
	for cursor.Next(ctx) {
		item, err := read(cursor.Current)
		if err != nil {
			return nil, failed(ctx, operation, err)
		}
		all = append(all, item)
	}
	return all, failed(ctx, operation, cursor.Err())
}

// DeleteSessions implements [store.SessionLister].
func (s *Store) DeleteSessions(ctx context.Context, userID string) (int, error) {
	const operation = "delete sessions"
	id, err := objectID(userID)
	if err != nil {
		return 0, failed(ctx, operation, ctx.Err())
	}
	return deleteAll(ctx, operation, s.sessions, ofUser(id))
}

// deleteAll deletes the documents that match a filter, and returns their number.
func deleteAll(ctx context.Context, operation string, c *mongo.Collection, filter bson.D) (int, error) {
	result, err := c.DeleteMany(ctx, filter)
	if err != nil {
		return 0, failed(ctx, operation, err)
	}
	return int(result.DeletedCount), nil
}

// deleteOne deletes the document that matches a filter. It returns ErrNotFound if there is none.
func deleteOne(ctx context.Context, operation string, c *mongo.Collection, filter bson.D) error {
	result, err := c.DeleteOne(ctx, filter)
	if err == nil && result.DeletedCount == 0 {
		err = store.ErrNotFound
	}
	return failed(ctx, operation, err)
}
