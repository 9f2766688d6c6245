package mongodb

import (
	"context"
	"errors"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkey-go/latchkey/core/store"
)

// userFields are the fields of a user that are not in Extra.
var userFields = []string{"_id", "id", "name", "email", "emailVerified", "image", privateField}

// userOf decodes a user.
func userOf(doc bson.Raw) (*store.User, error) {
	id, err := owner(doc, "_id")
	if err != nil {
		return nil, err
	}
	u := store.User{ID: id.Hex()}
	var name, image bool
	if u.Name, name, err = text(doc, "name"); err != nil {
		return nil, err
	}
	if u.Email, _, err = text(doc, "email"); err != nil {
		return nil, err
	}
	if u.Image, image, err = text(doc, "image"); err != nil {
		return nil, err
	}
	if name {
		u.Null |= store.NullName
	}
	if image {
		u.Null |= store.NullImage
	}
	if u.EmailVerified, err = moment(doc, "emailVerified"); err != nil {
		return nil, err
	}
	if u.Extra, err = members(doc, userFields); err != nil {
		return nil, err
	}
	return u.AsStored(), nil
}

// standard returns the fields that every user has. A missing email address is a missing field, so that the unique index
// allows many users without one on every database.
func standard(u *store.User) (bson.D, error) {
	if err := storable(u.Name, u.Email, u.Image); err != nil {
		return nil, err
	}
	d := bson.D{{Key: "name", Value: emptyOrNull(u.Name, u.Null&store.NullName)}}
	if u.Email != "" {
		d = append(d, bson.E{Key: "email", Value: u.Email})
	}
	var verified any
	if !u.EmailVerified.IsZero() {
		verified = milliseconds(u.EmailVerified)
	}
	image := emptyOrNull(u.Image, u.Null&store.NullImage)
	return append(d, bson.E{Key: "emailVerified", Value: verified}, bson.E{Key: "image", Value: image}), nil
}

// emptyOrNull converts an empty text to null if null is set. The empty text and null stay distinct.
func emptyOrNull(text string, null store.Nulls) any {
	if text == "" && null != 0 {
		return nil
	}
	return text
}

// CreateUser implements [store.Store]. The user gets a new ObjectID; the ID of u is ignored.
func (s *Store) CreateUser(ctx context.Context, u *store.User) (*store.User, error) {
	const operation = "create user"
	d, err := standard(u)
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	natives, extra, err := fields(u.Extra, userFields)
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	d = append(append(bson.D{{Key: "_id", Value: bson.NewObjectID()}}, d...), natives...)
	doc, err := bson.Marshal(append(d, bson.E{Key: privateField, Value: private(0, extra)}))
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	if _, err := s.users.InsertOne(ctx, bson.Raw(doc)); err != nil {
		return nil, failed(ctx, operation, err)
	}
	made, err := userOf(doc)
	return made, failed(ctx, operation, err)
}

// private returns the fields of a document that only the store uses.
func private(revision int64, extra string) bson.D {
	d := bson.D{{Key: "revision", Value: revision}}
	if extra != "" {
		d = append(d, bson.E{Key: "extra", Value: extra})
	}
	return d
}

// find returns the document that matches a filter.
func find(ctx context.Context, c *mongo.Collection, filter bson.D) (bson.Raw, error) {
	return c.FindOne(ctx, filter).Raw()
}

func byID(id bson.ObjectID) bson.D { return bson.D{{Key: "_id", Value: id}} }

// readUser reads a user.
func (s *Store) readUser(ctx context.Context, operation string, filter bson.D) (*store.User, error) {
	doc, err := find(ctx, s.users, filter)
	return decoded(ctx, operation, doc, err, userOf)
}

// User implements [store.Store].
func (s *Store) User(ctx context.Context, id string) (*store.User, error) {
	o, err := objectID(id)
	if err != nil {
		return nil, none(ctx, "read user")
	}
	return s.readUser(ctx, "read user", byID(o))
}

// none returns the result of a query that need not be sent: ErrNotFound, or the error of an ended context.
func none(ctx context.Context, operation string) error {
	if err := ctx.Err(); err != nil {
		return failed(ctx, operation, err)
	}
	return store.ErrNotFound
}

// UserByEmail implements [store.Store].
func (s *Store) UserByEmail(ctx context.Context, email string) (*store.User, error) {
	const operation = "read user by e-mail"
	if email == "" || !possible(email) {
		return nil, none(ctx, operation)
	}
	return s.readUser(ctx, operation, bson.D{{Key: "email", Value: email}})
}

// UserByAccount implements [store.Store] with two queries.
func (s *Store) UserByAccount(ctx context.Context, provider, providerAccountID string) (*store.User, error) {
	const operation = "read user by account"
	account, err := s.findAccount(ctx, provider, providerAccountID)
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	id, err := owner(account, "userId")
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	return s.readUser(ctx, operation, byID(id))
}

// UpdateUser implements [store.Store]. It does not rewrite fields that already have the value of u, so that, for
// example, dates of another program stay dates.
func (s *Store) UpdateUser(ctx context.Context, u *store.User) (*store.User, error) {
	const operation = "update user"
	id, err := objectID(u.ID)
	if err != nil {
		return nil, none(ctx, operation)
	}
	d, err := standard(u)
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	if err := s.free(ctx, id, u.Email); err != nil {
		return nil, failed(ctx, operation, err)
	}
	err = s.change(ctx, id, func(doc bson.Raw) (set, unset bson.D, err error) {
		set, unset, err = difference(doc, u.Extra)
		if u.Email == "" {
			unset = append(unset, bson.E{Key: "email", Value: ""})
		}
		return append(set, d...), unset, err
	})
	if err != nil {
		return nil, failed(ctx, operation, s.overtaken(ctx, id, u.Email, err))
	}
	return s.readUser(ctx, operation, byID(id))
}

