// Package amr has the names of authentication methods, as in the claim amr of RFC 8176.
package amr

// Method is an authentication method: a value of RFC 8176 section 2 where it defines one. The methods of a session say
// how the user signed in here, not what a provider required of the user. For a sign-in with a provider the only method
// is [Federated].
type Method string

// The authentication methods.
const (
	// Password is a password, or any other credentials that a CredentialsProvider checks.
	Password Method = "pwd"
	// OTP is a one-time password.
	OTP Method = "otp"
	// HardwareKey is a passkey that stays on its device. SoftwareKey is a synced passkey.
	HardwareKey Method = "hwk"
	SoftwareKey Method = "swk"
	// User is user verification by the device (fingerprint, face or PIN), in addition to a passkey.
	User Method = "user"
	// Multiple is more than one factor.
	Multiple Method = "mfa"
	// Federated is a sign-in with a provider. RFC 8176 does not define this value.
	Federated Method = "fed"
	// Mail is a link or code that was sent by email. RFC 8176 does not define this value.
	Mail Method = "mail"
	// Guest is the method of the sessions of guests, who have not authenticated. RFC 8176 does not define this value.
	Guest Method = "guest"
)
