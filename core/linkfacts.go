package core

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/internal/mailaddr"
)

// facts asks the store what the rules need to know, and no more. known is the owner of the account, else the user of the address.
func (w *writer) facts(ctx context.Context, id *identity, now visitor) (f linkFacts, known *User, err error) {
	switch {
	case now.user != nil && now.outdated:
		f.presence = hereOutdated
	case now.user != nil:
		f.presence = hereSomebody
	}
	if f.comes, known, err = w.comesBy(ctx, id, now); err != nil {
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
	known, err = w.userByEmail(ctx, w.store, or(id.user.Email, id.typed))
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
		_, lists := w.store.(SessionLister)
		f.endless = w.session.Strategy == StrategyDatabase && !lists
		f.ways, err = w.waysInto(ctx, w.store, known)
	}
	return f, known, err
}

// comesBy tells how a visitor comes in, and the owner of the account if it has one.
func (w *writer) comesBy(ctx context.Context, id *identity, now visitor) (comes, *User, error) {
	if id.account.Type == TypeEmail {
		return byLink, nil, nil
	}
	owner, err := w.userByAccount(ctx, w.store, id.account)
	if errors.Is(err, ErrNotFound) && id.typed != "" && now.user == nil { // nor may a name of passkeys have two users
		owner, err = w.userByAccount(ctx, w.store, typedAccount(id.account.Provider, id.typed))
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return byNewAccount, nil, nil
	case err != nil:
		return 0, nil, err
	case id.passkey != nil:
		return byTakenPasskey, owner, nil
	case now.user != nil && now.user.ID == owner.ID:
		return byOwnAccount, owner, nil
	}
	return byKnownAccount, owner, nil
}

// waysInto tells what opens a user. Accounts open nothing where no provider of accounts or passkeys is configured.
func (w *writer) waysInto(ctx context.Context, store Store, u *User) (ways, error) {
	lister, ok := store.(AccountStore)
	switch {
	case !ok && !w.opensByAccount():
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

// vouchedAddress is the address of an identity that its provider says is the person's, empty when nobody says so. A claim
// email_verified counts as a real true alone, and for the address beside it; where it is false EmailProved is not asked.
func (id *identity) vouchedAddress() string {
	if id.client == nil || id.profile["email_verified"] == false {
		return ""
	}
	if id.client.EmailProved != nil {
		if id.client.EmailProved(id.profile) {
			return id.user.Email
		}
		return ""
	}
	about, err := mailaddr.Normalize(id.profile.Text("email"))
	if err != nil || about != id.user.Email || id.profile["email_verified"] != true {
		return ""
	}
	return about
}

// refusal says why the rules refuse an account that is, or may be, somebody else's.
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
		reason += "; AllowDangerousEmailAccountLinking needs a provider that vouches for the address (email_verified true, or EmailProved)"
	}
	if id.account.Type == TypeWebAuthn {
		return errorf(AccountNotLinked, "%s", reason)
	}
	return errorf(OAuthAccountNotLinked, "%s", reason)
}
