package core

import (
	"context"
	"errors"
	"slices"
)

// What follows decides whose user a sign-in is. It is a pure function of a few facts; docs/accounts.md has the same
// table in words.

// comes is how a visitor comes in.
type comes int

const (
	// byLink: by a sign-in link. It stands for no account, and shows that the visitor can read the mailbox.
	byLink comes = iota
	// byNewAccount: by an account, or a new passkey, that no user has yet.
	byNewAccount
	// byOwnAccount: by an account of the user who is signed in.
	byOwnAccount
	// byKnownAccount: by the account of a user who is not the one signed in.
	byKnownAccount
	// byTakenPasskey: by a registration of a passkey that is registered already, or under a name that is taken.
	byTakenPasskey
)

// presence is which session the request presents.
type presence int

const (
	// hereNobody: none.
	hereNobody presence = iota
	// hereSomebody: that of a user.
	hereSomebody
	// hereOutdated: a token issued before the user's address was proved. It may be that of a stranger who made the user.
	hereOutdated
)

// holding is what is known of the user who has the address of the sign-in.
type holding int

const (
	// addressFree: no user has the address, or the sign-in names none.
	addressFree holding = iota
	// addressUnproved: a user who never proved it.
	addressUnproved
	// addressProved: a user who did.
	addressProved
)

// ways are what else opens a user: their accounts, those of passkeys included.
type ways int

const (
	// noWays: none. The application made the user, or invited them.
	noWays ways = iota
	// vouchedWays: each came with its provider's word that this very address is the owner's.
	vouchedWays
	// otherWays: at least one did not, or the store cannot tell.
	otherWays
)

// linkFacts is all that the rules look at.
type linkFacts struct {
	comes    comes
	presence presence
	address  holding
	// stale: the visitor who is signed in proved who they are too long ago to add a way in.
	stale bool
	// proves: the sign-in proves the address. A magic link does; a provider when it may link by e-mail and vouches for the
	// address.
	proves bool
	// listed: the store lists the account among those of the user who has the address, and has lost its record, by which
	// it would have found the user.
	listed bool
	// ways and endless matter where the address is unproved and the sign-in proves it. endless: the store cannot end the
	// sessions that the user has until now.
	ways    ways
	endless bool
}

// linkRule is what becomes of a sign-in.
type linkRule int

const (
	// ruleRefuse: the account is, or may be, another person's.
	ruleRefuse linkRule = iota
	// ruleGoOn: the session goes on, there is nothing to link.
	ruleGoOn
	// ruleLetIn: the owner of the account gets a session.
	ruleLetIn
	// ruleLinkHere: the account is linked to the signed-in user, whose session goes on.
	ruleLinkHere
	// ruleWelcome: a new user.
	ruleWelcome
	// ruleEnter: the user of the address, with a new session. A new account is linked to them.
	ruleEnter
	// ruleProve: as ruleEnter, and the address is proved from now on. All ways in and sessions stay.
	ruleProve
	// ruleProveAlone: as ruleProve, and the sessions from before end.
	ruleProveAlone
	// ruleMove: the address goes to a new user. The old one keeps everything else, sessions included.
	ruleMove
)

// rule is the table, read from top to bottom.
func (f linkFacts) rule() linkRule {
	switch {
	// An account decides before an address does.
	case f.comes == byTakenPasskey:
		return ruleRefuse
	case f.comes == byKnownAccount && f.presence == hereSomebody:
		return ruleRefuse
	case f.comes == byOwnAccount && f.presence == hereSomebody:
		return ruleGoOn
	case f.comes == byKnownAccount || f.comes == byOwnAccount:
		return ruleLetIn
	case f.comes == byNewAccount && f.presence == hereOutdated:
		return ruleRefuse
	case f.comes == byNewAccount && f.presence == hereSomebody && f.stale:
		return ruleRefuse
	case f.comes == byNewAccount && f.presence == hereSomebody:
		return ruleLinkHere

	// Then the address does, as long as both sides proved it.
	case f.address == addressFree:
		return ruleWelcome
	case f.listed:
		return ruleEnter
	case !f.proves:
		return ruleRefuse
	case f.address == addressProved:
		return ruleEnter

	// The first proof of an address that its user never proved.
	case f.ways == vouchedWays:
		return ruleProve
	case f.ways == noWays && !f.endless:
		return ruleProveAlone
	}
	return ruleMove
}

