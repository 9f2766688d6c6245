// Package mailkind has the kinds of the emails that core and its plugins send.
package mailkind

// Kind is the kind of an email.
type Kind string

// The kinds of emails. A URL opens a page of this site, which asks for confirmation before a change that cannot be
// undone. The page "This wasn't me" has a button that ends all sessions and undoes the reported change. Without
// plugins/account, the URL opens the page to request a password reset instead.
const (
	// SignIn contains a link or a code to sign in.
	SignIn Kind = "sign-in"
	// Reauth contains a code for a signed-in user who must authenticate again. It has no URL.
	Reauth Kind = "reauth"
	// Verify is sent to an address that signs up. The URL completes the sign-up.
	Verify Kind = "verify"
	// Exists is sent if a user signs up with the address of an existing account. The URL is the sign-in page.
	Exists Kind = "exists"
	// VerifyPasskey and ExistsPasskey are sent instead of Verify and Exists for a sign-up with a passkey. The URL of the
	// first one opens the page that creates the passkey.
	VerifyPasskey Kind = "verify-passkey"
	ExistsPasskey Kind = "exists-passkey"
	// Reset is sent after a request for a password reset. The URL is the form for a new password.
	Reset Kind = "reset"
	// PasswordChanged reports that a password was set, changed or removed. The URL is the page "This wasn't me".
	PasswordChanged Kind = "password-changed"
	// AddressChange is sent to the new address of a user. The URL verifies it.
	AddressChange Kind = "email-change"
	// AddressChanged is sent to the old address after a change. The URL undoes the change. If the old address was not
	// verified, there is no URL.
	AddressChanged Kind = "email-changed"
	// PasskeyAdded and PasskeyRemoved report that a passkey was added or removed. The URL is the page "This wasn't me".
	PasskeyAdded   Kind = "passkey-added"
	PasskeyRemoved Kind = "passkey-removed"
	// AccountLinked and AccountUnlinked report that an account at a provider was linked or unlinked. Service is the
	// provider's name. The URL is the page "This wasn't me".
	AccountLinked   Kind = "account-linked"
	AccountUnlinked Kind = "account-unlinked"
	// FactorAdded and FactorRemoved report that a second factor, such as an authenticator app, was added or removed.
	// FactorsReset reports that support removed all of them. The URL is the page "This wasn't me".
	FactorAdded   Kind = "factor-added"
	FactorRemoved Kind = "factor-removed"
	FactorsReset  Kind = "factors-reset"
	// RecoveryUsed reports that a recovery code was used instead of another second factor. RecoveryRenewed reports that a
	// new set of recovery codes replaced the old one. The URL is the page "This wasn't me".
	RecoveryUsed    Kind = "recovery-used"
	RecoveryRenewed Kind = "recovery-renewed"
	// FactorGuessed reports many wrong codes after the first factor of sign-ins: their sender may know the password. The
	// URL is the form for a new password, or for users without a password the page "This wasn't me".
	FactorGuessed Kind = "factor-guessed"
	// NewDevice reports a sign-in in a new browser. The URL is the page "This wasn't me".
	NewDevice Kind = "new-device"
	// KeyCreated reports that an API key was created or replaced. The URL is the page "This wasn't me".
	KeyCreated Kind = "key-created"
	// KeyExpiring reports that an API key expires soon, at the time At. The URL is the page of the user's API keys.
	KeyExpiring Kind = "key-expiring"
	// Invite is an invitation. The URL is the page to sign up.
	Invite Kind = "invite"
	// OrganizationInvite is an invitation to join an organization. The URL is the page to accept it, after a sign-in or
	// sign-up. Organization is the organization's name, if an email can contain it.
	OrganizationInvite Kind = "organization-invite"
	// OrganizationKey reports that the user created an API key of an organization. The URL is the page "This wasn't me".
	OrganizationKey Kind = "organization-key"
	// OrganizationRequest reports to members who can accept it that a user asked to join their organization. The URL is
	// the page of the requests. OrganizationJoined reports to that user that the request was accepted. The URL is the page
	// of the user's organizations. Organization is as in an invitation.
	OrganizationRequest Kind = "organization-request"
	OrganizationJoined  Kind = "organization-joined"
	// WebhookDisabled reports to the operators of a site that an endpoint for webhooks was disabled, at the time At.
	// Service is the host of the endpoint. The URL is the page of the endpoints, if managers have one.
	WebhookDisabled Kind = "webhook-disabled"
	// DeletionScheduled reports that an account will be deleted, at the time At. The URL is a page to keep it.
	DeletionScheduled Kind = "deletion-scheduled"
	// Deleted confirms that an account was deleted. It has no URL.
	Deleted Kind = "deleted"
)

// All returns all kinds of emails, for previews and tests of your own emails.
func All() []Kind {
	return []Kind{
		SignIn, Reauth, Verify, Exists, VerifyPasskey, ExistsPasskey, Reset, PasswordChanged, AddressChange,
		AddressChanged, PasskeyAdded, PasskeyRemoved, AccountLinked, AccountUnlinked,
		FactorAdded, FactorRemoved, FactorsReset, RecoveryUsed, RecoveryRenewed,
		FactorGuessed, NewDevice, KeyCreated, KeyExpiring, Invite, OrganizationInvite,
		OrganizationKey, OrganizationRequest, OrganizationJoined, WebhookDisabled, DeletionScheduled, Deleted,
	}
}
