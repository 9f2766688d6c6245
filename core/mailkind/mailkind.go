// Package mailkind has the kinds of the emails that core and its plugins send.
package mailkind

// Kind is the kind of an email.
type Kind string

// The kinds of emails. If an email has a URL, it opens a page of this site. The page asks for confirmation before it
// makes a change that cannot be undone.
const (
	// SignIn contains a link or a code to sign in.
	SignIn Kind = "sign-in"
	// Reauth contains a code for the re-authentication of a signed-in user. It has no URL.
	Reauth Kind = "reauth"
	// Verify asks the owner of an address to complete a sign-up.
	Verify Kind = "verify"
	// Exists informs the owner of an account that its address was used in another sign-up. The URL is the sign-in
	// page.
	Exists Kind = "exists"
	// Reset contains a link to choose a new password.
	Reset Kind = "reset"
	// PasswordChanged reports that a password was set, changed or removed. The URL is the page to request a reset.
	PasswordChanged Kind = "password-changed"
	// AddressChange asks the owner of a new address to confirm it.
	AddressChange Kind = "email-change"
	// AddressChanged informs the old address that it was replaced. The URL undoes the change. If the old address was
	// not verified, there is no URL.
	AddressChanged Kind = "email-changed"
	// PasskeyAdded and PasskeyRemoved report that a passkey was added to or removed from the account. The URL
	// is a page to secure the account.
	PasskeyAdded   Kind = "passkey-added"
	PasskeyRemoved Kind = "passkey-removed"
	// AccountLinked and AccountUnlinked report that an account at a provider was linked or unlinked. Service
	// is the provider's name. The URL is the same as in PasskeyAdded.
	AccountLinked   Kind = "account-linked"
	AccountUnlinked Kind = "account-unlinked"
	// FactorAdded and FactorRemoved report that a second factor, for example an authenticator app, was added to
	// or removed from the account. FactorsReset reports that an administrator removed all second factors. The URL is
	// the same as in PasskeyAdded.
	FactorAdded   Kind = "factor-added"
	FactorRemoved Kind = "factor-removed"
	FactorsReset  Kind = "factors-reset"
	// RecoveryUsed reports that a recovery code was used instead of another second factor. RecoveryRenewed
	// reports that a new set of recovery codes replaced the old one. The URL is the same as in PasskeyAdded.
	RecoveryUsed    Kind = "recovery-used"
	RecoveryRenewed Kind = "recovery-renewed"
	// FactorGuessed reports many wrong codes after the first factor of sign-ins: their sender may know the password.
	// The URL is the same as in PasskeyAdded.
	FactorGuessed Kind = "factor-guessed"
	// NewDevice reports a sign-in in a browser that was not used before. The URL is the same as in
	// PasskeyAdded.
	NewDevice Kind = "new-device"
	// KeyCreated reports that an API key was created. The URL is the same as in PasskeyAdded. KeyExpiring
	// reports that an API key expires soon, at the time At. The URL is the page of the user's API keys.
	KeyCreated  Kind = "key-created"
	KeyExpiring Kind = "key-expiring"
	// Invite is an invitation to sign up.
	Invite Kind = "invite"
	// Deleted confirms that an account was deleted.
	Deleted Kind = "deleted"
)

// All returns all kinds of emails, for previews and tests of your own emails.
func All() []Kind {
	return []Kind{
		SignIn, Reauth, Verify, Exists, Reset, PasswordChanged, AddressChange,
		AddressChanged, PasskeyAdded, PasskeyRemoved, AccountLinked, AccountUnlinked,
		FactorAdded, FactorRemoved, FactorsReset, RecoveryUsed, RecoveryRenewed,
		FactorGuessed, NewDevice, KeyCreated, KeyExpiring, Invite, Deleted,
	}
}
