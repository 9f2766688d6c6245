// Package linking has the rules of account linking. They decide which user a sign-in belongs to, as a pure function of
// a few facts; docs/accounts.md has the same table in words.
package linking

// Means is the kind of credential that a user signs in with.
type Means int

const (
	// MeansLink is a sign-in link. It has no account, and shows that the user can read the mailbox.
	MeansLink Means = iota
	// MeansNewAccount is an account, or a new passkey, that belongs to no user yet.
	MeansNewAccount
	// MeansOwnAccount is an account of the signed-in user.
	MeansOwnAccount
	// MeansOtherAccount is an account of another user than the signed-in one, or of any user if none is signed in.
	MeansOtherAccount
	// MeansTakenPasskey is the registration of a passkey that is already registered, or under a label that is taken.
	MeansTakenPasskey
)

// Session describes the session of the request.
type Session int

const (
	// SessionNone means that no user is signed in.
	SessionNone Session = iota
	// SessionActive is a valid session of a user.
	SessionActive
	// SessionOutdated is a session token from before the user's address was verified. An attacker who created the user may
	// have it.
	SessionOutdated
)

// Address says whether another user has the address of the sign-in.
type Address int

const (
	// AddressFree means that no user has the address, or that the sign-in has none.
	AddressFree Address = iota
	// AddressUnverified means that a user has the address and never verified it.
	AddressUnverified
	// AddressVerified means that a user has verified the address.
	AddressVerified
)

// Methods describes the existing sign-in methods of the user who has the address: their accounts and passkeys.
type Methods int

const (
	// NoMethods means that there are none. The application created or invited the user.
	NoMethods Methods = iota
	// VouchedMethods means that for each of them the provider vouched for this exact address.
	VouchedMethods
	// UnvouchedMethods means that the provider of at least one did not, or that the store cannot list them.
	UnvouchedMethods
)

// Facts is the input of the rules.
type Facts struct {
	Means   Means
	Current Session
	Address Address
	// Stale reports that the signed-in user authenticated too long ago to add a sign-in method.
	Stale bool
	// Verifies reports that the sign-in verifies the address. A sign-in link does. A provider does if it vouches for the
	// address and AllowDangerousEmailAccountLinking is set.
	Verifies bool
	// Listed reports that the store lists the account for the user who has the address, but did not find the user by the
	// account: the account's own record is lost.
	Listed bool
	// Methods and CannotEndSessions matter only if the address is unverified and the sign-in verifies it.
	// CannotEndSessions reports that the store cannot end the user's existing sessions.
	Methods           Methods
	CannotEndSessions bool
}

// Rule is the decision about a sign-in: the result of [Facts.Rule].
type Rule int

const (
	// RuleRefuse refuses the sign-in: the account is, or may be, another person's.
	RuleRefuse Rule = iota
	// RuleContinue continues the current session. There is nothing to link.
	RuleContinue
	// RuleSignIn signs in the owner of the account.
	RuleSignIn
	// RuleLink links the account to the signed-in user, whose session continues.
	RuleLink
	// RuleCreateUser creates a user.
	RuleCreateUser
	// RuleSignInByAddress signs in the user who has the address. A new account is linked to them.
	RuleSignInByAddress
	// RuleVerify is RuleSignInByAddress and marks the address as verified. All sign-in methods and sessions stay.
	RuleVerify
	// RuleVerifyAndEndSessions is RuleVerify and ends the user's existing sessions.
	RuleVerifyAndEndSessions
	// RuleMoveAddress creates a user and moves the address to them. The previous user keeps everything else, including
	// sessions.
	RuleMoveAddress
)

// Rule returns the decision. It is a table, read from top to bottom.
func (f Facts) Rule() Rule {
	switch {
	// An account takes precedence over an address.
	case f.Means == MeansTakenPasskey:
		return RuleRefuse
	case f.Means == MeansOtherAccount && f.Current == SessionActive:
		return RuleRefuse
	case f.Means == MeansOwnAccount && f.Current == SessionActive:
		return RuleContinue
	case f.Means == MeansOtherAccount || f.Means == MeansOwnAccount:
		return RuleSignIn
	case f.Means == MeansNewAccount && f.Current == SessionOutdated:
		return RuleRefuse
	case f.Means == MeansNewAccount && f.Current == SessionActive && f.Stale:
		return RuleRefuse
	case f.Means == MeansNewAccount && f.Current == SessionActive:
		return RuleLink

	// The address decides if both sides have verified it.
	case f.Address == AddressFree:
		return RuleCreateUser
	case f.Listed:
		return RuleSignInByAddress
	case !f.Verifies:
		return RuleRefuse
	case f.Address == AddressVerified:
		return RuleSignInByAddress

	// This sign-in is the first verification of the address.
	case f.Methods == VouchedMethods:
		return RuleVerify
	case f.Methods == NoMethods && !f.CannotEndSessions:
		return RuleVerifyAndEndSessions
	}
	return RuleMoveAddress
}

// Refusal returns why [RuleRefuse] refuses, for the log. byAddress reports that the provider's accounts may be linked
// by address (AllowDangerousEmailAccountLinking).
func (f Facts) Refusal(byAddress bool) string {
	const taken = "another account already has this email address: sign in with it first, then link this one"
	switch {
	case f.Means == MeansTakenPasskey:
		return "a passkey with this credential ID or this label is already registered"
	case f.Means == MeansOtherAccount:
		return "the account is already associated with another user"
	case f.Current == SessionOutdated:
		return "the session token is older than the verification of the user's email address: sign in again, then link"
	case f.Current == SessionActive && f.Stale:
		return "the last sign-in is too long ago to link an account: sign in again first"
	case byAddress:
		return taken + "; AllowDangerousEmailAccountLinking needs a provider that vouches for the address " +
			"(email_verified true, or EmailVerified)"
	}
	return taken
}
