package core

import (
	"context"
	"errors"
	"fmt"
)

// mostMethods is how many accounts, and how many passkeys, a user may have. Stores list them without pages, so that a
// user with any number of them would make every page that shows them slow. No honest user reaches it.
const mostMethods = 100

// errTooMany refuses another account or passkey of a user.
func errTooMany(id *identity, userID string) error {
	of, what := ErrOAuthAccountNotLinked, "linked accounts"
	if id.passkey != nil {
		of, what = ErrAccountNotLinked, "passkeys"
	}
	return NewError(of, &Refusal{
		Reason: ReasonNotLinked, UserID: userID,
		Err: fmt.Errorf("the user has %d %s, the most that a user may have: remove one first", mostMethods, what),
	})
}

// count counts the accounts of passkeys, or the others.
func count(linked []*Account, passkeys bool) (n int) {
	for _, a := range linked {
		if (a.Type == TypeWebAuthn) == passkeys {
			n++
		}
	}
	return n
}

// attach links the account of an identity to a user. here: the user is signed in. If every account of the user vouches
// for their address, the account that they add counts as vouched for too.
func (w *writer) attach(ctx context.Context, id *identity, u *User, here bool) error {
	account := id.keptAccount()
	if w.made != nil && w.made.ID == u.ID {
		return w.linkAccount(ctx, u, account, id.user)
	}
	linked, err := w.tx.linked(ctx, u)
	switch {
	case err != nil:
		return err
	case count(linked, id.passkey != nil) >= mostMethods:
		return errTooMany(id, u.ID)
	case here && u.EmailVerified.IsZero() && u.Email != "" && !SameMailbox(account.EmailProved, u.Email) &&
		w.ways(w.tx, linked, u) == vouchedWays:
		account.EmailProved = u.Email
	}
	return w.linkAccount(ctx, u, account, id.user)
}

// attachPasskey stores the passkey of a registration and, for a new user without an address, the account that finds it
// by what was typed.
func (w *writer) attachPasskey(ctx context.Context, id *identity, who member) error {
	id.passkey.UserID = who.user.ID
	passkeys := w.tx.passkeys
	if passkeys == nil {
		return errors.New("the Store that InTransaction hands over is no AuthenticatorStore")
	}
	if err := passkeys.CreateAuthenticator(ctx, id.passkey); err != nil {
		return err
	}
	w.announce(func() { w.at.decided(ctx, AuditPasskeyAdded, "", who.user.ID) })
	w.added(ctx, who.user, passkeyMethodID(id.passkey.CredentialID), LetterPasskeyAdded, id.account.Provider)
	if id.typed == "" || !who.created {
		return nil
	}
	named := typedAccount(id.account.Provider, id.typed)
	named.UserID = who.user.ID
	return w.tx.LinkAccount(ctx, named)
}

// refreshAccount brings the tokens of a known account up to date, and the address that its provider vouches for.
func (w *writer) refreshAccount(ctx context.Context, id *identity, owner *User) error {
	accounts := w.tx.accounts
	if accounts == nil || id.client == nil {
		return nil
	}
	account := id.keptAccount()
	account.UserID = owner.ID
	if account.EmailProved == "" && owner.EmailVerified.IsZero() && owner.Email != "" {
		switch kept, err := accounts.Account(ctx, account.Provider, account.ProviderAccountID); {
		case err == nil && kept != nil:
			account.EmailProved = kept.EmailProved
		case !errors.Is(err, ErrNotFound):
			return err
		}
	}
	if err := accounts.UpdateAccount(ctx, account); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}

func (w *writer) linkAccount(ctx context.Context, u *User, account *Account, profile *User) error {
	account.UserID = u.ID
	if err := w.tx.LinkAccount(ctx, account); err != nil {
		return err
	}
	w.announce(func() {
		told := account.Clone()
		told.UserID = ""
		w.events.linkedAccount(ctx, w.at, u, told, profile)
		w.at.decided(ctx, AuditAccountLinked, "", u.ID)
	})
	if account.Type != TypeWebAuthn {
		w.added(ctx, u, accountMethodID(account), LetterAccountLinked, account.Provider)
	}
	return nil
}
