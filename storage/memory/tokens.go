package memory

import (
	"context"

	"github.com/latchkey-go/latchkey/core/store"
)

// tokenStore implements the verification token methods of a Store.
type tokenStore struct{ *sharedData }

type tokenKey struct{ identifier, token string }

// CreateVerificationToken implements [store.VerificationTokenStore].
func (s *tokenStore) CreateVerificationToken(ctx context.Context, t *store.VerificationToken) error {
	return s.locked(ctx, func(d *data) error {
		key := tokenKey{t.Identifier, t.Token}
		if _, taken := d.tokens[key]; taken {
			return store.ErrConflict
		}
		d.tokens[key] = *t
		return nil
	})
}

// UseVerificationToken implements [store.VerificationTokenStore].
func (s *tokenStore) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (t *store.VerificationToken, err error) {
	err = s.locked(ctx, func(d *data) error {
		key := tokenKey{identifier, token}
		t, err = get(d.tokens, key)
		delete(d.tokens, key)
		return err
	})
	return t, err
}
