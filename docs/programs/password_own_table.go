package main

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// people is your own table. Check must take the same time for a name that does not exist.
type people interface {
	Check(ctx context.Context, name, password string) (id string, err error)
}

var errWrong = errors.New("wrong name or password")

func credentials(p people, store core.Store) core.Provider {
	return providers.Credentials(func(ctx context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
		id, err := p.Check(ctx, form["email"], form["password"])
		if errors.Is(err, errWrong) {
			return nil, nil // the page says that the name or the password is wrong
		}
		if err != nil {
			return nil, err
		}
		return store.User(ctx, id)
	})
}
