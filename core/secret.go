package core

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

// redacted is what every formatted or logged Secret shows.
const redacted = "[redacted]"

// Secret is a text that must never be printed: client secrets, tokens, verifiers. Every way of formatting or logging it shows
// a fixed placeholder; string(s) reveals it, deliberately and where a reader can find it. The zero value is "no secret".
type Secret string

// String hides the value. It is empty for an empty Secret, so that "not configured" can be told from "configured".
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString hides the value from %#v.
func (s Secret) GoString() string { return fmt.Sprintf("core.Secret(%q)", s.String()) }

// Format hides the value from every fmt verb, %x and %q included.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue hides the value from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the value from encoding/json and its relatives: what is meant to be stored reveals it by conversion.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// hiding is an error whose text leaves out tokens that got into it: from an address, or from the text of a provider's own function
// or of the operator's transport.
type hiding struct {
	err    error
	tokens []string
}

// Error is the text with a placeholder for each token.
func (e *hiding) Error() string {
	text := e.err.Error()
	for _, token := range e.tokens {
		text = strings.ReplaceAll(text, token, redacted)
	}
	return text
}

// Unwrap returns the error as it was.
func (e *hiding) Unwrap() error { return e.err }

// hide returns err with a text without these tokens, in any spelling that addresses have. Texts of fewer than eight characters are
// no tokens.
func (t *TokenSet) hide(err error) error {
	if err == nil {
		return nil
	}
	e := &hiding{err: err}
	oauth1 := []string{t.Extra.Text("oauth_token"), t.Extra.Text("oauth_token_secret")}
	for _, token := range append(oauth1, string(t.AccessToken), string(t.RefreshToken), string(t.IDToken)) {
		if len(token) >= 8 {
			e.tokens = append(e.tokens, token, url.QueryEscape(token), url.PathEscape(token))
		}
	}
	return e
}
