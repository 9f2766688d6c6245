package store

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"time"
)

// ProviderType is the kind of a provider and of its accounts.
type ProviderType string

// The provider types.
const (
	TypeOAuth       ProviderType = "oauth"
	TypeOIDC        ProviderType = "oidc"
	TypeEmail       ProviderType = "email"
	TypeCredentials ProviderType = "credentials"
	TypeWebAuthn    ProviderType = "webauthn"
)

// Account links a user to their account at a provider.
type Account struct {
	// UserID is the owning user; empty while the account is not linked yet.
	UserID string
	// Type is the provider's type.
	Type ProviderType
	// Provider is the provider's ID.
	Provider string
	// ProviderAccountID is the id of the account at the provider; for e-mail the address, for credentials the user's id.
	ProviderAccountID string
	// AccessToken, RefreshToken and IDToken are as the token endpoint returned them.
	AccessToken, RefreshToken, IDToken Secret
	// Scope is what was granted, as the provider wrote it.
	Scope string
	// TokenType is lower-case, as it is compared without regard to case (RFC 6749 section 5.1).
	TokenType string
	// ExpiresIn is the lifetime of the access token as returned, in whole seconds; zero when the provider named none. It
	// is not stored.
	ExpiresIn time.Duration
	// ExpiresAt is when the access token expires, to the second; zero: unknown. Tables and JSON keep Unix seconds: see
	// [Account.ExpiresAtUnix].
	ExpiresAt time.Time
	// SessionState is the provider's session_state as raw JSON; nil when there is none.
	SessionState json.RawMessage
	// AuthorizationDetails are those of RFC 9396 as raw JSON; nil when there are none.
	AuthorizationDetails json.RawMessage
	// Extra are further members. Stores keep and return them; a member can be a token, so they are not logged.
	Extra Members
	// EmailProved is the e-mail address, in its normal form, of which the provider said at the last sign-in that it is
	// this person's; empty when it did not. Core fills it in before it stores an account and asks for it when a visitor is
	// the first to prove that address: see docs/accounts.md. A store without room for it may forget it, and then the
	// address counts as not vouched for. It does not reach the browser.
	EmailProved string
}

// emailProvedMember is how [Account.EmailProved] is called among the members that a store keeps.
const emailProvedMember = "email_proved"

// StoredMembers returns the further members for a store that keeps EmailProved among them: Extra and, unless it is
// empty, the member email_proved. Nothing of that name in Extra passes.
func (a *Account) StoredMembers() Members {
	_, foreign := a.Extra[emailProvedMember]
	if a.EmailProved == "" && !foreign {
		return a.Extra
	}
	m := maps.Clone(a.Extra)
	delete(m, emailProvedMember)
	if a.EmailProved != "" {
		_ = m.Set(emailProvedMember, a.EmailProved) // a text can be encoded
	}
	return m
}

// SetStoredMembers takes apart what StoredMembers put together. It keeps m.
func (a *Account) SetStoredMembers(m Members) {
	a.EmailProved = m.Text(emailProvedMember)
	if delete(m, emailProvedMember); len(m) == 0 {
		m = nil
	}
	a.Extra = m
}

// ExpiresAtUnix returns ExpiresAt in Unix seconds, as stores keep it; 0 when it is unknown.
func (a *Account) ExpiresAtUnix() int64 {
	if a.ExpiresAt.IsZero() {
		return 0
	}
	return a.ExpiresAt.Unix()
}

// SetExpiresAtUnix sets ExpiresAt to what ExpiresAtUnix returned.
func (a *Account) SetExpiresAtUnix(seconds int64) {
	if a.ExpiresAt = (time.Time{}); seconds != 0 {
		a.ExpiresAt = time.Unix(seconds, 0).UTC()
	}
}

// LogValue shows which account it is and none of its tokens.
func (a Account) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("provider", a.Provider), slog.String("type", string(a.Type)), slog.String("user_id", a.UserID),
	)
}

// String shows which account it is and none of its tokens.
func (a Account) String() string { return fmt.Sprintf("account of provider %q", a.Provider) }

// Format keeps tokens out of every fmt verb, those of Extra included.
func (a Account) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(a.String())) }

// Clone returns a copy whose map is its own; nil stays nil.
func (a *Account) Clone() *Account {
	if a == nil {
		return nil
	}
	c := *a
	c.Extra = maps.Clone(a.Extra)
	return &c
}

// redacted is what every formatted or logged Secret shows.
const redacted = "[redacted]"

// Secret is a text that must never be printed: client secrets, tokens, verifiers. Every way of formatting or logging it
// shows a fixed placeholder; string(s) reveals it, deliberately and where a reader can find it. The zero value is "no
// secret".
type Secret string

// String hides the value. It is empty for an empty Secret, so that "not configured" can be told from "configured".
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString hides the value from %#v.
func (s Secret) GoString() string { return fmt.Sprintf("store.Secret(%q)", s.String()) }

// Format hides the value from every fmt verb, %x and %q included.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue hides the value from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the value from encoding/json and its relatives: what is meant to be stored reveals it by
// conversion.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
