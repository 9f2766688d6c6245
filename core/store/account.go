package store

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"time"
)

// ProviderType is the type of a provider and of its accounts.
type ProviderType string

// The provider types.
const (
	TypeOAuth       ProviderType = "oauth"       // OAuth 2.0 and OAuth 1.0a
	TypeOIDC        ProviderType = "oidc"        // OpenID Connect
	TypeEmail       ProviderType = "email"       // links and codes by email
	TypeCredentials ProviderType = "credentials" // a form, such as name and password
	TypeWebAuthn    ProviderType = "webauthn"    // passkeys
)

// Account links a user to their account at a provider.
type Account struct {
	// UserID is the ID of the owner. It is empty if the account is not linked yet.
	UserID string
	// Type is the provider's type.
	Type ProviderType
	// Provider is the provider's ID.
	Provider string
	// ProviderAccountID is the ID of the account at the provider. For email it is the address, and for credentials the
	// user's ID.
	ProviderAccountID string
	// AccessToken, RefreshToken and IDToken are the tokens from the token endpoint.
	AccessToken, RefreshToken, IDToken Secret
	// Scope is the granted scope as the provider returned it.
	Scope string
	// TokenType is in lower case, because it is case-insensitive (RFC 6749 section 5.1).
	TokenType string
	// ExpiresIn is the lifetime of the access token as returned, in whole seconds. It is zero if the provider returned
	// none. It is not stored.
	ExpiresIn time.Duration
	// ExpiresAt is when the access token expires, in whole seconds. Zero means unknown. Tables and JSON contain Unix
	// seconds: see [Account.ExpiresAtUnix].
	ExpiresAt time.Time
	// SessionState is the provider's session_state as raw JSON. It is nil if there is none.
	SessionState json.RawMessage
	// AuthorizationDetails are the authorization_details (RFC 9396) as raw JSON. It is nil if there are none.
	AuthorizationDetails json.RawMessage
	// Extra contains further members. Stores keep and return them. They are never logged, because a member can be a
	// token.
	Extra Members
	// VerifiedEmail is the canonical email address that the provider reported as verified at the last sign-in. It is
	// empty if the provider reported none. Core sets it before it stores an account, and reads it when another sign-in is
	// the first to verify that address: see docs/accounts.md. A store may omit it; the address then counts as not
	// verified by the provider. It is never sent to the browser.
	VerifiedEmail string
	// Label is the email address or user name in the profile of the last sign-in. The account page shows it, so that the
	// owner recognizes the account. It is not verified. Core sets it before it stores an account. A store may omit it.
	Label string
}

// Names of stored members: of [Account.VerifiedEmail] and [Account.Label].
const (
	emailProvedMember = "email_proved"
	labelMember       = "account_label"
)

// StoredMembers returns the members for a store that keeps VerifiedEmail and Label among them: Extra and, unless they
// are empty, VerifiedEmail as the member email_proved and Label as the member account_label. Members of these names in
// Extra are left out.
func (a *Account) StoredMembers() Members {
	_, proved := a.Extra[emailProvedMember]
	_, labeled := a.Extra[labelMember]
	if a.VerifiedEmail == "" && a.Label == "" && !proved && !labeled {
		return a.Extra
	}
	m := maps.Clone(a.Extra)
	for name, text := range map[string]string{emailProvedMember: a.VerifiedEmail, labelMember: a.Label} {
		delete(m, name)
		if text != "" {
			_ = m.Set(name, text) // a text can be encoded
		}
	}
	return m
}

// SetStoredMembers sets Extra, VerifiedEmail and Label from the result of StoredMembers. It keeps m.
func (a *Account) SetStoredMembers(m Members) {
	a.VerifiedEmail, a.Label = m.Text(emailProvedMember), m.Text(labelMember)
	delete(m, emailProvedMember)
	if delete(m, labelMember); len(m) == 0 {
		m = nil
	}
	a.Extra = m
}

// ExpiresAtUnix returns ExpiresAt in Unix seconds for stores. It returns 0 if it is unknown.
func (a *Account) ExpiresAtUnix() int64 {
	if a.ExpiresAt.IsZero() {
		return 0
	}
	return a.ExpiresAt.Unix()
}

// SetExpiresAtUnix sets ExpiresAt to a result of ExpiresAtUnix.
func (a *Account) SetExpiresAtUnix(seconds int64) {
	if a.ExpiresAt = (time.Time{}); seconds != 0 {
		a.ExpiresAt = time.Unix(seconds, 0).UTC()
	}
}

// LogValue returns the provider, type and user ID, and no tokens.
func (a Account) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("provider", a.Provider), slog.String("type", string(a.Type)), slog.String("user_id", a.UserID),
	)
}

// String returns the provider, and no tokens.
func (a Account) String() string { return fmt.Sprintf("account of provider %q", a.Provider) }

// Format prevents every fmt verb from printing tokens, including those in Extra.
func (a Account) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(a.String())) }

// Clone returns a copy with its own map. It returns nil for nil.
func (a *Account) Clone() *Account {
	if a == nil {
		return nil
	}
	c := *a
	c.Extra = maps.Clone(a.Extra)
	return &c
}

const redacted = "[redacted]"

// Secret is a string that must never be printed, such as a client secret, token or code verifier. All ways of
// formatting, logging or encoding it show a placeholder. Only the conversion string(s) returns its value. The zero
// value means "no secret".
type Secret string

// String returns a placeholder, or an empty string for an empty Secret, so that output shows whether the secret is set.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString returns a placeholder for %#v.
func (s Secret) GoString() string { return fmt.Sprintf("store.Secret(%q)", s.String()) }

// Format prints a placeholder for all fmt verbs, including %x and %q.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue returns a placeholder for package slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns a placeholder for encoding/json and similar packages. To store the value, convert it to string.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
