package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/core"
)

// Unlink removes an account of a provider from a user. [ErrLastMethod]: they could not sign in any more;
// [core.ErrNotFound]: the user has no such account, or it is that of a passkey, which RemovePasskey removes.
func (a *Account) Unlink(ctx context.Context, userID, provider, accountID string) error {
	return a.locked(ctx, userID, func(ctx context.Context) error {
		has, _, err := a.belongings(ctx, userID)
		if err != nil {
			return err
		}
		for _, account := range has.accountsOf(provider) {
			if account.ProviderAccountID == accountID && account.Type != core.TypeWebAuthn {
				return a.unlink(ctx, has, account)
			}
		}
		return core.ErrNotFound
	})
}

// unlink removes an account, under the lock.
func (a *Account) unlink(ctx context.Context, has belongings, account *core.Account) error {
	if isLast(waysOf(a.host.Providers(), has), account) {
		return ErrLastMethod
	}
	if err := a.host.Accounts.UnlinkAccount(ctx, account.Provider, account.ProviderAccountID); err != nil {
		return fmt.Errorf("account: unlink: %w", err)
	}
	return nil
}

// postUnlink answers POST account/unlink: account is an ID of the overview.
func (a *Account) postUnlink(ctx context.Context, c *core.Call) (*core.Response, error) {
	session, err := here(ctx, c)
	if err != nil {
		return nil, err
	}
	accounts, err := a.host.Accounts.Accounts(ctx, session.UserID)
	if err != nil {
		return nil, fmt.Errorf("account: list the accounts: %w", err)
	}
	id := c.Field("account")
	i := slices.IndexFunc(accounts, func(l *core.Account) bool { return accountID(l) == id })
	if i < 0 {
		return refuse(c, http.StatusNotFound, codeNotFound)
	}
	err = a.Unlink(ctx, session.UserID, accounts[i].Provider, accounts[i].ProviderAccountID)
	if err == nil {
		told(ctx, c, core.AuditAccountUnlinked, session)
	}
	return a.changed(ctx, c, "unlinked", err)
}

// changed answers a change of the ways to sign in.
func (a *Account) changed(ctx context.Context, c *core.Call, what string, err error) (*core.Response, error) {
	switch {
	case errors.Is(err, ErrLastMethod):
		return refuse(c, http.StatusConflict, codeLast)
	case errors.Is(err, core.ErrNotFound):
		return refuse(c, http.StatusNotFound, codeNotFound)
	case errors.Is(err, errBusy):
		return refuse(c, http.StatusConflict, codeBusy)
	case err != nil:
		return nil, err
	}
	return done(ctx, c, what, struct{}{})
}
