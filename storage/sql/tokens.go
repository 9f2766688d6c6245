package sqlstore

import (
	"context"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/sqlpool"
)

// CreateVerificationToken implements [store.VerificationTokenStore]. It returns ErrConflict if the identifier already
// has this token.
func (s *Store) CreateVerificationToken(ctx context.Context, t *store.VerificationToken) error {
	expires, err := s.encodeTime(t.Expires)
	if err != nil {
		return s.failed(ctx, "create verification token", err, nil)
	}
	args := s.withRecordID(tokens, []any{t.Identifier, t.Token, expires})
	_, err = s.exec(ctx, "create verification token", s.createToken, args...)
	return err
}

// UseVerificationToken implements [store.VerificationTokenStore]. The database deletes a row only once, so only one
// caller gets it.
func (s *Store) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	read := func(rows sqlpool.Rows) (*store.VerificationToken, error) {
		var t store.VerificationToken
		expires := timeColumn{engine: s.engine}
		err := rows.Scan(&t.Identifier, &t.Token, &expires)
		t.Expires = expires.at
		return &t, err
	}
	return take(ctx, s, "use verification token", s.token, s.useToken, read, identifier, token)
}
