package store

import (
	"fmt"
	"log/slog"
)

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
