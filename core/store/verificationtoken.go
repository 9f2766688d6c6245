package store

import "time"

// VerificationToken is the record behind a sign-in link that was sent by e-mail.
type VerificationToken struct {
	// Identifier is the e-mail address.
	Identifier string
	// Token is the hash of the token in the link.
	Token string
	// Expires is when the link stops working.
	Expires time.Time
}
