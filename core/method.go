package core

// Method is a way in which a visitor has proved who they are: an authentication method reference of RFC 8176 section 2
// where there is one for it. Those of a session say how it was begun, not what a provider asked of the visitor: "fed"
// is all that is known of a sign-in there.
type Method string

// The methods.
const (
	// MethodPassword is a password, or what else a CredentialsProvider checks.
	MethodPassword Method = "pwd"
	// MethodOTP is a one-time password.
	MethodOTP Method = "otp"
	// MethodHardwareKey and MethodSoftwareKey are passkeys: one that stays on its device, and one that is synced.
	MethodHardwareKey Method = "hwk"
	MethodSoftwareKey Method = "swk"
	// MethodUser is a user verified by their device, by fingerprint, face or PIN, on top of a passkey.
	MethodUser Method = "user"
	// MethodMultiple is more than one factor.
	MethodMultiple Method = "mca"
	// MethodFederated is a sign-in at a provider. It is ours, as RFC 8176 has no name for it.
	MethodFederated Method = "fed"
	// MethodMail is a link or code that was sent to a mailbox. It is ours, as RFC 8176 has no name for it.
	MethodMail Method = "mail"
)
