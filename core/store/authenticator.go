package store

// Authenticator is a passkey.
type Authenticator struct {
	// CredentialID is the credential id in standard base64.
	CredentialID string
	// UserID is the owner.
	UserID string
	// ProviderAccountID is the account the credential belongs to.
	ProviderAccountID string
	// CredentialPublicKey is the COSE key in standard base64.
	CredentialPublicKey string
	// Counter is the signature counter last seen.
	Counter uint32
	// CredentialDeviceType is "singleDevice" or "multiDevice".
	CredentialDeviceType string
	// CredentialBackedUp reports whether the credential was backed up when last seen.
	CredentialBackedUp bool
	// Transports are the transports joined by commas; empty when unknown.
	Transports string
}
