package core

import (
	"log/slog"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/oidc"
)

// Profile contains a provider's data about a user: the claims of the ID token, or the members of the userinfo response.
// Names are exact, and numbers have type [json.Number].
type Profile map[string]any

// UnmarshalJSON decodes an object with exact names and exact numbers. A duplicate name is an error. Malformed text
// (half a surrogate pair, bytes that are not UTF-8, raw control characters) is replaced with U+FFFD or escaped. In
// members that identify the user or are secret, such as sub, id, email and access_token, it is an error.
func (p *Profile) UnmarshalJSON(data []byte) error {
	members, err := exactjson.DecodeObjectTolerant(data, oidc.Trusted)
	if err != nil {
		return err
	}
	*p = members
	return nil
}

// Text returns a member as text: a string, or a number in decimal form. It returns "" if the member is missing, null or
// has another type.
func (p Profile) Text(name string) string { return exactjson.TextIn(p, name) }

// Object returns a member that is an object, otherwise nil. A nil Profile has no members, so calls can be chained.
func (p Profile) Object(name string) Profile {
	m, _ := p[name].(map[string]any)
	return m
}

// List returns a member that is an array, otherwise nil.
func (p Profile) List(name string) []any { l, _ := p[name].([]any); return l }

// Bool reports whether a member is true.
func (p Profile) Bool(name string) bool { b, _ := p[name].(bool); return b }

// there returns the first of the names whose member exists and is not null.
func (p Profile) there(names ...string) string {
	for _, n := range names {
		if p[n] != nil {
			return n
		}
	}
	return ""
}

// First returns the text of the first member in names that is not empty.
func (p Profile) First(names ...string) string {
	for _, n := range names {
		if s := p.Text(n); s != "" {
			return s
		}
	}
	return ""
}

// Person is a provider's profile in the form that core uses, returned by an [OAuthProvider].Profile function. At the
// first sign-in a user with this name, email and image is created, with a new ID.
type Person struct {
	// AccountID is the user's ID at the provider. It must never be empty, and never change for the same person.
	AccountID string
	// Name, Email and Image may be empty.
	Name, Email, Image string
	// Null lists the empty fields that are null in the JSON of a session, instead of missing.
	Null store.Nulls
	// Extra are further members for the user.
	Extra Members
}

// LogValue returns only the account ID, so that names and addresses are not logged.
func (p Person) LogValue() slog.Value { return slog.GroupValue(slog.String("account_id", p.AccountID)) }
