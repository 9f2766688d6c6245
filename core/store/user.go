package store

import (
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// Nulls is the set of empty string fields of a [User], or of core's Token, that are null rather than absent in JSON.
// Auth.js distinguishes the two; most applications need not.
type Nulls uint8

// The fields that can be null.
const (
	NullName  Nulls = 1 << iota // the name is null
	NullEmail                   // the email address is null
	NullImage                   // the image, or the picture claim of a token, is null
)

// User is a user in a provider's profile, in a store or in a session. The zero value is an unknown user.
type User struct {
	// ID identifies the user in the store. In a profile mapping it is the ID of the account at the provider.
	ID string
	// Name, Email and Image are empty if they are unknown.
	Name, Email, Image string
	// Null is the set of empty fields that are null, rather than absent, in JSON and in a database.
	Null Nulls
	// EmailVerified is when the address was first verified. Zero means never.
	EmailVerified time.Time
	// Extra contains further members, such as additional columns of a store or additional fields of a profile mapping.
	Extra Members
	// Stored marks a user that a store returned. Its emailVerified is written to JSON even if it is null. [User.AsStored]
	// sets it.
	Stored bool
}

// AsStored returns the user as a store must return it: all standard members are written to JSON, and empty ones are
// null.
func (u User) AsStored() *User {
	u.Stored = true
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

// Clone returns a copy with its own map. It returns nil for nil.
func (u *User) Clone() *User {
	if u == nil {
		return nil
	}
	c := *u
	c.Extra = maps.Clone(u.Extra)
	return &c
}

// MarshalJSON writes id, name, email, image, emailVerified and the further members.
func (u User) MarshalJSON() ([]byte, error) { return u.AppendJSON(nil, u.ID), nil }

// AppendJSON appends what MarshalJSON returns, with another ID. If id is empty, the member is omitted, as in sessions.
func (u *User) AppendJSON(dst []byte, id string) []byte {
	dst = append(dst, '{')
	dst = exactjson.AppendField(dst, "id", id, false)
	dst = exactjson.AppendField(dst, "name", u.Name, u.Null&NullName != 0)
	dst = exactjson.AppendField(dst, "email", u.Email, u.Null&NullEmail != 0)
	dst = exactjson.AppendField(dst, "image", u.Image, u.Null&NullImage != 0)
	switch {
	case !u.EmailVerified.IsZero():
		dst = exactjson.AppendTime(exactjson.AppendName(dst, "emailVerified"), u.EmailVerified)
	case u.Stored:
		dst = append(exactjson.AppendName(dst, "emailVerified"), "null"...)
	}
	dst = exactjson.AppendMembers(dst, u.Extra, func(name string) bool {
		if name == "id" {
			return id != ""
		}
		return u.writes(name)
	})
	return append(dst, '}')
}

// writes reports whether a member of that name, except id, is written from a field.
func (u *User) writes(name string) bool {
	switch name {
	case "name":
		return u.Name != "" || u.Null&NullName != 0
	case "email":
		return u.Email != "" || u.Null&NullEmail != 0
	case "image":
		return u.Image != "" || u.Null&NullImage != 0
	case "emailVerified":
		return u.Stored || !u.EmailVerified.IsZero()
	}
	return false
}

// UnmarshalJSON reads what MarshalJSON returns. Names are compared exactly and must not be repeated. Members without a
// field, or with another type than the field, are stored in Extra.
func (u *User) UnmarshalJSON(data []byte) error {
	*u = User{}
	err := exactjson.Object(data, u.readMember)
	if err != nil {
		return fmt.Errorf("store: user: %w", err)
	}
	return nil
}

// readMember sets the field of a member, or adds the member to Extra.
func (u *User) readMember(name string, raw []byte) error {
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
		u.Stored = true
	case name == "emailVerified" && isText:
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return fmt.Errorf("emailVerified is not an RFC 3339 time: %w", err)
		}
		u.EmailVerified = at
	default:
		exactjson.Keep(&u.Extra, name, raw)
	}
	return nil
}

// when returns bit if a value is null.
func when(null bool, bit Nulls) Nulls {
	if null {
		return bit
	}
	return 0
}

// LogValue returns only the ID: names and addresses do not belong in logs.
func (u User) LogValue() slog.Value { return slog.GroupValue(slog.String("id", u.ID)) }
