package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// Tokens are the answer of a token endpoint (RFC 6749 section 5.1).
type Tokens struct {
	AccessToken, RefreshToken, IDToken string
	// TokenType is in lower case.
	TokenType, Scope string
	// ExpiresIn is the lifetime of the access token in whole seconds, and ExpiresAt when it ends, to the second; both are
	// zero when the answer has no expires_in.
	ExpiresIn time.Duration
	ExpiresAt time.Time
	// Extra are the other members of the answer.
	Extra map[string]json.RawMessage
	// Now is when the answer came.
	Now time.Time
}

// readTokens reads a token answer.
func readTokens(body []byte, now time.Time) (*Tokens, error) {
	t := &Tokens{Now: now}
	err := exactjson.ObjectParts(body, func(name, text string, raw []byte) error {
		field := t.text(name)
		switch {
		case field != nil:
			return readText(name, text, field)
		case name == "expires_in" && !exactjson.IsNull(raw):
			return t.readLifetime(raw)
		}
		exactjson.Keep(&t.Extra, name, raw)
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.TokenType = strings.ToLower(t.TokenType)
	return t, t.check()
}

// text is the field of a member that is text; nil: it is none.
func (t *Tokens) text(name string) *string {
	switch name {
	case "access_token":
		return &t.AccessToken
	case "refresh_token":
		return &t.RefreshToken
	case "id_token":
		return &t.IDToken
	case "token_type":
		return &t.TokenType
	case "scope":
		return &t.Scope
	}
	return nil
}

// readText reads a member that is text; null leaves it empty.
func readText(name, raw string, into *string) error {
	s, ok := exactjson.TextOf(raw)
	if !ok && !exactjson.IsNull(raw) {
		return fmt.Errorf("%s is no text", name)
	}
	*into = s
	return nil
}

// readLifetime reads expires_in.
func (t *Tokens) readLifetime(raw []byte) error {
	n, ok := seconds(raw)
	if !ok {
		return errors.New("expires_in is no number of seconds")
	}
	t.ExpiresIn = time.Duration(n) * time.Second
	t.ExpiresAt = t.Now.Add(t.ExpiresIn).UTC().Truncate(time.Second)
	return nil
}

// check refuses an answer that lacks what it must have, and tokens of a type that we do not send.
func (t *Tokens) check() error {
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

// seconds reads a number of seconds, also from the text that some providers send.
func seconds(raw []byte) (int64, bool) {
	if s, ok := exactjson.Text(raw); ok {
		raw = []byte(s)
	}
	n, ok := exactjson.Int64(raw)
	const tenYears = 10 * 366 * 24 * 3600
	return n, ok && n >= 0 && n <= tenYears
}
