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

// ledger is what is known of a store beside its answers: how often it was asked, for whom tokens were made, what is in
// it, and the trouble that it is in.
type ledger struct {
	store *memory.Store

	mu          sync.Mutex
	reads       int
	identifiers []string
	made        []string // the ids of users
	trouble     trouble
}

// trouble stands between the application and one operation of the store, by the names that Auth.js has for them: it
// does the operation or not. blank: the answer is nothing, without an error.
type trouble func(ctx context.Context, operation string, do func(context.Context) error) (blank bool, err error)

// bring brings trouble; nil ends it.
func (l *ledger) bring(t trouble) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = t
}

// troubled does an operation, unless there is trouble.
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
	if err == nil && !did { // nothing without an error is all that such an operation ever answers
		return do(ctx)
	}
	return err
}

// users are the users that there are, in the order in which they were made.
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

// rows are the rows of a user as text: what they are and have.
func (l *ledger) rows(ctx context.Context, u *core.User) string {
	accounts, err := l.store.Accounts(ctx, u.ID)
	sessions, err2 := l.store.Sessions(ctx, u.ID)
	passkeys, err3 := l.store.Authenticators(ctx, u.ID)
	if err := errors.Join(err, err2, err3); err != nil {
		return err.Error()
	}
	lines := []string{string(must(json.Marshal(u)))}
	for _, a := range accounts {
		lines = append(lines, fmt.Sprintf("account %s %q %s", a.Provider, a.ProviderAccountID, a.EmailProved))
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

// everything is all rows of all users, as text.
func (l *ledger) everything(ctx context.Context) string {
	var all []string
	for _, u := range l.users(ctx) {
		all = append(all, l.rows(ctx, u))
	}
	return strings.Join(all, "\n\n")
}

// tokens are the identifiers of all tokens that were made.
func (l *ledger) tokens() []string { l.mu.Lock(); defer l.mu.Unlock(); return l.identifiers }
