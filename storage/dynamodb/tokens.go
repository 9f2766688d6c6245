package dynamodb

import (
	"context"
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
)

// cut splits a key into its kind and the rest.
func cut(k string) (kind, rest string) {
	kind, rest, _ = strings.Cut(k, "#")
	return kind, rest
}

// CreateVerificationToken implements [store.VerificationTokenStore]. It returns ErrConflict if the identifier already
// has this token.
func (s *Store) CreateVerificationToken(ctx context.Context, t *store.VerificationToken) error {
	const operation = "create verification token"
	k := tokenKey(t.Identifier, t.Token)
	of := item{
		"type": str("VT"), "identifier": str(t.Identifier), "token": str(t.Token), "expires": seconds(t.Expires),
		nonceName: nonce(),
	}
	err := s.put(ctx, k, of, s.isFree())
	if errors.Is(err, errCondition) {
		err = store.ErrConflict
		there, reading := s.get(ctx, k)
		if reading != nil {
			err = reading
		} else if plain(there, nonceName) == plain(of, nonceName) {
			err = nil // the client retried, and the first attempt had succeeded
		}
	}
	return failed(ctx, operation, err)
}

// UseVerificationToken implements [store.VerificationTokenStore]. DynamoDB deletes and returns an item only once, so
// only one caller gets it.
func (s *Store) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	const operation = "use verification token"
	old, err := s.remove(ctx, tokenKey(identifier, token), condition{})
	if err == nil && len(old) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	expires, err := fromSeconds(old, "expires")
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	return &store.VerificationToken{Identifier: identifier, Token: token, Expires: expires}, nil
}
