package pendingsignin

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/pending"
)

// lifetime is the lifetime of a pending sign-in.
const lifetime = 10 * time.Minute

// EndedError is the reason why a stored sign-in can no longer be completed.
type EndedError string

// Error implements error.
func (e EndedError) Error() string { return string(e) }

// Save stores d under a random key until expires. The lifetime starts when a gate first stores the sign-in, also if
// another gate stores it again. The records belong to the user of d, if the store has the user.
func (d *Data[P]) Save(
	ctx context.Context, s *pending.Store, key string,
) (name pending.Name, expires time.Time, err error) {
	if d.Made.IsZero() {
		d.Made = s.Keys.Now()
	}
	expires, d.Stored = d.Made.Add(lifetime), true
	name, err = s.Save(ctx, key, d.User.ID, d, expires)
	if errors.Is(err, store.ErrNotFound) { // the user exists only in the application
		d.Stored = false
		name, err = s.Save(ctx, key, "", d, expires)
	}
	return name, expires, err
}

// ReadUser reads the user of a stored sign-in again. verified is the ID of the user whose address the current request
// has verified, or "". The error is an [EndedError] if the user was deleted. It is also an EndedError if another
// request was the first to verify the user's address, after the sign-in was stored: another person may have started the
// sign-in before the owner verified the address.
func (d *Data[P]) ReadUser(ctx context.Context, users store.Store, verified string) (*store.User, error) {
	user, err := users.User(ctx, d.User.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, EndedError("its user was deleted")
	case err != nil:
		return nil, err
	case user.EmailVerified.After(d.Made) && verified != user.ID:
		return nil, EndedError("the user's address was verified in the meantime")
	}
	return user, nil
}
