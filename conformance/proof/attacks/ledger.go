package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// ledger records the use of a store: the number of calls, the users for whom tokens were created, and the contents. It
// can also make the store fail.
type ledger struct {
	store *memory.Store

	mu          sync.Mutex
	reads       int
	identifiers []string
	made        []string // user IDs
	trouble     trouble
}

// trouble is called instead of a store operation, with Auth.js's name of the operation. It may call do. If blank is
// true, the operation returns a zero result without an error.
type trouble func(ctx context.Context, operation string, do func(context.Context) error) (blank bool, err error)

// bring installs a failure. nil removes it.
func (l *ledger) bring(t trouble) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = t
}

// troubled runs an operation, unless the failure prevents it.
func troubled[T any](
	ctx context.Context, l *ledger, operation string, do func(ctx context.Context) (T, error),
) (result T, err error) {
	l.mu.Lock()
	t := l.trouble
	l.mu.Unlock()
	if t == nil {
		return do(ctx)
	}
	blank, err := t(ctx, operation, func(ctx context.Context) (err error) {
		result, err = do(ctx)
		return err
	})
	if blank || err != nil {
		var none T
		return none, err
	}
	return result, nil
}

// done is troubled for operations without a result.
func (l *ledger) done(ctx context.Context, operation string, do func(ctx context.Context) error) error {
	did := false
	_, err := troubled(ctx, l, operation, func(ctx context.Context) (struct{}, error) {
		did = true
		return struct{}{}, do(ctx)
	})
	if err == nil && !did { // such an operation returns only an error
		return do(ctx)
	}
	return err
}

// users returns all users in the order of their creation.
func (l *ledger) users(ctx context.Context) (list []*core.User) {
	l.mu.Lock()
	ids := slices.Clone(l.made)
	l.mu.Unlock()
	for _, id := range ids {
		if u, err := l.store.User(ctx, id); err == nil {
			list = append(list, u)
		}
	}
	return list
}

// rows returns a user's rows as text.
func (l *ledger) rows(ctx context.Context, u *core.User) string {
	accounts, err := l.store.Accounts(ctx, u.ID)
	sessions, err2 := l.store.Sessions(ctx, u.ID)
	passkeys, err3 := l.store.Authenticators(ctx, u.ID)
	if err := errors.Join(err, err2, err3); err != nil {
		return err.Error()
	}
	lines := []string{string(must(json.Marshal(u)))}
	for _, a := range accounts {
		lines = append(lines, fmt.Sprintf("account %s %q %s", a.Provider, a.ProviderAccountID, a.VerifiedEmail))
	}
	for _, v := range sessions {
		lines = append(lines, "session "+string(v.Token))
	}
	for _, p := range passkeys {
		lines = append(lines, "passkey "+p.CredentialID)
	}
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n")
}

// everything returns all rows of all users as text.
func (l *ledger) everything(ctx context.Context) string {
	var all []string
	for _, u := range l.users(ctx) {
		all = append(all, l.rows(ctx, u))
	}
	return strings.Join(all, "\n\n")
}

// tokens returns the identifiers of all tokens that were created.
func (l *ledger) tokens() []string { l.mu.Lock(); defer l.mu.Unlock(); return l.identifiers }
