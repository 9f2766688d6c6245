package core

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/audit"
)

// The rules of account linking decide which user a sign-in belongs to. They are a pure function of a few facts;
// docs/accounts.md has the same table in words.

// signInMeans is what a user signs in with.
type signInMeans int

const (
	// meansLink is a sign-in link. It has no account, and shows that the user can read the mailbox.
	meansLink signInMeans = iota
	// meansNewAccount is an account, or a new passkey, that belongs to no user yet.
	meansNewAccount
	// meansOwnAccount is an account of the signed-in user.
	meansOwnAccount
	// meansOtherAccount is an account of another user than the signed-in one, or of any user if no one is signed in.
	meansOtherAccount
	// meansTakenPasskey is the registration of a passkey that is already registered, or under a label that is taken.
	meansTakenPasskey
)

// currentSession describes the session of the request.
type currentSession int

const (
	// sessionNone means that no user is signed in.
	sessionNone currentSession = iota
	// sessionActive is a valid session of a user.
	sessionActive
	// sessionOutdated is a session token from before the user's address was verified. An attacker who created the user may
	// have it.
	sessionOutdated
)

// addressState says whether another user has the address of the sign-in.
type addressState int

const (
	// addressFree means that no user has the address, or that the sign-in has none.
	addressFree addressState = iota
	// addressUnverified means that a user has the address and never verified it.
	addressUnverified
	// addressVerified means that a user has verified the address.
	addressVerified
)

// otherMethods describes the existing sign-in methods of the user who has the address: their accounts and passkeys.
type otherMethods int

const (
	// noMethods means that there are none. The application created or invited the user.
	noMethods otherMethods = iota
	// vouchedMethods means that for each of them the provider vouched for this exact address.
	vouchedMethods
	// unvouchedMethods means that the provider of at least one did not, or that the store cannot list them.
	unvouchedMethods
)

// linkFacts is the input of the rules.
type linkFacts struct {
	means   signInMeans
	current currentSession
	address addressState
	// stale reports that the signed-in user authenticated too long ago to add a sign-in method.
	stale bool
	// verifies reports that the sign-in verifies the address. A sign-in link does. A provider does if it vouches for the
	// address and AllowDangerousEmailAccountLinking is set.
	verifies bool
	// listed reports that the store lists the account for the user who has the address, but did not find the user by the
	// account: the account's own record is lost.
	listed bool
	// methods and cannotEndSessions matter only if the address is unverified and the sign-in verifies it.
	// cannotEndSessions reports that the store cannot end the user's existing sessions.
	methods           otherMethods
	cannotEndSessions bool
}

// linkRule is the decision.
type linkRule int

const (
	// ruleRefuse refuses the sign-in: the account is, or may be, another person's.
	ruleRefuse linkRule = iota
	// ruleContinue continues the current session. There is nothing to link.
	ruleContinue
	// ruleSignIn signs in the owner of the account.
	ruleSignIn
	// ruleLink links the account to the signed-in user, whose session continues.
	ruleLink
	// ruleCreateUser creates a user.
	ruleCreateUser
	// ruleSignInByAddress signs in the user who has the address. A new account is linked to them.
	ruleSignInByAddress
	// ruleVerify is ruleSignInByAddress and marks the address as verified. All sign-in methods and sessions stay.
	ruleVerify
	// ruleVerifyAndEndSessions is ruleVerify and ends the user's existing sessions.
	ruleVerifyAndEndSessions
	// ruleMoveAddress creates a user and moves the address to them. The previous user keeps everything else, including
	// sessions.
	ruleMoveAddress
)

// rule is the table, read from top to bottom.
func (f linkFacts) rule() linkRule {
	switch {
	// An account takes precedence over an address.
	case f.means == meansTakenPasskey:
		return ruleRefuse
	case f.means == meansOtherAccount && f.current == sessionActive:
		return ruleRefuse
	case f.means == meansOwnAccount && f.current == sessionActive:
		return ruleContinue
	case f.means == meansOtherAccount || f.means == meansOwnAccount:
		return ruleSignIn
	case f.means == meansNewAccount && f.current == sessionOutdated:
		return ruleRefuse
	case f.means == meansNewAccount && f.current == sessionActive && f.stale:
		return ruleRefuse
	case f.means == meansNewAccount && f.current == sessionActive:
		return ruleLink

	// The address decides if both sides have verified it.
	case f.address == addressFree:
		return ruleCreateUser
	case f.listed:
		return ruleSignInByAddress
	case !f.verifies:
		return ruleRefuse
	case f.address == addressVerified:
		return ruleSignInByAddress

	// This sign-in is the first verification of the address.
	case f.methods == vouchedMethods:
		return ruleVerify
	case f.methods == noMethods && !f.cannotEndSessions:
		return ruleVerifyAndEndSessions
	}
	return ruleMoveAddress
}