// facts asks the store what the rules need to know, and no more. known is the owner of the account, else the user of
// the address.
func (w *writer) facts(ctx context.Context, id *identity, here visitor) (f linkFacts, known *User, err error) {
	switch {
	case here.user != nil && here.outdated:
		f.presence = hereOutdated
	case here.user != nil:
		f.presence = hereSomebody
	}
	f.stale = w.freshLinks > 0 && w.now().Sub(here.proved) > w.freshLinks
	if f.comes, known, err = w.comesBy(ctx, id, here); err != nil {
		return f, nil, err
	}
	if f.comes == byNewAccount && here.user != nil && id.started != flowSameSession {
		return f, known, overf(ErrInvalidCheck, reasonUsed, "the sign-in was started under another session: link no account")
	}
	switch {
	case f.comes == byLink:
		f.proves = true
	case f.comes != byNewAccount || f.presence != hereNobody:
		return f, known, nil // no address matters
	default:
		f.proves = id.client != nil && id.client.AllowDangerousEmailAccountLinking && id.vouchedAddress() != ""
	}
	find := userByMailbox
	if id.client != nil { // as in Auth.js, at the price of one lookup
		find = firstByMailbox
	}
	known, err = find(ctx, w.tx, or(id.user.Email, id.typed), id.given)
	switch {
	case errors.Is(err, ErrNotFound):
		return f, nil, nil
	case err != nil:
		return f, nil, err
	}
	byAccount := id.account.Type != TypeEmail && id.passkey == nil
	f.address = addressProved
	if known.EmailVerified.IsZero() {
		f.address = addressUnproved
	}
	proof := f.proves && f.address == addressUnproved
	var linked []*Account
	if byAccount || proof {
		if linked, err = w.tx.linked(ctx, known); err != nil {
			return f, nil, err
		}
	}
	f.listed = byAccount && slices.ContainsFunc(linked, id.isAccount)
	if proof {
		f.endless = w.linker.sessions.config.Strategy == StrategyDatabase && w.tx.lister == nil
		f.ways = w.ways(w.tx, linked, known)
	}
	return f, known, nil
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

// linked are the accounts of a user; none where the store cannot list them.
func (v stores) linked(ctx context.Context, u *User) ([]*Account, error) {
	if v.accounts == nil {
		return nil, nil
	}
	return guarded("Store.Accounts", func() ([]*Account, error) { return v.accounts.Accounts(ctx, u.ID) })
}

// ways returns what opens a user with these accounts, which are of the store s. Accounts open nothing where no provider
// of accounts or passkeys is configured; where s cannot list them, any may be there.
func (w *writer) ways(s stores, linked []*Account, u *User) ways {
	if s.accounts == nil && w.accountsOpen {
		return otherWays
	}
	found := noWays
	for _, a := range linked {
		if !SameMailbox(a.EmailProved, u.Email) {
			return otherWays
		}
		found = vouchedWays
	}
	return found
}

// refusal says why the rules refuse an account that is, or may be, another person's: that of owner, where there is one.
func (f linkFacts) refusal(id *identity, owner *User) error {
	reason := "another account already has this e-mail address: sign in with it first, then link this one"
	switch {
	case f.comes == byTakenPasskey:
		reason = "a passkey with this credential id, or by this name, is registered already"
	case f.comes == byKnownAccount:
		reason = "the account is already associated with another user"
	case f.presence == hereOutdated:
		reason = "the session token is older than the proof of its user's e-mail address: sign in again, then link"
	case f.presence == hereSomebody && f.stale:
		reason = "the visitor proved who they are too long ago to link an account: they sign in again first"
	case id.client != nil && id.client.AllowDangerousEmailAccountLinking:
		reason += "; AllowDangerousEmailAccountLinking needs a provider that vouches for the address " +
			"(email_verified true, or EmailProved)"
	}
	refused := &Refusal{Reason: ReasonNotLinked, Err: errors.New(reason)}
	if owner != nil {
		refused.UserID = owner.ID
	}
	if id.account.Type == TypeWebAuthn {
		return NewError(ErrAccountNotLinked, refused)
	}
	return NewError(ErrOAuthAccountNotLinked, refused)
}
