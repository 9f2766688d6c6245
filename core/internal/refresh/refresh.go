// Package refresh coordinates refreshes of access tokens (RFC 6749 section 6): of concurrent calls with the same tokens
// one sends the request, and its result is stored before it is returned.
package refresh

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/flight"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/once"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/random"
)

const (
	// leeway is the remaining lifetime below which an access token is refreshed, so that it does not expire in transit.
	leeway = time.Minute
	// timeout is the timeout of a refresh. A refresh continues if no call waits for it any more, because it may have used
	// up the refresh token.
	timeout = 30 * time.Second
	// knownFor is how long calls with a used refresh token get the new tokens. Concurrent requests of a browser all have
	// the old refresh token.
	knownFor = time.Minute
)

// Ask requests new tokens from the provider and returns a copy of the account with them. It returns an error that
// matches oauth.ErrInvalidGrant if the provider does not accept the refresh token.
type Ask func(ctx context.Context, account *store.Account) (*store.Account, error)

// Refreshes has the refreshes in progress, and the results of the last minute.
type Refreshes struct {
	inProgress flight.Group[*store.Account]
	known      once.Memory[key, result]
	accounts   store.AccountStore // nil: the caller stores the tokens
}

// New returns the refreshes of accounts in a store, which may be nil.
func New(accounts store.AccountStore, now func() time.Time) *Refreshes {
	r := &Refreshes{accounts: accounts}
	r.inProgress.Timeout, r.known.Now = timeout, now
	return r
}

// result is the result of a refresh. stored is false if the store failed. The old tokens are used up by then, so the
// next caller stores the new ones.
type result struct {
	account *store.Account
	stored  bool
}

func (r *Refreshes) keep(k key, known result) { r.known.Put(k, known, r.known.Now().Add(knownFor)) }

// key is a hash of the refresh token and the access token. Some providers never change the refresh token. Then the
// access token distinguishes a late caller from one that already has the new token and wants another.
type key [sha256.Size]byte

func keyOf(account *store.Account) key {
	tokens := string(account.RefreshToken) + "\x00" + string(account.AccessToken)
	return sha256.Sum256([]byte(account.Provider + "\x00" + tokens))
}

// Do waits for the refresh of an account's tokens, and starts it if it is not in progress.
func (r *Refreshes) Do(ctx context.Context, account *store.Account, ask Ask) (*store.Account, error) {
	k := keyOf(account)
	if known, _ := r.known.Get(k); known.stored {
		return known.account.Clone(), nil
	}
	account = account.Clone() // the refresh may continue after the caller has returned
	fresh, err := r.inProgress.Do(ctx, string(k[:]), func(ctx context.Context) (*store.Account, error) {
		return panics.Call("refresh", func() (*store.Account, error) { return r.refresh(ctx, k, account, ask) })
	})
	if errors.Is(err, flight.ErrFull) {
		err = fmt.Errorf("core: refresh: %w", err)
	}
	return fresh.Clone(), err
}

// Valid reports whether an access token does not need to be refreshed yet.
func (r *Refreshes) Valid(account *store.Account) bool {
	return account.ExpiresAt.IsZero() || r.known.Now().Add(leeway).Before(account.ExpiresAt)
}

// refresh returns the result of an earlier refresh. If there is none, it sends the request and stores the new tokens.
func (r *Refreshes) refresh(ctx context.Context, k key, account *store.Account, ask Ask) (*store.Account, error) {
	known, _ := r.known.Get(k)
	if known.account == nil {
		current, granted, err := r.exchange(ctx, account, ask)
		if err != nil {
			return nil, err
		}
		known = result{account: current, stored: !granted}
		r.keep(k, known)
	}
	if known.stored {
		return known.account, nil
	}
	if r.accounts != nil {
		if err := r.accounts.UpdateAccount(ctx, known.account); err != nil {
			return nil, fmt.Errorf("core: refresh: store the new tokens: %w", err)
		}
	}
	known.stored = true
	r.keep(k, known)
	return known.account, nil
}

// exchange exchanges the refresh token of an account, unless another process has already done so and the store has the
// new tokens. granted reports that the tokens are new and not stored yet.
func (r *Refreshes) exchange(
	ctx context.Context, account *store.Account, ask Ask,
) (current *store.Account, granted bool, err error) {
	kept, err := r.stored(ctx, account)
	switch {
	case err != nil:
		return nil, false, err
	case kept == nil: // no store
	case r.replaces(kept, account):
		return kept, false, nil
	default:
		kept.RefreshToken = cmp.Or(kept.RefreshToken, account.RefreshToken)
		account = kept
	}
	fresh, err := ask(ctx, account)
	if errors.Is(err, oauth.ErrInvalidGrant) { // another process may have been faster
		if kept, again := r.stored(ctx, account); again == nil && kept != nil && r.replaces(kept, account) {
			return kept, false, nil
		}
	}
	return fresh, err == nil, err
}

// stored returns the account in the store. It is nil if there is no store.
func (r *Refreshes) stored(ctx context.Context, account *store.Account) (*store.Account, error) {
	if r.accounts == nil {
		return nil, nil
	}
	kept, err := r.accounts.Account(ctx, account.Provider, account.ProviderAccountID)
	if err != nil {
		return nil, fmt.Errorf("core: refresh: read account: %w", err)
	}
	return kept, nil
}

// Merge returns a copy of an account with new tokens. Members that the response of the provider does not have are kept.
func Merge(account, tokens *store.Account) *store.Account {
	fresh := account.Clone()
	fresh.AccessToken, fresh.ExpiresIn, fresh.ExpiresAt = tokens.AccessToken, tokens.ExpiresIn, tokens.ExpiresAt
	fresh.RefreshToken = cmp.Or(tokens.RefreshToken, account.RefreshToken)
	fresh.IDToken = cmp.Or(tokens.IDToken, account.IDToken)
	fresh.Scope = cmp.Or(tokens.Scope, account.Scope)
	fresh.TokenType = cmp.Or(tokens.TokenType, account.TokenType)
	if tokens.SessionState != nil {
		fresh.SessionState = tokens.SessionState
	}
	if tokens.AuthorizationDetails != nil { // RFC 9396 section 7.1: the permissions of the new access token
		fresh.AuthorizationDetails = tokens.AuthorizationDetails
	}
	if len(tokens.Extra) > 0 {
		if fresh.Extra == nil {
			fresh.Extra = store.Members{}
		}
		maps.Copy(fresh.Extra, tokens.Extra)
	}
	return fresh
}

// replaces reports whether the stored account has a different access token, and one that is still valid.
func (r *Refreshes) replaces(stored, account *store.Account) bool {
	return !random.Same(stored.AccessToken, account.AccessToken) && r.Valid(stored)
}
