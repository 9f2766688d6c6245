package core

import (
	"context"
	"errors"
)

// facts asks the store what the rules need to know, and no more. known is the owner of the account, else the user of
// the address.
func (w *writer) facts(ctx context.Context, id *identity, here visitor) (f linkFacts, known *User, err error) {
	switch {
	case here.user != nil && here.outdated:
		f.presence = hereOutdated
	case here.user != nil:
		f.presence = hereSomebody
	}
	if f.comes, known, err = w.comesBy(ctx, id, here); err != nil {
		return f, nil, err
	}
	switch {
	case f.comes == byLink:
		f.proves = true
	case f.comes != byNewAccount || f.presence != hereNobody:
		return f, known, nil // no address matters
	default:
		f.proves = id.client != nil && id.client.AllowDangerousEmailAccountLinking && id.vouchedAddress() != ""
	}
	known, err = userByEmail(ctx, w.tx, or(id.user.Email, id.typed))
	switch {
	case errors.Is(err, ErrNotFound):
		return f, nil, nil
	case err != nil:
		return f, nil, err
	case !known.EmailVerified.IsZero():
		f.address = addressProved
		return f, known, nil
	}
	f.address = addressUnproved
	if f.proves {
		_, lists := w.tx.(SessionLister)
		f.endless = w.linker.sessions.config.Strategy == StrategyDatabase && !lists
		f.ways, err = w.waysInto(ctx, w.tx, known)
	}
	return f, known, err
}

// comesBy returns how a visitor comes in, and the owner of the account if it has one.
func (w *writer) comesBy(ctx context.Context, id *identity, here visitor) (comes, *User, error) {
	if id.account.Type == TypeEmail {
		return byLink, nil, nil
	}
	owner, err := userByAccount(ctx, w.tx, id.account)
	if errors.Is(err, ErrNotFound) && id.typed != "" && here.user == nil { // nor may a name of passkeys have two users
		owner, err = userByAccount(ctx, w.tx, typedAccount(id.account.Provider, id.typed))
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return byNewAccount, nil, nil
	case err != nil:
		return 0, nil, err
	case id.passkey != nil:
		return byTakenPasskey, owner, nil
	case here.user != nil && here.user.ID == owner.ID:
		return byOwnAccount, owner, nil
	}
	return byKnownAccount, owner, nil
}

// waysInto returns what opens a user. Accounts open nothing where no provider of accounts or passkeys is configured.
func (w *writer) waysInto(ctx context.Context, store Store, u *User) (ways, error) {
	lister, ok := store.(AccountStore)
	switch {
	case !ok && !w.accountsOpen:
		return noWays, nil
	case !ok:
		return otherWays, nil
	}
	accounts, err := guarded("Store.Accounts", func() ([]*Account, error) { return lister.Accounts(ctx, u.ID) })
	if err != nil {
		return otherWays, err
	}
	found := noWays
	for _, a := range accounts {
		if a.EmailProved == "" || a.EmailProved != u.Email {
			return otherWays, nil
		}
		found = vouchedWays
	}
	return found, nil
}

// refusal says why the rules refuse an account that is, or may be, another person's.
func (f linkFacts) refusal(id *identity) error {
	reason := "another account already has this e-mail address: sign in with it first, then link this one"
	switch {
	case f.comes == byTakenPasskey:
		reason = "a passkey with this credential id, or by this name, is registered already"
	case f.comes == byKnownAccount:
		reason = "the account is already associated with another user"
	case f.presence == hereOutdated:
		reason = "the session token is older than the proof of its user's e-mail address: sign in again, then link"
	case id.client != nil && id.client.AllowDangerousEmailAccountLinking:
		reason += "; AllowDangerousEmailAccountLinking needs a provider that vouches for the address " +
			"(email_verified true, or EmailProved)"
	}
	if id.account.Type == TypeWebAuthn {
		return errorf(ErrAccountNotLinked, "%s", reason)
	}
	return errorf(ErrOAuthAccountNotLinked, "%s", reason)
}
