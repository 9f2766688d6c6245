// Package token contains the claims of session tokens, and a Reader for services that have the secret of an application
// but no Auth.
//
// The functions of facts.go are for packages of Latchkey. They read and write the claims that only Latchkey may change.
package token

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"strconv"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// Token holds the claims of a session token under StrategyJWT (docs/protocol.md §4.3). The token is encrypted: the
// browser stores it but cannot read it.
type Token struct {
	// Subject (sub) is the user's ID.
	Subject string
	// Name, Email and Picture are the claims of the same names. They are empty if unknown.
	Name, Email, Picture string
	// Null marks the claims among them that are null rather than absent. NullImage marks Picture.
	Null store.Nulls
	// ID (jti) is a new UUID in each issued token.
	ID string
	// IssuedAt (iat) and Expires (exp) are in whole seconds. They are set when a token is issued; setting them has no
	// effect.
	IssuedAt, Expires time.Time
	// Extra are all other claims. [store.Members.Merge] and [store.Members.Decode] convert them to and from a type of the
	// application. In the Token of a core.Session with an ID, Extra does not contain auth_time, amr, sid, ep and
	// started_at: they are fields of the Session.
	Extra store.Members

	// hidden are the claims of factClaims, if they are not in Extra; see [HideFacts].
	hidden facts
	// key is the result of [SessionKey], if it has been computed.
	key sessionKey
}

// LogValue returns the user ID, and no other claim.
func (t Token) LogValue() slog.Value { return slog.GroupValue(slog.String("sub", t.Subject)) }

// String returns the user ID, without the claims.
func (t Token) String() string { return fmt.Sprintf("token of user %q", t.Subject) }

// Format writes String for every fmt verb, because Extra may contain access tokens.
func (t Token) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, t.String()) }

// MarshalJSON returns the claims as a JSON object.
func (t Token) MarshalJSON() ([]byte, error) {
	return append(t.appendTimes(AppendClaims([]byte{'{'}, &t)), '}'), nil
}

// AppendClaims appends all claims except iat, exp and jti to dst, without the braces of the object.
func AppendClaims(dst []byte, t *Token) []byte {
	dst = exactjson.AppendField(dst, "name", t.Name, t.Null&store.NullName != 0)
	dst = exactjson.AppendField(dst, "email", t.Email, t.Null&store.NullEmail != 0)
	dst = exactjson.AppendField(dst, "picture", t.Picture, t.Null&store.NullImage != 0)
	dst = exactjson.AppendField(dst, "sub", t.Subject, false)
	extra := t.Extra
	if t.hidden != (facts{}) {
		if len(extra) == 0 {
			return t.hidden.append(dst)
		}
		extra = ShowFacts(t).Extra
	}
	return exactjson.AppendMembers(dst, extra, t.writes)
}

// appendTimes appends iat, exp and jti.
func (t *Token) appendTimes(dst []byte) []byte {
	if !t.IssuedAt.IsZero() {
		dst = strconv.AppendInt(exactjson.AppendName(dst, "iat"), t.IssuedAt.Unix(), 10)
	}
	if !t.Expires.IsZero() {
		dst = strconv.AppendInt(exactjson.AppendName(dst, "exp"), t.Expires.Unix(), 10)
	}
	return exactjson.AppendField(dst, "jti", t.ID, false)
}

func (t *Token) writes(name string) bool {
	switch name {
	case "name":
		return t.Name != "" || t.Null&store.NullName != 0
	case "email":
		return t.Email != "" || t.Null&store.NullEmail != 0
	case "picture":
		return t.Picture != "" || t.Null&store.NullImage != 0
	case "sub":
		return t.Subject != ""
	case "iat", "exp", "jti":
		return true // set by appendTimes only
	}
	return false
}

// UnmarshalJSON parses claims. Names are case-sensitive, and a repeated name is an error. A claim of an unexpected type
// is stored in Extra.
func (t *Token) UnmarshalJSON(data []byte) error {
	return t.readClaims(string(data), false)
}

// ErrExpired is returned by Parse for a token whose exp has passed.
var ErrExpired = errors.New("token has expired")

// ClockSkew is the tolerance for the times in a token.
const ClockSkew = 15 * time.Second

// Parse parses the decrypted claims of a token, and checks exp and nbf (RFC 7519 section 4.1). A token without exp does
// not expire. If hideFacts is true, the result is that of [HideFacts]. The fields share the memory of the text.
func Parse(claims string, now time.Time, hideFacts bool) (*Token, error) {
	t := &Token{}
	if err := t.readClaims(claims, hideFacts); err != nil {
		return nil, err
	}
	if !t.Expires.IsZero() && !t.Expires.After(now.Add(-ClockSkew)) {
		return nil, ErrExpired
	}
	if raw, there := t.Extra["nbf"]; there {
		if n, ok := exactjson.Floor(string(raw)); !ok || time.Unix(n, 0).After(now.Add(ClockSkew)) {
			return nil, errors.New("token is not valid yet (nbf)")
		}
	}
	return t, nil
}

// readClaims parses claims. The fields of the token share the memory of the text. If hide is true, the claims of
// factClaims are stored in t.hidden instead of Extra.
func (t *Token) readClaims(claims string, hide bool) error {
	*t = Token{}
	var own []byte // a copy of the claims; values of Extra are slices of it
	err := exactjson.ObjectSpans(claims, func(name string, start, end int) error {
		raw, ok := claims[start:end], false
		switch name {
		case "name":
			ok = t.read(raw, &t.Name, store.NullName)
		case "email":
			ok = t.read(raw, &t.Email, store.NullEmail)
		case "picture":
			ok = t.read(raw, &t.Picture, store.NullImage)
		case "sub":
			t.Subject, ok = exactjson.TextOf(raw)
		case "jti":
			if t.ID, ok = exactjson.TextOf(raw); !ok {
				return fmt.Errorf("jti is not a string")
			}
		case "iat":
			return readTime(raw, &t.IssuedAt)
		case "exp":
			return readTime(raw, &t.Expires)
		default:
			ok = hide && t.hidden.take(name, raw)
		}
		if !ok { // another claim, or one with an unexpected type
			if own == nil {
				own, t.Extra = []byte(claims), store.Members{}
			}
			t.Extra[name] = own[start:end:end]
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("token: claims: %w", err)
	}
	return nil
}

// read sets a claim that is text or null. It reports whether the value is one of them.
func (t *Token) read(raw string, into *string, null store.Nulls) (ok bool) {
	if exactjson.IsNull(raw) {
		t.Null |= null
		return true
	}
	*into, ok = exactjson.TextOf(raw)
	return ok
}

// readTime parses a NumericDate (RFC 7519 section 2) in whole seconds. It accepts only years that time.Time can print.
func readTime(raw string, at *time.Time) error {
	n, ok := exactjson.Floor(raw)
	if !ok || n < 0 || n > math.MaxInt32*100 {
		return fmt.Errorf("iat and exp are seconds since 1970")
	}
	*at = time.Unix(n, 0)
	return nil
}

// Clone returns a copy with its own Extra. It is nil if t is nil.
func (t *Token) Clone() *Token {
	if t == nil {
		return nil
	}
	c := *t
	c.Extra = maps.Clone(t.Extra)
	return &c
}
