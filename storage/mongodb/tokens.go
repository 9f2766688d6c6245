package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkey-go/latchkey/core/store"
)

// tokenStore is the part of a Store about verification tokens.
type tokenStore struct{ *collections }

// CreateVerificationToken implements [store.VerificationTokenStore]. ErrConflict: the identifier has that token
// already.
func (s *tokenStore) CreateVerificationToken(ctx context.Context, t *store.VerificationToken) error {
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

// UseVerificationToken implements [store.VerificationTokenStore]: the engine removes a document once, so one caller
// gets it.
func (s *tokenStore) UseVerificationToken(
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
