package core

import (
	"encoding/json"
	"log/slog"
	"math/big"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/oidc"
	"github.com/latchkey-go/latchkey/core/store"
)

// Profile is a provider's answer about a person: the claims of an ID token or the userinfo body, names exact, numbers
// as [json.Number].
type Profile map[string]any

// UnmarshalJSON reads an object with exact names and exact numbers; a duplicate name is an error. Malformed text (half
// a surrogate pair, bytes that are not UTF-8, raw control characters) becomes U+FFFD or is escaped. It stays an error
// in members that identify the user or are secret, such as sub, id, email and access_token.
func (p *Profile) UnmarshalJSON(data []byte) error {
	members, err := decodeProfile(data)
	if err != nil {
		return err
	}
	*p = members
	return nil
}

// decodeProfile reads a provider's JSON object.
func decodeProfile(body []byte) (Profile, error) {
	members, err := exactjson.DecodeObjectTolerant(body, oidc.Trusted)
	return members, err
}

// Text returns the member as text: a string, or a number in its decimal form. "" when it is absent, null or of another
// shape.
func (p Profile) Text(name string) string {
	switch v := p[name].(type) {
	case string:
		return v
	case json.Number:
		return decimal(v)
	}
	return ""
}

// Object returns a member that is an object, nil otherwise; a nil Profile has no members, so look-ups can be chained.
func (p Profile) Object(name string) Profile {
	m, _ := p[name].(map[string]any)
	return m
}

// List returns a member that is an array, nil otherwise.
func (p Profile) List(name string) []any { l, _ := p[name].([]any); return l }

// Bool returns a member that is true.
func (p Profile) Bool(name string) bool { b, _ := p[name].(bool); return b }

// there names the first member that is there and not null.
func (p Profile) there(names ...string) string {
	for _, n := range names {
		if p[n] != nil {
			return n
		}
	}
	return ""
}

// First returns the first of the named members that is there as text.
func (p Profile) First(names ...string) string {
	for _, n := range names {
		if s := p.Text(n); s != "" {
			return s
		}
	}
	return ""
}

// decimal returns a JSON number as decimal text without exponent or needless fraction: account ids are compared as
// text, and a float on the way would make two large ids one.
func decimal(n json.Number) string {
	s := n.String()
	if !strings.ContainsAny(s, ".eE") {
		return s
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(s)-i > 4 { // 1e9999 would fill memory
		return s
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return s
	}
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(r.FloatString(20), "0")
}

// Person is what a provider's profile tells about a person: what a [OAuthProvider].Profile function returns. A visitor
// who signs in for the first time becomes a user of that name, address and picture, with an ID of its own.
type Person struct {
	// AccountID is the person's ID at the provider. It must stay the same for the same person, and is never empty.
	AccountID string
	// Name, Email and Image are what the provider shows of the person; empty: nothing.
	Name, Email, Image string
	// Null says which of the empty ones are null rather than absent, for the JSON of a session.
	Null store.Nulls
	// Extra are further members that the user gets.
	Extra Members
}

// LogValue shows the ID of the account only: names and addresses do not belong into logs.
func (p Person) LogValue() slog.Value { return slog.GroupValue(slog.String("account_id", p.AccountID)) }
