package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkey-go/latchkey/core/store"
)

// CreateVerificationToken implements [store.VerificationTokenStore]. It returns ErrConflict if the identifier already
// has this token.
func (s *Store) CreateVerificationToken(ctx context.Context, t *store.VerificationToken) error {
	const operation = "create verification token"
	if err := storable(t.Identifier, t.Token); err != nil {
		return failed(ctx, operation, err)
	}
	_, err := s.tokens.InsertOne(ctx, bson.D{
		{Key: "_id", Value: bson.NewObjectID()}, {Key: "identifier", Value: t.Identifier}, {Key: "token", Value: t.Token},
		{Key: "expires", Value: milliseconds(t.Expires)},
	})
	return failed(ctx, operation, err)
}

// UseVerificationToken implements [store.VerificationTokenStore]. The database deletes a document only once, so only
// one caller gets it.
func (s *Store) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	const operation = "use verification token"
	if !possible(identifier, token) {
		return nil, none(ctx, operation)
	}
	doc, err := take(ctx, s.tokens, bson.D{{Key: "identifier", Value: identifier}, {Key: "token", Value: token}})
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	expires, err := moment(doc, "expires")
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	return &store.VerificationToken{Identifier: identifier, Token: token, Expires: expires}, nil
}
