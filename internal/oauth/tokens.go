package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/oidc"
)

// Tokens is the response of a token endpoint (RFC 6749 section 5.1). Only access_token and token_type can make it
// invalid: an optional member that cannot be read counts as absent and is kept in Extra, because the response may
// contain the only copy of a rotated refresh token.
type Tokens struct {
	AccessToken, RefreshToken, IDToken string
	// TokenType is in lower case.
	TokenType, Scope string
	// ExpiresIn is the lifetime of the access token in whole seconds, at most ten years. ExpiresAt is when it expires, in
	// whole seconds. Both are zero if the response has no valid expires_in.
	ExpiresIn time.Duration
	ExpiresAt time.Time
	// Extra contains the other members of the response. It also has the original of each member that was changed or
	// ignored: an expires_in out of range, or a refresh_token, id_token or scope of another type.
	Extra map[string]json.RawMessage
	// Now is when the response arrived.
	Now time.Time
}

// readTokens reads a token response.
func readTokens(body []byte, now time.Time) (*Tokens, error) {
	var t *Tokens
	err := exactjson.Tolerant(body, oidc.Trusted, func(body []byte) error {
		t = &Tokens{Now: now}
		return exactjson.ObjectParts(body, t.member)
	})
	if err != nil {
		return nil, err
	}
	t.TokenType = strings.ToLower(t.TokenType)
	return t, t.check()
}

// member reads one member. text and raw are the same value.
func (t *Tokens) member(name, text string, raw []byte) error {
	switch name {
	case "access_token":
		return readRequired(name, text, &t.AccessToken)
	case "token_type":
		return readRequired(name, text, &t.TokenType)
	}
	if exactjson.IsNull(raw) && isTokenMember(name) {
		return nil
	}
	used := false
	switch name {
	case "refresh_token":
		t.RefreshToken, used = exactjson.TextOf(text)
	case "id_token":
		t.IDToken, used = exactjson.TextOf(text)
	case "scope":
		t.Scope, used = readScope(text, raw)
	case "expires_in":
		used = t.readLifetime(raw)
	}
	if !used {
		exactjson.Keep(&t.Extra, name, raw)
	}
	return nil
}

// isTokenMember reports whether [Tokens] has a field for a member.
func isTokenMember(name string) bool {
	switch name {
	case "access_token", "token_type", "refresh_token", "id_token", "scope", "expires_in":
		return true
	}
	return false
}

// readRequired reads a required string member. null leaves it empty.
func readRequired(name, raw string, into *string) error {
	s, ok := exactjson.TextOf(raw)
	if !ok && !exactjson.IsNull(raw) {
		return fmt.Errorf("%s is not a string", name)
	}
	*into = s
	return nil
}

// readScope reads scope: a string (RFC 6749 section 3.3), or the list of strings that some services send.
func readScope(text string, raw []byte) (scope string, ok bool) {
	if scope, ok = exactjson.TextOf(text); ok {
		return withoutControls(scope), true
	}
	v, err := exactjson.Decode(raw)
	list, isList := v.([]any)
	if err != nil || !isList {
		return "", false
	}
	scopes := make([]string, len(list))
	for i, v := range list {
		if scopes[i], ok = v.(string); !ok {
			return "", false
		}
	}
	return withoutControls(strings.Join(scopes, " ")), true
}

// withoutControls removes control characters, which are invalid in a scope and rejected by databases.
func withoutControls(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// maxLifetime is the maximum lifetime of an access token. It prevents overflows.
const maxLifetime = 10 * 366 * 24 * time.Hour

// readLifetime reads expires_in and reports whether the value is in range. A fraction is rounded down, a text is
// read as the number in it, and a lifetime above ten years is clipped. Anything else is no lifetime: the member is only
// RECOMMENDED (RFC 6749 section 5.1).
func (t *Tokens) readLifetime(raw []byte) (inRange bool) {
	number := raw
	if s, ok := exactjson.Text(raw); ok {
		number = []byte(s)
	}
	n, ok := exactjson.Floor(number)
	const most = int64(maxLifetime / time.Second)
	inRange = ok && n >= 0 && n <= most
	if !inRange {
		if !isNumber(number) {
			return false
		}
		n = most
	}
	t.ExpiresIn = time.Duration(n) * time.Second
	t.ExpiresAt = t.Now.Add(t.ExpiresIn).UTC().Truncate(time.Second)
	return inRange
}

// isNumber reports whether raw is a JSON number that is not negative.
func isNumber(raw []byte) bool {
	return len(raw) > 0 && raw[0] >= '0' && raw[0] <= '9' && json.Valid(raw)
}

// check refuses a response without an access token, tokens that no header can carry, and token types other than bearer.
func (t *Tokens) check() error {
	for name, token := range map[string]string{
		"access_token": t.AccessToken, "refresh_token": t.RefreshToken, "id_token": t.IDToken,
	} {
		if !exactjson.IsClean(token) {
			return fmt.Errorf("%s has control or malformed characters", name)
		}
	}
	switch {
	case t.AccessToken == "":
		return errors.New("no access_token")
	case t.TokenType == "":
		return errors.New("no token_type: a ConformToken function can add it")
	case t.TokenType != "bearer":
		return fmt.Errorf("token_type %.20q is not supported, only bearer", t.TokenType)
	}
	return nil
}

// Members returns the names of the members of the response, sorted, for logs.
func (t *Tokens) Members() []string {
	members := slices.Collect(maps.Keys(t.Extra))
	for name, there := range map[string]bool{
		"access_token": t.AccessToken != "", "refresh_token": t.RefreshToken != "", "id_token": t.IDToken != "",
		"token_type": t.TokenType != "", "scope": t.Scope != "", "expires_in": !t.ExpiresAt.IsZero(),
	} {
		if there {
			members = append(members, name)
		}
	}
	slices.Sort(members)
	return members
}
