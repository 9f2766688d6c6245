package account

import (
	"context"
	"fmt"
	"slices"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// passwordProvider is the ID of the provider that stores passwords as records of kind "password".
const passwordProvider = "password"

// credentials is everything in the store that a user could sign in with.
type credentials struct {
	user        *core.User
	accounts    []*core.Account
	passkeys    []*store.Authenticator
	hasPassword bool
}

// signInMethod is one sign-in method.
type signInMethod struct {
	provider core.ProviderInfo
	// account is the linked account. It is nil for a password and for email links.
	account *core.Account
	// passkey is the credential. It is nil for all other methods.
	passkey *store.Authenticator
}

// signInMethods returns the user's sign-in methods under the current configuration, in the order of the providers. It
// leaves out accounts of removed providers, passkeys without an account, and unverified addresses, because these cannot
// sign the user in.
func signInMethods(providers []core.ProviderInfo, b credentials) (methods []signInMethod) {
	for _, p := range providers {
		methods = append(methods, b.methodsOf(p)...)
	}
	return methods
}

// methodsOf returns the user's sign-in methods of one provider.
func (b *credentials) methodsOf(p core.ProviderInfo) (methods []signInMethod) {
	switch p.Type {
	case core.TypeCredentials:
		if p.ID == passwordProvider && b.hasPassword {
			return []signInMethod{{provider: p}}
		}
		return nil
	case core.TypeEmail:
		if b.user.Email != "" && !b.user.EmailVerified.IsZero() {
			return []signInMethod{{provider: p}}
		}
		return nil
	}
	for _, a := range b.accountsOf(p.ID) {
		found := signInMethod{provider: p, account: a}
		if p.Type == core.TypeWebAuthn {
			if found.passkey = b.passkeyOf(a); found.passkey == nil {
				continue
			}
		}
		methods = append(methods, found)
	}
	return methods
}

func (b *credentials) accountsOf(provider string) (all []*core.Account) {
	for _, a := range b.accounts {
		if a.Provider == provider {
			all = append(all, a)
		}
	}
	return all
}

// passkeyOf returns the credential of a passkey account. It is nil for an account that only identifies the user by an
// email address they type.
func (b *credentials) passkeyOf(a *core.Account) *store.Authenticator {
	i := slices.IndexFunc(b.passkeys, func(k *store.Authenticator) bool {
		return k.ProviderAccountID == a.ProviderAccountID
	})
	if i < 0 {
		return nil
	}
	return b.passkeys[i]
}

// isLast reports whether the account is the only sign-in method. An account that cannot sign the user in is never the
// last.
func isLast(methods []signInMethod, gone *core.Account) bool {
	is := func(w signInMethod) bool {
		return w.account != nil && w.account.Provider == gone.Provider &&
			w.account.ProviderAccountID == gone.ProviderAccountID
	}
	return slices.ContainsFunc(methods, is) && !slices.ContainsFunc(methods, func(w signInMethod) bool { return !is(w) })
}

// readsMail reports whether the user owns the mailbox of their address: they verified it, or a linked provider vouches
// for it.
func readsMail(ctx context.Context, linked store.AccountStore, user *core.User) (bool, error) {
	if user.Email == "" || !user.EmailVerified.IsZero() {
		return user.Email != "", nil
	}
	accounts, err := linked.Accounts(ctx, user.ID)
	if err != nil {
		return false, fmt.Errorf("account: list the accounts: %w", err)
	}
	vouches := func(l *core.Account) bool { return core.SameMailbox(l.VerifiedEmail, user.Email) }
	return slices.ContainsFunc(accounts, vouches), nil
}
