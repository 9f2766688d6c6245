package account

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/core"
)

// unlinks remove accounts of providers from users.
type unlinks struct {
	host  *core.Host
	looks *overviews
	locks *locks
}

// Unlink removes an account of a provider from a user. [ErrLastMethod]: they could not sign in any more;
// [core.ErrNotFound]: the user has no such account, or it is that of a passkey, which RemovePasskey removes.
func (a *Account) Unlink(ctx context.Context, userID, provider, accountID string) error {
	return a.stories.unlinks.unlink(ctx, userID, provider, accountID)
}

func (u *unlinks) unlink(ctx context.Context, userID, provider, accountID string) error {
	return u.locks.holding(ctx, userID, func(ctx context.Context) error {
		has, _, err := u.looks.belongings(ctx, userID)
		if err != nil {
			return err
		}
		for _, account := range has.accountsOf(provider) {
			if account.ProviderAccountID == accountID && account.Type != core.TypeWebAuthn {
				return unlink(ctx, u.host, has, account)
			}
		}
		return core.ErrNotFound
	})
}

// unlink removes an account that is not the last way in, under the lock.
func unlink(ctx context.Context, h *core.Host, has belongings, account *core.Account) error {
	if isLast(waysOf(h.Providers(), has), account) {
		return ErrLastMethod
	}
	if err := h.Accounts.UnlinkAccount(ctx, account.Provider, account.ProviderAccountID); err != nil {
		return fmt.Errorf("account: unlink: %w", err)
	}
	return nil
}

// post answers POST account/unlink: account is an ID of the overview.
func (u *unlinks) post(ctx context.Context, c *core.Call) (*core.Response, error) {
	session, err := here(ctx, c)
	if err != nil {
		return nil, err
	}
	accounts, err := u.host.Accounts.Accounts(ctx, session.UserID)
	if err != nil {
		return nil, fmt.Errorf("account: list the accounts: %w", err)
	}
	id := c.Field("account")
	i := slices.IndexFunc(accounts, func(l *core.Account) bool { return accountID(l) == id })
	if i < 0 {
		return refuse(c, http.StatusNotFound, codeNotFound)
	}
	err = u.unlink(ctx, session.UserID, accounts[i].Provider, accounts[i].ProviderAccountID)
	if err == nil {
		told(ctx, c, core.AuditAccountUnlinked, session)
		c.NotifyMethod(ctx, core.LetterAccountUnlinked, session.UserID, accounts[i].Provider)
	}
	return changed(ctx, c, "unlinked", err)
}
