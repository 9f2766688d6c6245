package core

import (
	"context"
	"fmt"
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
