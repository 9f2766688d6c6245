package core

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/flight"
	"github.com/latchkey-go/latchkey/core/internal/once"
	"github.com/latchkey-go/latchkey/core/internal/random"
	"github.com/latchkey-go/latchkey/core/store"
)

// Refresh returns account when its access token lasts another minute or has no end that is known (no ExpiresAt),
// else a copy with new tokens (RFC 6749 section 6). Of account it uses Provider, ProviderAccountID, the
// tokens and ExpiresAt; a store knows the rest. To have a token replaced that the provider refused early, set ExpiresAt
// to a time in the past.
//
// Of any number of concurrent calls with the same tokens one asks the provider, and those that come up to a minute late
// get its result. The refresh token is kept when no new one comes. With a store, the account there goes first, as
// another process may have refreshed it, and new tokens are stored before they are returned; without one the caller
// keeps them. An ID token that comes along must be about the same subject of the same issuer as the earlier one, or as
// ProviderAccountID where there is none.
//
// What is remembered for late callers is bounded: 10,000 refreshes, of which the oldest gives way, and 1,000 under way
// at a time, beyond which a refresh fails.
//
// Errors: [ErrInvalidGrant] when the person must sign in again; ErrNotFound when the account is no longer linked;
// otherwise the provider or the store failed, and a later call may succeed. A call ends with its context, the refresh
// does not.
func (a *Auth) Refresh(ctx context.Context, account *Account) (*Account, error) {
	if err := configured(a, "Refresh"); err != nil {
		return nil, err
	}
	if a.refreshes.lasts(account) {
		return account, nil
	}
	p := a.byID[account.Provider]
	switch {
	case p == nil || p.oauth == nil:
		return nil, fmt.Errorf("core: refresh: %q is no OAuth provider of the configuration", account.Provider)
	case account.RefreshToken == "":
		return nil, fmt.Errorf("core: refresh: the account has no refresh token: "+
			"has provider %q been asked for one (a scope such as offline_access)?", p.oauth.ID)
	}
	return a.refreshes.join(ctx, p.oauth, account)
}

const (
	// refreshLeeway is how long an access token must still last, so that it does not end on its way.
	refreshLeeway = time.Minute
	// refreshTimeout bounds a refresh, which goes on when no call waits for it: it may have spent the refresh token.
	refreshTimeout = 30 * time.Second
	// refreshedFor is how long calls with a spent refresh token get the tokens that it was exchanged for: requests that a
	// browser sent at the same time all carry the old one.
	refreshedFor = time.Minute
)

// refreshes are the refreshes under way, and what those of the last minute brought.
type refreshes struct {
	underWay flight.Group[refreshKey, *Account]
	known    once.Memory[refreshKey, refreshed]
	accounts store.AccountStore // nil: the caller keeps the tokens
}

func newRefreshes(accounts store.AccountStore, now func() time.Time) *refreshes {
	r := &refreshes{accounts: accounts}
	r.underWay.Timeout, r.known.Now = refreshTimeout, now
	return r
}

// keep remembers what a refresh brought for callers that come late.
func (r *refreshes) keep(key refreshKey, known refreshed) {
	r.known.Put(key, known, r.known.Now().Add(refreshedFor))
}

// refreshed is what a refresh brought. Tokens that the store did not take are not stored: the old ones are spent, so
// the next caller stores these.
type refreshed struct {
	account *Account
	stored  bool
}

// refreshKey is a hash of refresh and access token. Where refresh tokens stay the same, the access token tells a caller
// that comes late from one that has the new token and wants another.
type refreshKey [sha256.Size]byte

func refreshKeyOf(account *Account) refreshKey {
	tokens := string(account.RefreshToken) + "\x00" + string(account.AccessToken)
	return sha256.Sum256([]byte(account.Provider + "\x00" + tokens))
}

