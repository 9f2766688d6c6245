package core

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
