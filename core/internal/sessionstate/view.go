package sessionstate

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/sessiondata"
)

// View is what a browser receives of a session (docs/protocol.md §7.10).
type View struct {
	User    *store.User
	Expires time.Time
	Extra   store.Members
}

// Append appends the JSON form. id is the ID of the user, or "" if the browser does not receive it.
func (v *View) Append(dst []byte, id string) []byte {
	dst = append(dst, '{')
	if v.User != nil {
		dst = v.User.AppendJSON(exactjson.AppendName(dst, "user"), id)
	}
	if !v.Expires.IsZero() {
		dst = exactjson.AppendTime(exactjson.AppendName(dst, "expires"), v.Expires)
	}
	dst = exactjson.AppendMembers(dst, v.Extra, func(name string) bool {
		return name == "user" && v.User != nil || name == "expires" && !v.Expires.IsZero()
	})
	return append(dst, '}')
}

// Parse parses the JSON form that an Auth.js client or server sends.
func (v *View) Parse(data []byte) error {
	return exactjson.Object(data, func(name string, raw []byte) error {
		switch text, isText := exactjson.Text(raw); {
		case name == "user" && len(raw) > 0 && raw[0] == '{':
			v.User = &store.User{}
			return v.User.UnmarshalJSON(raw)
		case name == "expires" && isText:
			at, err := time.Parse(time.RFC3339Nano, text)
			if err != nil {
				return fmt.Errorf("expires is no RFC 3339 time: %w", err)
			}
			v.Expires = at
		default:
			exactjson.Keep(&v.Extra, name, raw)
		}
		return nil
	})
}

// WithData returns the token with this copy of the application's data, whatever the jwt callback has set. A nil raw
// removes the claim.
func WithData(t *token.Token, raw json.RawMessage) *token.Token {
	if string(t.Extra[sessiondata.Claim]) == string(raw) {
		return t
	}
	t = t.Clone()
	if raw == nil {
		delete(t.Extra, sessiondata.Claim)
		return t
	}
	if t.Extra == nil {
		t.Extra = store.Members{}
	}
	t.Extra[sessiondata.Claim] = raw
	return t
}
