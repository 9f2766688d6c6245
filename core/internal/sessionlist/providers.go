package sessionlist

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/store"
)

// EndAtProvider ends the sessions of a user who has signed out at a provider. If subject is not empty, it is the user
// at the provider, and all sessions of the account's owner end. Otherwise the sessions end that a session of the
// provider started here; these are their IDs, as of [Sessions.EndThese]. user is their owner, or nil if there is none.
// known is false if it is unknown which sessions to end. users may be nil.
func (s *Sessions) EndAtProvider(
	ctx context.Context, users store.Store, provider, subject string, these []string,
) (user *store.User, known bool, err error) {
	switch {
	case subject == "":
		var owner string
		owner, known, err = s.EndThese(ctx, these)
		if err == nil && owner != "" {
			user, err = users.User(ctx, owner)
		}
	case users == nil:
		return nil, true, nil
	default:
		known = true
		user, err = users.UserByAccount(ctx, provider, subject)
		if err == nil {
			return user, true, s.EndAll(ctx, user.ID)
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return user, known, err
}
