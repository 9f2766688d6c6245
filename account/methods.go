package account

import (
	"context"
	"fmt"
	"slices"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// passwordProvider is the ID of the provider whose passwords live in records of kind "password".
const passwordProvider = "password"

// belongings are what the store keeps of a user that can open their account.
type belongings struct {
	user        *core.User
	accounts    []*core.Account
	passkeys    []*store.Authenticator
	hasPassword bool
}

// way is one way to sign in.
type way struct {
	provider core.ProviderInfo
	// account is the linked account, nil for a password and for mail.
	account *core.Account
	// passkey is the credential, nil for all else.
	passkey *store.Authenticator
}

// waysOf are the ways in which a user can sign in under a configuration, in the order of its providers. What the
// configuration has no provider for opens nothing and is no way: an account of a provider that was taken out, a passkey
// without its account, an address that nobody has proved.
func waysOf(providers []core.ProviderInfo, b belongings) (ways []way) {
	for _, p := range providers {
		ways = append(ways, b.waysBy(p)...)
	}
	return ways
}

// waysBy lists how the user can sign in with one provider.
func (b *belongings) waysBy(p core.ProviderInfo) (ways []way) {
	switch p.Type {
	case core.TypeCredentials:
		if p.ID == passwordProvider && b.hasPassword {
			return []way{{provider: p}}
		}
		return nil
	case core.TypeEmail:
		if b.user.Email != "" && !b.user.EmailVerified.IsZero() {
			return []way{{provider: p}}
		}
		return nil
	}
	for _, a := range b.accountsOf(p.ID) {
		found := way{provider: p, account: a}
		if p.Type == core.TypeWebAuthn {
			if found.passkey = b.passkeyOf(a); found.passkey == nil {
				continue
			}
		}
		ways = append(ways, found)
	}
	return ways
}

func (b *belongings) accountsOf(provider string) (all []*core.Account) {
	for _, a := range b.accounts {
		if a.Provider == provider {
			all = append(all, a)
		}
	}
	return all
}

// passkeyOf is the credential of an account of a passkey provider, nil for an account that only finds its user by what
// they type.
func (b *belongings) passkeyOf(a *core.Account) *store.Authenticator {
	i := slices.IndexFunc(b.passkeys, func(k *store.Authenticator) bool {
		return k.ProviderAccountID == a.ProviderAccountID
	})
	if i < 0 {
		return nil
	}
	return b.passkeys[i]
}

// isLast reports whether nothing is left to sign in with once an account is gone. An account that opens nothing is
// never the last.
func isLast(ways []way, gone *core.Account) bool {
	is := func(w way) bool {
		return w.account != nil && w.account.Provider == gone.Provider &&
			w.account.ProviderAccountID == gone.ProviderAccountID
	}
	return slices.ContainsFunc(ways, is) && !slices.ContainsFunc(ways, func(w way) bool { return !is(w) })
}

// readsMail reports whether a user is known to read the mailbox of their address: they have proved it, or a provider
// has vouched for it.
func readsMail(ctx context.Context, linked store.AccountStore, user *core.User) (bool, error) {
	if user.Email == "" || !user.EmailVerified.IsZero() {
		return user.Email != "", nil
	}
	accounts, err := linked.Accounts(ctx, user.ID)
	if err != nil {
		return false, fmt.Errorf("account: list the accounts: %w", err)
	}
	vouches := func(l *core.Account) bool { return core.SameMailbox(l.EmailProved, user.Email) }
	return slices.ContainsFunc(accounts, vouches), nil
}