// overtaken returns ErrConflict instead of a database error if another user now has the address.
func (s *Store) overtaken(ctx context.Context, id bson.ObjectID, email string, err error) error {
	var answer mongo.ServerError
	if !errors.As(err, &answer) || !isResponse(answer) {
		return err
	}
	if taken := s.free(ctx, id, email); errors.Is(taken, store.ErrConflict) {
		return store.ErrConflict
	}
	return err
}

// free returns ErrConflict if another user has the address. The unique index would reject it too, but later, and in
// FerretDB without a specific error code.
func (s *Store) free(ctx context.Context, id bson.ObjectID, email string) error {
	if email == "" {
		return nil
	}
	doc, err := find(ctx, s.users, bson.D{{Key: "email", Value: email}})
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil
	}
	if err != nil {
		return err
	}
	if other, err := owner(doc, "_id"); err != nil || other != id {
		return errors.Join(err, store.ErrConflict)
	}
	return nil
}

// difference returns the update that changes the further members of a document to want. Fields with the right value are
// not part of it.
func difference(doc bson.Raw, want store.Members) (set, unset bson.D, err error) {
	elements, err := doc.Elements()
	if err != nil {
		return nil, nil, err
	}
	rest := maps.Clone(want)
	for _, e := range elements {
		name := e.Key()
		if slices.Contains(userFields, name) {
			continue
		}
		there, err := toJSON(e.Value())
		switch {
		case err != nil:
			return nil, nil, err
		case string(there) == string(want[name]):
			delete(rest, name)
		case fieldName(name):
			unset = append(unset, bson.E{Key: name, Value: ""})
		}
	}
	set, extra, err := fields(rest, userFields)
	if err != nil {
		return nil, nil, err
	}
	unset = slices.DeleteFunc(unset, func(e bson.E) bool {
		return slices.ContainsFunc(set, func(s bson.E) bool { return s.Key == e.Key })
	})
	if extra == "" {
		return set, append(unset, bson.E{Key: privateField + ".extra", Value: ""}), nil
	}
	return append(set, bson.E{Key: privateField + ".extra", Value: extra}), unset, nil
}

// DeleteUser implements [store.UserDeleter]. It deletes the user's own document last. If it fails, it may have deleted
// a part: call it again.
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	const operation = "delete user"
	o, err := objectID(id)
	if err != nil {
		return none(ctx, operation)
	}
	return failed(ctx, operation, s.remove(ctx, o))
}

// ListUsers implements [store.UserFinder] with one query over the index of _id. The cursor is the last ID.
func (s *Store) ListUsers(ctx context.Context, cursor string, limit int) (list []*store.User, next string, err error) {
	const operation = "list users"
	filter := bson.D{}
	if cursor != "" {
		after, err := objectID(cursor)
		if err != nil {
			return nil, "", failed(ctx, operation, store.ErrCursor)
		}
		filter = bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}}}}
	}
	list, more, err := s.pageOfUsers(ctx, operation, filter, "_id", limit)
	if more {
		next = list[len(list)-1].ID
	}
	return list, next, err
}

// ListUsersByEmail implements [store.UserFinder] with one query over the index of the addresses. The cursor is the last
// address.
func (s *Store) ListUsersByEmail(
	ctx context.Context, prefix, cursor string, limit int,
) (list []*store.User, next string, err error) {
	const operation = "list users by e-mail"
	switch {
	case !possible(cursor):
		return nil, "", failed(ctx, operation, store.ErrCursor)
	case !possible(prefix):
		return nil, "", failed(ctx, operation, ctx.Err())
	}
	within := bson.D{{Key: "$gt", Value: cursor}} // never null: the index contains only texts that are not empty
	if prefix > cursor {
		within[0] = bson.E{Key: "$gte", Value: prefix}
	}
	if end := store.PrefixEnd(prefix); end != "" {
		within = append(within, bson.E{Key: "$lt", Value: end})
	}
	list, more, err := s.pageOfUsers(ctx, operation, bson.D{{Key: "email", Value: within}}, "email", limit)
	if more {
		next = list[len(list)-1].Email
	}
	return list, next, err
}

// pageOfUsers reads users in the order of a field, and reports whether there may be more.
func (s *Store) pageOfUsers(
	ctx context.Context, operation string, filter bson.D, order string, limit int,
) (list []*store.User, more bool, err error) {
	limit = store.PageLimit(limit)
	sorted := options.Find().SetSort(bson.D{{Key: order, Value: 1}}).SetLimit(int64(limit))
	list, err = listed(ctx, operation, s.users, filter, sorted, userOf)
	return list, err == nil && len(list) == limit, err
}

// EachEmail implements [store.EmailLister].
func (s *Store) EachEmail(ctx context.Context, each func(userID, email string) error) error {
	const operation = "list addresses"
	cursor, err := s.users.Find(ctx, bson.D{}, options.Find().SetProjection(bson.D{{Key: "email", Value: 1}}))
	if err != nil {
		return failed(ctx, operation, err)
	}
	defer func() { _ = cursor.Close(ctx) }()
	for cursor.Next(ctx) {
		id, err := owner(cursor.Current, "_id")
		if err != nil {
			return failed(ctx, operation, err)
		}
		email, ok := cursor.Current.Lookup("email").StringValueOK()
		if !ok || email == "" {
			continue
		}
		if err := each(id.Hex(), email); err != nil {
			return err
		}
	}
	return failed(ctx, operation, cursor.Err())
}
