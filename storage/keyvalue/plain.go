package keyvalue

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core/store"
)

// Most users and session expiries are documents that contain only texts and nulls without escapes. This file decodes
// those, because every page request with a stored session reads one of each. All others are decoded by encoding/json.

// plainUser decodes the document of a user. ok is false if the document is not plain.
func plainUser(document string) (u store.User, ok bool) {
	ok = plain(document, func(name, value string, null bool) bool {
		switch name {
		case "id":
			u.ID = value
			return !null
		case "name":
			u.Name, u.Null = value, u.Null|nullIf(null, store.NullName)
		case "email":
			u.Email, u.Null = value, u.Null|nullIf(null, store.NullEmail)
		case "image":
			u.Image, u.Null = value, u.Null|nullIf(null, store.NullImage)
		case "emailVerified":
			return null || plainTime(value, &u.EmailVerified)
		default:
			return false
		}
		return true
	})
	return u, ok
}

func nullIf(null bool, bit store.Nulls) store.Nulls {
	if null {
		return bit
	}
	return 0
}

// plainEnd decodes the expiry of a session. ok is false if its document is not plain.
func plainEnd(document string) (at time.Time, ok bool) {
	ok = plain(document, func(name, value string, null bool) bool {
		return !null && (name == "sessionToken" || name == "expires" && plainTime(value, &at))
	})
	return at, ok && !at.IsZero()
}

func plainTime(text string, at *time.Time) bool {
	t, err := time.Parse(time.RFC3339Nano, text)
	*at = t
	return err == nil
}

// plain calls member for each member of a document until it returns false. The result is false if it did, or if the
// document is not plain.
func plain(document string, member func(name, value string, null bool) bool) bool {
	rest, ok := strings.CutPrefix(document, "{")
	if !ok || strings.IndexByte(rest, '\\') >= 0 || !utf8.ValidString(rest) {
		return false
	}
	for {
		var name, value string
		if name, rest, ok = quoted(rest); !ok || rest == "" || rest[0] != ':' {
			return false
		}
		after, null := strings.CutPrefix(rest[1:], "null")
		if !null {
			value, after, ok = quoted(rest[1:])
		}
		if !ok || !member(name, value, null) {
			return false
		}
		if after == "}" {
			return true
		}
		if rest, ok = strings.CutPrefix(after, ","); !ok {
			return false
		}
	}
}

// quoted returns the text in quotation marks at the beginning of s, and the rest after them.
func quoted(s string) (text, rest string, ok bool) {
	s, ok = strings.CutPrefix(s, `"`)
	if !ok {
		return "", "", false
	}
	return strings.Cut(s, `"`)
}