// facts reads from the store what the rules need, and nothing else. known is the owner of the account, else the user
// who has the address.
func (w *writer) facts(ctx context.Context, id *identity, signedIn sessionUser) (f linkFacts, known *User, err error) {
	switch {
	case signedIn.user != nil && signedIn.outdated:
		f.current = sessionOutdated
	case signedIn.user != nil:
		f.current = sessionActive
	}
	f.stale = w.freshLinks > 0 && w.now().Sub(signedIn.authTime) > w.freshLinks
	if f.means, known, err = w.meansOf(ctx, id, signedIn); err != nil {
		return f, nil, err
	}
	if f.means == meansNewAccount && signedIn.user != nil && id.started != flowSameSession {
		return f, known, callbackErrorf(ErrInvalidCheck, reasonUsed,
			"the sign-in was started under another session: no account is linked")
	}
	switch {
	case f.means == meansLink:
		f.verifies = true
	case f.means != meansNewAccount || f.current != sessionNone:
		return f, known, nil // the address does not matter
	default:
		f.verifies = id.linksByAddress() && id.verifiedAddress() != ""
	}
	find := userByMailbox
	if id.byOAuth() { // as in Auth.js, with a single lookup
		find = firstByMailbox
	}
	address, given := id.lookupAddress()
	known, err = find(ctx, w.tx, address, given)
	switch {
	case errors.Is(err, ErrNotFound):
		return f, nil, nil
	case err != nil:
		return f, nil, err
	}
	byAccount := id.account.Type != TypeEmail && id.passkey == nil
	f.address = addressVerified
	if known.EmailVerified.IsZero() {
		f.address = addressUnverified
	}
	firstVerification := f.verifies && f.address == addressUnverified
	var linked []*Account
	if byAccount || firstVerification {
		if linked, err = w.tx.linked(ctx, known); err != nil {
			return f, nil, err
		}
	}
	f.listed = byAccount && slices.ContainsFunc(linked, id.isAccount)
	if firstVerification {
		f.cannotEndSessions = w.linker.sessions.config.Strategy == StrategyDatabase && w.tx.lister == nil
		f.methods = w.otherMethods(w.tx, linked, known)
	}
	return f, known, nil
}

// firstByMailbox returns the user with the canonical form of an address or, if there is none, with the given spelling.
func firstByMailbox(ctx context.Context, users Store, canonical, given string) (*User, error) {
	user, err := userByEmail(ctx, users, canonical)
	if errors.Is(err, ErrNotFound) {
		return userBySpelling(ctx, users, canonical, given)
	}
	return user, err
}

// lookupAddress returns the address that an existing user may have, and the spelling of the provider.
func (id *identity) lookupAddress() (address, given string) {
	if id.oauth != nil {
		given = id.oauth.given
	}
	return or(id.user.Email, id.typed()), given
}

// meansOf returns what the user signs in with, and the owner of the account if there is one.
func (w *writer) meansOf(ctx context.Context, id *identity, signedIn sessionUser) (signInMeans, *User, error) {
	if id.account.Type == TypeEmail {
		return meansLink, nil, nil
	}
	owner, err := userByAccount(ctx, w.tx, id.account)
	// A passkey label must not belong to two users.
	if errors.Is(err, ErrNotFound) && id.typed() != "" && signedIn.user == nil {
		owner, err = userByAccount(ctx, w.tx, typedAccount(id.account.Provider, id.typed()))
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return meansNewAccount, nil, nil
	case err != nil:
		return 0, nil, err
	case id.passkey != nil:
		return meansTakenPasskey, owner, nil
	case signedIn.user != nil && signedIn.user.ID == owner.ID:
		return meansOwnAccount, owner, nil
	}
	return meansOtherAccount, owner, nil
}

// linked returns the accounts of a user, or none if the store cannot list them.
func (v stores) linked(ctx context.Context, u *User) ([]*Account, error) {
	if v.accounts == nil {
		return nil, nil
	}
	return v.accounts.Accounts(ctx, u.ID)
}

// otherMethods describes the sign-in methods of a user with these accounts. If the store s cannot list accounts, it
// assumes that there are some, unless no provider of accounts or passkeys is configured.
func (w *writer) otherMethods(s stores, linked []*Account, u *User) otherMethods {
	if s.accounts == nil && w.accountsOpen {
		return unvouchedMethods
	}
	found := noMethods
	for _, a := range linked {
		if !SameMailbox(a.VerifiedEmail, u.Email) {
			return unvouchedMethods
		}
		found = vouchedMethods
	}
	return found
}

// refusal returns the error for an account that is, or may be, another person's. owner is that user, or nil if unknown.
func (f linkFacts) refusal(id *identity, owner *User) error {
	reason := "another account already has this email address: sign in with it first, then link this one"
	switch {
	case f.means == meansTakenPasskey:
		reason = "a passkey with this credential ID or this label is already registered"
	case f.means == meansOtherAccount:
		reason = "the account is already associated with another user"
	case f.current == sessionOutdated:
		reason = "the session token is older than the verification of the user's email address: sign in again, then link"
	case f.current == sessionActive && f.stale:
		reason = "the last sign-in is too long ago to link an account: sign in again first"
	case id.linksByAddress():
		reason += "; AllowDangerousEmailAccountLinking needs a provider that vouches for the address " +
			"(email_verified true, or EmailVerified)"
	}
	refused := &audit.Denial{Reason: audit.ReasonNotLinked, Err: errors.New(reason)}
	if owner != nil {
		refused.UserID = owner.ID
	}
	if id.account.Type == TypeWebAuthn {
		return NewError(ErrAccountNotLinked, refused)
	}
	return NewError(ErrOAuthAccountNotLinked, refused)
}
