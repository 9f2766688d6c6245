package core

import (
	"context"
	"fmt"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/refresh"
)

// Refresh returns an account with a valid access token (RFC 6749 section 6). If the access token is valid for at least
// another minute, or if ExpiresAt is not set, it returns account itself. Otherwise it returns a copy with new tokens.
// It uses the fields Provider, ProviderAccountID, ExpiresAt and the tokens of account. If the provider has rejected an
// access token before its expiry, set ExpiresAt to a time in the past.
//
// Of concurrent calls with the same tokens, one sends the request to the provider. The others, and calls up to a minute
// later, get its result. If the provider returns no new refresh token, the old one is kept. With a store, the stored
// account takes precedence, because another process may have refreshed it; new tokens are stored before they are
// returned. Without a store the caller stores them. If the provider returns an ID token, its issuer and subject must be
// those of the earlier ID token. Without an earlier one, its subject must be ProviderAccountID.
//
// At most 10,000 results are remembered; then the oldest is dropped. At most 1,000 refreshes run concurrently; further
// refreshes fail.
//
// If the user must sign in again, the error is [ErrInvalidGrant]. If the account is no longer linked, it is
// ErrNotFound. Any other error is a failure of the provider or the store, and a later call may succeed. If ctx is
// canceled, the call returns and the refresh continues.
func (a *Auth) Refresh(ctx context.Context, account *Account) (*Account, error) {
	if err := configured(a, "Refresh"); err != nil {
		return nil, err
	}
	if a.refreshes.Valid(account) {
		return account, nil
	}
	p := a.byID[account.Provider]
	switch {
	case p == nil || p.oauth == nil:
		return nil, fmt.Errorf("core: refresh: %q is not an OAuth provider in the configuration", account.Provider)
	case account.RefreshToken == "":
		return nil, fmt.Errorf("core: refresh: the account has no refresh token: "+
			"does the configuration of provider %q request one (a scope such as offline_access)?", p.oauth.ID)
	}
	return a.refreshes.Do(ctx, account, p.oauth.refresh)
}

// refresh sends the request and returns the account with the tokens of the response.
func (c *oauthClient) refresh(ctx context.Context, account *Account) (*Account, error) {
	at, err := c.client.Endpoints(ctx)
	if err != nil {
		return nil, errorf(ErrAuth, "%w", err)
	}
	answered, err := c.client.Refresh(ctx, at, string(account.RefreshToken))
	if err != nil {
		return nil, errorf(autherr.CallbackRoute, "%w", err)
	}
	if answered.IDToken != "" && c.Type == TypeOIDC {
		err := c.client.VerifyRefreshed(ctx, at, answered, string(account.IDToken), account.ProviderAccountID)
		if err != nil {
			return nil, errorf(autherr.CallbackRoute, "%w", err)
		}
	}
	tokens := c.tokenSet(answered)
	kept := c.accountFor(tokens)
	kept.ExpiresIn = tokens.ExpiresIn
	return refresh.Merge(account, kept), nil
}
