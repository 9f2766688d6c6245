package password

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// userByEmail returns the user of an address as the browser sent it, or nil.
func userByEmail(ctx context.Context, users core.Store, typed string) (*core.User, error) {
	return found(core.UserByMailbox(ctx, users, typed))
}

// userByID returns a user, or nil.
func userByID(ctx context.Context, users core.Store, id string) (*core.User, error) {
	return found(users.User(ctx, id))
}

func found(user *core.User, err error) (*core.User, error) {
	if errors.Is(err, core.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("password: find the user: %w", err)
	}
	return user, nil
}

// isMail reports whether a text is a single email address, and returns its canonical form.
func isMail(text string) (string, bool) {
	address, err := core.NormalizeEmail(text)
	return address, err == nil && !strings.ContainsRune(address, 0)
}
