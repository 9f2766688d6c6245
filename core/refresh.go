package core

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/oauth"
)

const (
	// refreshLeeway is how long an access token must still last, so that it does not end on its way.
	refreshLeeway = time.Minute
	// refreshTimeout bounds a refresh, which goes on when nobody waits for it: it may have spent the refresh token.
	refreshTimeout = 30 * time.Second
	// refreshedFor is how long those who come late with a spent refresh token get what it was exchanged for. Requests that
	// a browser sent at the same time all carry the old one.
	refreshedFor = time.Minute
)

// ErrInvalidGrant says that the provider no longer accepts a refresh token: it has ended, or the person took the
// permission back. They must sign in again.
var ErrInvalidGrant = oauth.ErrInvalidGrant

// RefreshAccount returns account when its access token lasts another minute or has no end that is known (no ExpiresAt),
// else a copy with new tokens (SPEC 5.15, RFC 6749 section 6). Of account it uses Provider, ProviderAccountID, the
// tokens and ExpiresAt; a store knows the rest. To have a token replaced that the provider refused early, set ExpiresAt
// to a time in the past.
//
// Of any number of concurrent calls with the same tokens one asks the provider, and those that come up to a minute late
// get its result. The refresh token is kept when no new one comes. With a store, the account there goes first, as
// another process may have refreshed it, and new tokens are stored before they are returned; without one the caller
// keeps them. An ID token that comes along must be about the same subject of the same issuer as the earlier one, or as
// ProviderAccountID where there is none.
//
// Errors: [ErrInvalidGrant] when the person must sign in again; ErrNotFound when the account is no longer linked;
// otherwise the provider or the store failed, and a later call may succeed. A call ends with its context, the refresh
// does not.
func (a *Auth) RefreshAccount(ctx context.Context, account *Account) (*Account, error) {
	if a.lasts(account) {
		return account, nil
	}
	p := a.byID[account.Provider]
	switch {
	case p == nil || p.oauth == nil:
		return nil, fmt.Errorf("core: refresh: %q is no OAuth provider of the configuration", account.Provider)
	case account.RefreshToken == "":
		return nil, fmt.Errorf("core: refresh: the account has no refresh token: has provider %q been asked for one (a scope such as offline_access)?", p.oauth.ID)
	}
	f := a.refreshes.of(account, a.now)
	f.once.Do(func() {
		go func(ctx context.Context) {
			defer close(f.done)
			ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
			defer cancel()
			f.account, f.err = guarded("refresh", func() (*Account, error) { return a.refresh(ctx, p.oauth, account.Clone(), &f.unstored) })
			if f.err != nil {
				a.refreshes.again(f)
			}
		}(context.WithoutCancel(ctx))
	})
	select {
	case <-f.done:
		return f.account.Clone(), f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// lasts tells whether an access token need not be refreshed yet.
func (a *Auth) lasts(account *Account) bool {
	return account.ExpiresAt.IsZero() || a.now().Add(refreshLeeway).Before(account.ExpiresAt)
}

// refresh exchanges the refresh token, or finds that another process has. Tokens that could not be stored stay in
// unstored.
func (a *Auth) refresh(ctx context.Context, c *oauthClient, account *Account, unstored **Account) (*Account, error) {
	if *unstored != nil {
		return a.storeRefreshed(ctx, *unstored)
	}
	accounts := a.store.accounts
	stored := func() (*Account, error) {
		kept, err := accounts.Account(ctx, account.Provider, account.ProviderAccountID)
		if err != nil {
			return nil, fmt.Errorf("core: refresh: read account: %w", err)
		}
		return kept, nil
	}
	if accounts != nil {
		kept, err := stored()
		if err != nil {
			return nil, err
		}
		if !sameText(kept.AccessToken, account.AccessToken) && a.lasts(kept) {
			return kept, nil
		}
		kept.RefreshToken = cmp.Or(kept.RefreshToken, account.RefreshToken)
		account = kept
	}
	fresh, err := a.askRefreshed(ctx, c, account)
	if errors.Is(err, ErrInvalidGrant) && accounts != nil { // perhaps another process was faster
		if kept, again := stored(); again == nil && !sameText(kept.AccessToken, account.AccessToken) && a.lasts(kept) {
			return kept, nil
		}
	}
	if err != nil {
		return nil, err
	}
	*unstored = fresh
	return a.storeRefreshed(ctx, fresh)
}

func (a *Auth) storeRefreshed(ctx context.Context, fresh *Account) (*Account, error) {
	if a.store.accounts == nil {
		return fresh, nil
	}
	if err := a.store.accounts.UpdateAccount(ctx, fresh); err != nil {
		return nil, fmt.Errorf("core: refresh: store the new tokens: %w", err)
	}
	return fresh, nil
}

// askRefreshed makes the request and puts the answer over the account.
func (a *Auth) askRefreshed(ctx context.Context, c *oauthClient, account *Account) (*Account, error) {
	at, err := c.client.Endpoints(ctx)
	if err != nil {
		return nil, errorf(AuthError, "%w", err)
	}
	answered, err := c.client.Refresh(ctx, at, string(account.RefreshToken))
	if err != nil {
		return nil, errorf(CallbackRouteError, "%w", err)
	}
	if answered.IDToken != "" && c.Type == TypeOIDC {
		err := c.client.VerifyRefreshed(ctx, at, answered, string(account.IDToken), account.ProviderAccountID)
		if err != nil {
			return nil, errorf(CallbackRouteError, "%w", err)
		}
	}
	tokens := c.tokenSet(answered)
	fresh := account.Clone()
	kept := c.keeps(tokens)
	fresh.AccessToken, fresh.ExpiresIn, fresh.ExpiresAt = kept.AccessToken, tokens.ExpiresIn, kept.ExpiresAt
	fresh.RefreshToken = cmp.Or(kept.RefreshToken, account.RefreshToken)
	fresh.IDToken = cmp.Or(kept.IDToken, account.IDToken)
	fresh.Scope = cmp.Or(kept.Scope, account.Scope)
	fresh.TokenType = cmp.Or(kept.TokenType, account.TokenType)
	if len(kept.Extra) > 0 {
		if fresh.Extra == nil {
			fresh.Extra = Members{}
		}
		maps.Copy(fresh.Extra, kept.Extra)
	}
	return fresh, nil
}

// refreshes are the refreshes under way and those of the last minute. The zero value is ready.
type refreshes struct {
	mu    sync.Mutex
	all   map[refreshKey]*refreshFlight
	swept time.Time
}

// refreshKey is a hash of refresh and access token. Where refresh tokens stay the same, the access token tells who
// comes late from who has the new one and wants another.
type refreshKey [sha256.Size]byte

type refreshFlight struct {
	key     refreshKey
	began   time.Time
	once    sync.Once
	done    chan struct{}
	account *Account
	err     error
	// unstored are new tokens that the store did not take: the old ones are spent, so the next caller stores these.
	unstored *Account
}

// of returns the flight of an account's refresh token, a new one when there is none.
func (r *refreshes) of(account *Account, now func() time.Time) *refreshFlight {
	key := refreshKey(sha256.Sum256([]byte(account.Provider + "\x00" + string(account.RefreshToken) + "\x00" + string(account.AccessToken))))
	r.mu.Lock()
	defer r.mu.Unlock()
	t := now()
	if t.Sub(r.swept) > refreshedFor {
		r.swept = t
		maps.DeleteFunc(r.all, func(_ refreshKey, f *refreshFlight) bool { return t.Sub(f.began) > refreshedFor+refreshTimeout })
	}
	f := r.all[key]
	if f == nil || t.Sub(f.began) > refreshedFor+refreshTimeout {
		f = &refreshFlight{key: key, began: t, done: make(chan struct{})}
		if r.all == nil {
			r.all = map[refreshKey]*refreshFlight{}
		}
		r.all[key] = f
	}
	return f
}

// again lets the next caller try what failed.
func (r *refreshes) again(f *refreshFlight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all[f.key] != f {
		return
	}
	delete(r.all, f.key)
	if f.unstored != nil {
		r.all[f.key] = &refreshFlight{key: f.key, began: f.began, done: make(chan struct{}), unstored: f.unstored}
	}
}