// join waits for the refresh of an account's tokens, and begins it where it is not under way.
func (r *refreshes) join(ctx context.Context, c *oauthClient, account *Account) (*Account, error) {
	key := refreshKeyOf(account)
	if known, _ := r.known.Get(key); known.stored {
		return known.account.Clone(), nil
	}
	account = account.Clone() // the refresh may go on when the caller has left
	f := r.underWay.Join(ctx, key, func(ctx context.Context) (*Account, error) {
		return guarded("refresh", func() (*Account, error) { return r.refresh(ctx, c, key, account) })
	})
	fresh, err := f.Keep().Wait(ctx)
	if errors.Is(err, flight.ErrFull) {
		err = fmt.Errorf("core: refresh: %w", err)
	}
	return fresh.Clone(), err
}

// lasts reports whether an access token need not be refreshed yet.
func (r *refreshes) lasts(account *Account) bool {
	return account.ExpiresAt.IsZero() || r.known.Now().Add(refreshLeeway).Before(account.ExpiresAt)
}

// refresh is what a flight does. It looks again for what an earlier one has brought, asks otherwise, and stores new
// tokens.
func (r *refreshes) refresh(ctx context.Context, c *oauthClient, key refreshKey, account *Account) (*Account, error) {
	known, _ := r.known.Get(key)
	if known.account == nil {
		current, granted, err := r.exchange(ctx, c, account)
		if err != nil {
			return nil, err
		}
		known = refreshed{account: current, stored: !granted}
		r.keep(key, known)
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
	r.keep(key, known)
	return known.account, nil
}

// exchange exchanges the refresh token of an account, or finds in the store that another process has. granted
// says that the tokens are new, and in no store yet.
func (r *refreshes) exchange(
	ctx context.Context, c *oauthClient, account *Account,
) (current *Account, granted bool, err error) {
	kept, err := r.storedAccount(ctx, account)
	switch {
	case err != nil:
		return nil, false, err
	case kept == nil: // there is no store that finds accounts
	case r.replaces(kept, account):
		return kept, false, nil
	default:
		kept.RefreshToken = cmp.Or(kept.RefreshToken, account.RefreshToken)
		account = kept
	}
	fresh, err := r.ask(ctx, c, account)
	if errors.Is(err, ErrInvalidGrant) { // perhaps another process was faster
		if kept, again := r.storedAccount(ctx, account); again == nil && kept != nil && r.replaces(kept, account) {
			return kept, false, nil
		}
	}
	return fresh, err == nil, err
}

// storedAccount is the account as the store has it, nil without a store that finds accounts.
func (r *refreshes) storedAccount(ctx context.Context, account *Account) (*Account, error) {
	if r.accounts == nil {
		return nil, nil
	}
	kept, err := r.accounts.Account(ctx, account.Provider, account.ProviderAccountID)
	if err != nil {
		return nil, fmt.Errorf("core: refresh: read account: %w", err)
	}
	return kept, nil
}

// replaces reports whether a stored account has another access token than account, and one that lasts.
func (r *refreshes) replaces(stored, account *Account) bool {
	return !random.Same(stored.AccessToken, account.AccessToken) && r.lasts(stored)
}

// ask makes the request and puts the answer over the account.
func (r *refreshes) ask(ctx context.Context, c *oauthClient, account *Account) (*Account, error) {
	at, err := c.client.Endpoints(ctx)
	if err != nil {
		return nil, errorf(ErrAuth, "%w", err)
	}
	answered, err := c.client.Refresh(ctx, at, string(account.RefreshToken))
	if err != nil {
		return nil, errorf(ErrCallbackRoute, "%w", err)
	}
	if answered.IDToken != "" && c.Type == TypeOIDC {
		err := c.client.VerifyRefreshed(ctx, at, answered, string(account.IDToken), account.ProviderAccountID)
		if err != nil {
			return nil, errorf(ErrCallbackRoute, "%w", err)
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
	if kept.SessionState != nil {
		fresh.SessionState = kept.SessionState
	}
	if kept.AuthorizationDetails != nil { // RFC 9396 section 7.1: what the new access token is good for
		fresh.AuthorizationDetails = kept.AuthorizationDetails
	}
	if len(kept.Extra) > 0 {
		if fresh.Extra == nil {
			fresh.Extra = Members{}
		}
		maps.Copy(fresh.Extra, kept.Extra)
	}
	return fresh, nil
}
