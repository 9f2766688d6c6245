package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/latchkey-go/latchkey/core/internal/flight"
	"github.com/latchkey-go/latchkey/core/internal/oauth"
	"github.com/latchkey-go/latchkey/core/internal/random"
)

// ErrInvalidGrant says that the provider no longer accepts a refresh token: it has ended, or the person took the
// permission back. They must sign in again.
var ErrInvalidGrant = oauth.ErrInvalidGrant

// RefreshAccount returns account when its access token lasts another minute or has no end that is known (no ExpiresAt),
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
		return nil, fmt.Errorf("core: refresh: the account has no refresh token: "+
			"has provider %q been asked for one (a scope such as offline_access)?", p.oauth.ID)
	}
	key := refreshKeyOf(account)
	if known, _ := a.refreshes.known.Get(key); known.stored {
		return known.account.Clone(), nil
	}
	account = account.Clone() // the refresh may go on when the caller has left
	f := a.refreshes.underWay.Join(ctx, key, func(ctx context.Context) (*Account, error) {
		return guarded("refresh", func() (*Account, error) { return a.refresh(ctx, p.oauth, key, account) })
	})
	fresh, err := f.Keep().Wait(ctx)
	if errors.Is(err, flight.ErrFull) {
		err = fmt.Errorf("core: refresh: %w", err)
	}
	return fresh.Clone(), err
}

// lasts reports whether an access token need not be refreshed yet.
func (a *Auth) lasts(account *Account) bool {
	return account.ExpiresAt.IsZero() || a.now().Add(refreshLeeway).Before(account.ExpiresAt)
}

// refresh is what a flight does. It looks again for what an earlier one has brought, asks otherwise, and stores new
// tokens.
func (a *Auth) refresh(ctx context.Context, c *oauthClient, key refreshKey, account *Account) (*Account, error) {
	known, _ := a.refreshes.known.Get(key)
	if known.account == nil {
		current, granted, err := a.exchangeRefresh(ctx, c, account)
		if err != nil {
			return nil, err
		}
		known = refreshed{account: current, stored: !granted}
		a.refreshes.keep(key, known)
	}
	if known.stored {
		return known.account, nil
	}
	if a.store.accounts != nil {
		if err := a.store.accounts.UpdateAccount(ctx, known.account); err != nil {
			return nil, fmt.Errorf("core: refresh: store the new tokens: %w", err)
		}
	}
	known.stored = true
	a.refreshes.keep(key, known)
	return known.account, nil
}

// exchangeRefresh exchanges the refresh token of an account, or finds in the store that another process has. granted
// says that the tokens are new, and in no store yet.
func (a *Auth) exchangeRefresh(
	ctx context.Context, c *oauthClient, account *Account,
) (current *Account, granted bool, err error) {
	kept, err := a.storedAccount(ctx, account)
	switch {
	case err != nil:
		return nil, false, err
	case kept == nil: // there is no store that finds accounts
	case a.replaces(kept, account):
		return kept, false, nil
	default:
		kept.RefreshToken = cmp.Or(kept.RefreshToken, account.RefreshToken)
		account = kept
	}
	fresh, err := a.askRefreshed(ctx, c, account)
	if errors.Is(err, ErrInvalidGrant) { // perhaps another process was faster
		if kept, again := a.storedAccount(ctx, account); again == nil && kept != nil && a.replaces(kept, account) {
			return kept, false, nil
		}
	}
	return fresh, err == nil, err
}

// storedAccount is the account as the store has it, nil without a store that finds accounts.
func (a *Auth) storedAccount(ctx context.Context, account *Account) (*Account, error) {
	if a.store.accounts == nil {
		return nil, nil
	}
	kept, err := a.store.accounts.Account(ctx, account.Provider, account.ProviderAccountID)
	if err != nil {
		return nil, fmt.Errorf("core: refresh: read account: %w", err)
	}
	return kept, nil
}

// replaces reports whether a stored account has another access token than account, and one that lasts.
func (a *Auth) replaces(stored, account *Account) bool {
	return !random.Same(stored.AccessToken, account.AccessToken) && a.lasts(stored)
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
