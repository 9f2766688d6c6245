package store

import (
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// Nulls names the empty text fields of a [User], or of core's Token, that are null rather than absent. The wire format
// of the reference tells the two apart; most applications need not.
type Nulls uint8

// The fields that can be null.
const (
	NullName Nulls = 1 << iota
	NullEmail
	NullImage // the picture claim of a token
)

// User is a person, as a profile describes them, as a store keeps them, or as a session shows them. The zero value is
// an unknown person.
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
	// Stored marks a record of a store, whose emailVerified is written to JSON even when it is null. [User.AsStored] sets
	// it.
	Stored bool
}

// AsStored returns the user as a record of a store: every standard member is written to JSON, null where it is empty.
// Stores call it on what they return.
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

// Clone returns a copy whose map is its own; nil stays nil.
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

// AppendJSON appends what MarshalJSON writes, with an id of the caller's choice and none when it is empty: a session
// shows a user without.
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

// writes reports whether a member of that name, other than id, is written from a field.
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

// UnmarshalJSON reads what MarshalJSON writes. Names are matched exactly and may come once; what has no field, or
// another type than the field, is kept in Extra.
func (u *User) UnmarshalJSON(data []byte) error {
	*u = User{}
	err := exactjson.Object(data, u.readMember)
	if err != nil {
		return fmt.Errorf("store: user: %w", err)
	}
	return nil
}

// readMember fills the field of one member, or keeps the member.
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
			return fmt.Errorf("emailVerified is no RFC 3339 time: %w", err)
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

// LogValue shows the id only: names and addresses do not belong into logs.
func (u User) LogValue() slog.Value { return slog.GroupValue(slog.String("id", u.ID)) }
