package core

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// Nulls names the empty text fields of a [User] or [Token] that are null rather than absent. The wire format of the reference
// tells the two apart; most applications need not.
type Nulls uint8

// The fields that can be null.
const (
	NullName Nulls = 1 << iota
	NullEmail
	NullImage // the picture claim of a Token
)

// User is a person, as a profile describes them, as a store keeps them, or as a session shows them (SPEC 2.2 and 2.3).
// The zero value is an unknown person.
type User struct {
	// ID identifies the user in the store. In a profile mapping it is the provider's id of the account.
	ID string
	// Name, Email and Image are empty when unknown.
	Name, Email, Image string
	// Null says which of the empty fields are null in JSON and in a database, rather than absent.
	Null Nulls
	// EmailVerified is when the user first proved the address; zero: never.
	EmailVerified time.Time
	// Extra are further members: own columns of a store, own fields of a profile mapping.
	Extra Members

	// stored marks a record of a store, whose emailVerified is written even when it is null.
	stored bool
}

// NewID returns a fresh id for a user that the application writes to the store itself: a random UUID (RFC 9562 version 4) in lower
// case, which every store takes.
func NewID() string {
	id, _ := uuid(rand.Reader) // crypto/rand never fails
	return id
}

// AsStored returns the user as a record of a store: every standard member is written to JSON, null where it is empty.
// Stores call it on what they return.
func (u User) AsStored() *User {
	u.stored = true
	if u.Name == "" && u.Null&NullName == 0 {
		u.Null |= NullName
	}
	if u.Email == "" {
		u.Null |= NullEmail
	}
	if u.Image == "" {
		u.Null |= NullImage
	}
	return &u
}

// MarshalJSON writes id, name, email, image, emailVerified and the further members.
func (u User) MarshalJSON() ([]byte, error) { return u.appendJSON(nil), nil }

func (u *User) appendJSON(dst []byte) []byte { return u.appendAs(dst, u.ID) }

// appendAs writes the user with an id of the caller's choice, none when it is empty.
func (u *User) appendAs(dst []byte, id string) []byte {
	dst = append(dst, '{')
	dst = appendField(dst, "id", id, false)
	dst = appendField(dst, "name", u.Name, u.Null&NullName != 0)
	dst = appendField(dst, "email", u.Email, u.Null&NullEmail != 0)
	dst = appendField(dst, "image", u.Image, u.Null&NullImage != 0)
	switch {
	case !u.EmailVerified.IsZero():
		dst = appendJSONText(appendName(dst, "emailVerified"), isoTime(u.EmailVerified))
	case u.stored:
		dst = append(appendName(dst, "emailVerified"), "null"...)
	}
	dst = u.Extra.appendTo(dst, func(name string) bool {
		if name == "id" {
			return id != ""
		}
		return u.writes(name)
	})
	return append(dst, '}')
}

// writes tells whether a member of that name, other than id, is written from a field.
func (u *User) writes(name string) bool {
	switch name {
	case "name":
		return u.Name != "" || u.Null&NullName != 0
	case "email":
		return u.Email != "" || u.Null&NullEmail != 0
	case "image":
		return u.Image != "" || u.Null&NullImage != 0
	case "emailVerified":
		return u.stored || !u.EmailVerified.IsZero()
	}
	return false
}

// UnmarshalJSON reads what MarshalJSON writes. Names are matched exactly and may come once; what has no field, or another
// type than the field, is kept in Extra.
func (u *User) UnmarshalJSON(data []byte) error {
	*u = User{}
	err := exactjson.Object(data, func(name string, raw []byte) error {
		text, isText := exactjson.Text(raw)
		null := exactjson.IsNull(raw)
		switch {
		case name == "id" && isText:
			u.ID = text
		case name == "name" && (isText || null):
			u.Name, u.Null = text, u.Null|when(null, NullName)
		case name == "email" && (isText || null):
			u.Email, u.Null = text, u.Null|when(null, NullEmail)
		case name == "image" && (isText || null):
			u.Image, u.Null = text, u.Null|when(null, NullImage)
		case name == "emailVerified" && null:
			u.stored = true
		case name == "emailVerified" && isText:
			at, err := time.Parse(time.RFC3339Nano, text)
			if err != nil {
				return fmt.Errorf("emailVerified is no RFC 3339 time: %w", err)
			}
			u.EmailVerified = at
		default:
			u.Extra.keep(name, raw)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("core: user: %w", err)
	}
	return nil
}

// LogValue shows the id only: names and addresses do not belong into logs.
func (u User) LogValue() slog.Value { return slog.GroupValue(slog.String("id", u.ID)) }

func when(is bool, bit Nulls) Nulls {
	if is {
		return bit
	}
	return 0
}

// Account links a user to their account at a provider (SPEC 2.5).
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
	// ExpiresIn is the lifetime of the access token in seconds as returned; nil when the provider named none. It is not stored.
	ExpiresIn *int64
	// ExpiresAt is when the access token expires, in Unix seconds; 0 when unknown.
	ExpiresAt int64
	// SessionState is the provider's session_state as raw JSON; nil when there is none.
	SessionState json.RawMessage
	// AuthorizationDetails are those of RFC 9396 as raw JSON; nil when there are none.
	AuthorizationDetails json.RawMessage
	// Extra are further members. Stores keep and return them; a member can be a token, so they are not logged.
	Extra Members
	// EmailProved is the e-mail address, in its normal form, of which the provider said at the last sign-in that it is this person's;
	// empty when it did not. Core fills it in before it stores an account and asks for it when somebody is the first to prove that
	// address: see docs/accounts.md. A store without room for it may forget it, and then nobody vouched. It does not reach the browser.
	EmailProved string
}

// emailProvedMember is how [Account.EmailProved] is called among the members that a store keeps.
const emailProvedMember = "email_proved"

// StoredMembers returns the further members for a store that keeps EmailProved among them: Extra and, unless it is empty, the member
// email_proved. Nothing of that name in Extra passes.
func (a *Account) StoredMembers() Members {
	_, foreign := a.Extra[emailProvedMember]
	if a.EmailProved == "" && !foreign {
		return a.Extra
	}
	m := cloneMembers(a.Extra)
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

// LogValue shows which account it is and none of its tokens.
func (a Account) LogValue() slog.Value {
	return slog.GroupValue(slog.String("provider", a.Provider), slog.String("type", string(a.Type)), slog.String("user_id", a.UserID))
}

// String shows which account it is and none of its tokens.
func (a Account) String() string { return fmt.Sprintf("account of provider %q", a.Provider) }

// Format keeps tokens out of every fmt verb, those of Extra included.
func (a Account) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(a.String())) }

// clone returns a copy whose maps are its own, so that a callback cannot change what the flow goes on with.
func (a *Account) clone() *Account {
	if a == nil {
		return nil
	}
	c := *a
	c.Extra = cloneMembers(a.Extra)
	return &c
}

func (u *User) clone() *User {
	if u == nil {
		return nil
	}
	c := *u
	c.Extra = cloneMembers(u.Extra)
	return &c
}

func cloneMembers(m Members) Members {
	if m == nil {
		return nil
	}
	c := make(Members, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// isoTime formats a time the way JavaScript's toISOString does: UTC, milliseconds.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
