package account

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

// unlinks removes linked accounts.
type unlinks struct {
	host      *core.PluginHost
	overviews *overviews
	locks     *locks
}

func (u *unlinks) actions(r *reauth) []core.Action {
	return []core.Action{r.change("unlink", u.post)}
}

func (u *unlinks) unlink(ctx context.Context, userID, provider, accountID string) error {
	return u.locks.withLock(ctx, userID, func(ctx context.Context) error {
		has, _, err := u.overviews.credentials(ctx, userID)
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

// unlink removes an account unless it is the last sign-in method. The caller holds the user's lock.
func unlink(ctx context.Context, h *core.PluginHost, has credentials, account *core.Account) error {
	if isLast(signInMethods(h.Providers(), has), account) {
		return ErrLastMethod
	}
	if err := h.Accounts.UnlinkAccount(ctx, account.Provider, account.ProviderAccountID); err != nil {
		return fmt.Errorf("account: unlink: %w", err)
	}
	return nil
}

// post handles POST account/unlink. The field account is an ID of the overview.
func (u *unlinks) post(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := currentSession(ctx, c)
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
	n := core.SecurityNotice{
		Kind: mailkind.AccountUnlinked, UserID: session.UserID, Provider: accounts[i].Provider,
	}
	err = c.NotifyChange(ctx, n, func(ctx context.Context) error {
		return u.unlink(ctx, session.UserID, accounts[i].Provider, accounts[i].ProviderAccountID)
	})
	if err == nil {
		auditDone(ctx, c, audit.AccountUnlinked, session)
	}
	return methodChanged(ctx, c, "unlinked", err)
}
