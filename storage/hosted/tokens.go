package hosted

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/store"
)

func (s *Store) token(ctx context.Context, v *view, identifier, token string) (record, error) {
	if impossible(identifier, token) {
		return nil, store.ErrNotFound
	}
	return first(v.query(ctx, s.tables.tokens, map[string]any{"identifier": identifier, "token": token}))
}

// CreateVerificationToken implements [store.VerificationTokenStore].
func (s *Store) CreateVerificationToken(ctx context.Context, t *store.VerificationToken) error {
	const operation = "create verification token"
	expires, err := encodeTime(t.Expires)
	fields := record{"identifier": t.Identifier, "token": t.Token, "expires": expires}
	if err = errors.Join(err, storable(fields)); err != nil {
		return s.failed(ctx, operation, err)
	}
	identifier, token := t.Identifier, t.Token
	_, err = s.run(ctx, operation, func(ctx context.Context, v *view) ([]record, error) {
		switch _, err := s.token(ctx, v, identifier, token); {
		case err == nil:
			return nil, store.ErrConflict
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
		v.insert(s.tables.tokens, recordID("token", identifier, token), fields)
		return nil, nil
	})
	return err
}

// UseVerificationToken implements [store.VerificationTokenStore].
func (s *Store) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	return one(ctx, s, "use verification token", decodeToken, func(ctx context.Context, v *view) ([]record, error) {
		t, err := s.token(ctx, v, identifier, token)
		if err != nil {
			return nil, err
		}
		v.remove(s.tables.tokens, t.id())
		return []record{t}, nil
	})
}

func decodeToken(r record) (*store.VerificationToken, error) {
	expires, err := r.time("expires")
	return &store.VerificationToken{Identifier: r.text("identifier"), Token: r.text("token"), Expires: expires}, err
}
