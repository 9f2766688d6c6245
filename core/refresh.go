package core

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/latchkey-go/latchkey/internal/flight"
	"github.com/latchkey-go/latchkey/internal/random"
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
	if a.refreshes.stillValid(account) {
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
	return a.refreshes.join(ctx, p.oauth, account)
}

const (
	// refreshLeeway is the remaining lifetime below which an access token is refreshed, so that it does not expire in
	// transit.
	refreshLeeway = time.Minute
	// refreshTimeout is the timeout of a refresh. A refresh continues if no call waits for it any more, because it may
	// have used up the refresh token.
	refreshTimeout = 30 * time.Second
	// refreshedFor is how long calls with a used refresh token get the new tokens. Concurrent requests of a browser all
	// have the old refresh token.
	refreshedFor = time.Minute
)

// keep remembers the result of a refresh for later callers.
func (r *refreshes) keep(key refreshKey, known refreshed) {
	r.known.Put(key, known, r.known.Now().Add(refreshedFor))
}

// refreshed is the result of a refresh. stored is false if the store failed. The old tokens are used up by then, so the
// next caller stores the new ones.
type refreshed struct {
	account *Account
	stored  bool
}

// refreshKey is a hash of the refresh token and the access token. Some providers never change the refresh token. Then
// the access token distinguishes a late caller from one that already has the new token and wants another.
type refreshKey [sha256.Size]byte

func refreshKeyOf(account *Account) refreshKey {
	tokens := string(account.RefreshToken) + "\x00" + string(account.AccessToken)
	return sha256.Sum256([]byte(account.Provider + "\x00" + tokens))
}

// join waits for the refresh of an account's tokens, and starts it if it is not in progress.
func (r *refreshes) join(ctx context.Context, c *oauthClient, account *Account) (*Account, error) {
	key := refreshKeyOf(account)
	if known, _ := r.known.Get(key); known.stored {
		return known.account.Clone(), nil
	}
	account = account.Clone() // the refresh may continue after the caller has returned
	fresh, err := r.inProgress.Do(ctx, string(key[:]), func(ctx context.Context) (*Account, error) {
		return guarded("refresh", func() (*Account, error) { return r.refresh(ctx, c, key, account) })
	})
	if errors.Is(err, flight.ErrFull) {
		err = fmt.Errorf("core: refresh: %w", err)
	}
	return fresh.Clone(), err
}

// stillValid reports whether an access token does not need to be refreshed yet.
func (r *refreshes) stillValid(account *Account) bool {
	return account.ExpiresAt.IsZero() || r.known.Now().Add(refreshLeeway).Before(account.ExpiresAt)
}

// refresh returns the result of an earlier refresh. If there is none, it sends the request and stores the new tokens.
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

// exchange exchanges the refresh token of an account, unless another process has already done so and the store has the
// new tokens. granted reports that the tokens are new and not stored yet.
func (r *refreshes) exchange(
	ctx context.Context, c *oauthClient, account *Account,
) (current *Account, granted bool, err error) {
	kept, err := r.storedAccount(ctx, account)
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
	fresh, err := r.ask(ctx, c, account)
	if errors.Is(err, ErrInvalidGrant) { // another process may have been faster
		if kept, again := r.storedAccount(ctx, account); again == nil && kept != nil && r.replaces(kept, account) {
			return kept, false, nil
		}
	}
	return fresh, err == nil, err
}

// storedAccount returns the account in the store. It is nil if there is no store.
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

// replaces reports whether the stored account has a different access token, and one that is still valid.
func (r *refreshes) replaces(stored, account *Account) bool {
	return !random.Same(stored.AccessToken, account.AccessToken) && r.stillValid(stored)
}

// ask sends the request and returns the account with the tokens of the response.
func (r *refreshes) ask(ctx context.Context, c *oauthClient, account *Account) (*Account, error) {
	at, err := c.client.Endpoints(ctx)
	if err != nil {
		return nil, errorf(ErrAuth, "%w", err)
	}
	answered, err := c.client.Refresh(ctx, at, string(account.RefreshToken))
	if err != nil {
		return nil, errorf(errCallbackRoute, "%w", err)
	}
	if answered.IDToken != "" && c.Type == TypeOIDC {
		err := c.client.VerifyRefreshed(ctx, at, answered, string(account.IDToken), account.ProviderAccountID)
		if err != nil {
			return nil, errorf(errCallbackRoute, "%w", err)
		}
	}
	tokens := c.tokenSet(answered)
	fresh := account.Clone()
	kept := c.accountFor(tokens)
	fresh.AccessToken, fresh.ExpiresIn, fresh.ExpiresAt = kept.AccessToken, tokens.ExpiresIn, kept.ExpiresAt
	fresh.RefreshToken = cmp.Or(kept.RefreshToken, account.RefreshToken)
	fresh.IDToken = cmp.Or(kept.IDToken, account.IDToken)
	fresh.Scope = cmp.Or(kept.Scope, account.Scope)
	fresh.TokenType = cmp.Or(kept.TokenType, account.TokenType)
	if kept.SessionState != nil {
		fresh.SessionState = kept.SessionState
	}
	if kept.AuthorizationDetails != nil { // RFC 9396 section 7.1: the permissions of the new access token
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
