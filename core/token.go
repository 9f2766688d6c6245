package core

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/sessionid"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/jwe"
	"github.com/latchkey-go/latchkey/internal/random"
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
	// Extra are all other claims. [Members.Merge] and [Members.Decode] convert them to and from a type of the application.
	// In the Token of a [Session] with an ID, Extra does not contain auth_time, amr, sid, ep and started_at: they are
	// fields of the Session.
	Extra Members

	factValues tokenFacts // the claims of factClaims, if sessions have facts
	// session is the result of revocable. It is set if keyed is true.
	session sessionid.ID
	keyed   bool
}

// LogValue returns the user ID, and no other claim.
func (t Token) LogValue() slog.Value { return slog.GroupValue(slog.String("sub", t.Subject)) }

// MarshalJSON returns the claims as a JSON object.
func (t Token) MarshalJSON() ([]byte, error) {
	return append(t.appendTimes(t.appendClaims([]byte{'{'})), '}'), nil
}

// appendClaims appends all claims except iat, exp and jti, without the braces.
func (t *Token) appendClaims(dst []byte) []byte {
	dst = exactjson.AppendField(dst, "name", t.Name, t.Null&store.NullName != 0)
	dst = exactjson.AppendField(dst, "email", t.Email, t.Null&store.NullEmail != 0)
	dst = exactjson.AppendField(dst, "picture", t.Picture, t.Null&store.NullImage != 0)
	dst = exactjson.AppendField(dst, "sub", t.Subject, false)
	extra := t.Extra
	if t.factValues != (tokenFacts{}) {
		if len(extra) == 0 {
			return t.factValues.append(dst)
		}
		extra = t.forApplication().Extra
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

// readClaims parses claims. The fields of the token share the memory of the text. If facts is true, the claims of
// factClaims are stored in t.factValues instead of Extra, where only this package can change them.
func (t *Token) readClaims(claims string, facts bool) error {
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
			ok = facts && t.factValues.take(name, raw)
		}
		if !ok { // another claim, or one with an unexpected type
			if own == nil {
				own, t.Extra = []byte(claims), Members{}
			}
			t.Extra[name] = own[start:end:end]
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("core: token claims: %w", err)
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

func (t *Token) clone() *Token {
	if t == nil {
		return nil
	}
	c := *t
	c.Extra = maps.Clone(t.Extra)
	return &c
}

// forApplication returns a copy for the application, with the claims of factClaims in Extra.
func (t *Token) forApplication() *Token {
	c := t.clone()
	for i, raw := range c.factValues {
		if raw != "" {
			exactjson.KeepText(&c.Extra, factClaims[i], raw)
		}
	}
	c.factValues = tokenFacts{}
	return c
}

// clockSkew is the tolerance for the times in a token.
const clockSkew = 15 * time.Second

// sealer encrypts and decrypts claims: those of session tokens, and those in the cookies of pending sign-ins.
type sealer struct {
	now  func() time.Time
	rand io.Reader
}

// claims is the content of an encrypted value, without the claims that seal adds.
type claims interface {
	// appendClaims appends the members of a JSON object, without the braces, to dst. dst ends with the opening brace.
	appendClaims(dst []byte) []byte
}

// seal encrypts claims and adds iat, exp and a new jti (docs/protocol.md §4.3).
func (s *sealer) seal(keys *jwe.Keyring, c claims, maxAge time.Duration) (string, error) {
	return s.sealAt(s.now(), keys.Seal, c, maxAge)
}

// payloads is a pool of buffers for claims before they are encrypted.
var payloads = sync.Pool{New: func() any { return new([]byte) }}

// sealAt is seal with an explicit iat and an explicit method of the Keyring.
func (s *sealer) sealAt(
	now time.Time, seal func(jwe.IV, []byte) (string, error), c claims, maxAge time.Duration,
) (string, error) {
	var drawn [32]byte // 16 bytes for the ID, 16 for the IV
	if err := fillRandom(s.rand, drawn[:]); err != nil {
		return "", err
	}
	room := payloads.Get().(*[]byte)
	defer payloads.Put(room)
	text := c.appendClaims(append((*room)[:0], '{'))
	text = strconv.AppendInt(exactjson.AppendName(text, "iat"), now.Unix(), 10)
	text = strconv.AppendInt(exactjson.AppendName(text, "exp"), now.Add(maxAge).Unix(), 10)
	text = random.AppendUUIDOf(append(exactjson.AppendName(text, "jti"), '"'), [16]byte(drawn[:16]), 4)
	*room = append(text, `"}`...)
	return seal(jwe.IV(drawn[16:]), *room)
}

// open decrypts a value and checks its times.
func (s *sealer) open(keys *jwe.Keyring, sealed string) (*Token, error) {
	payload, err := keys.Open(sealed)
	if err != nil {
		return nil, err
	}
	return s.readToken(payload, false)
}

// openSession decrypts a session token. The same token is sent with many requests, so it uses the keyring's cache. If
// facts is true, it keeps the claims of factClaims out of Extra.
func (s *sealer) openSession(keys *jwe.Keyring, sealed string, facts bool) (*Token, error) {
	payload, err := keys.OpenAgain(sealed)
	if err != nil {
		return nil, err
	}
	return s.readToken(payload, facts)
}

// readToken parses decrypted claims, and checks their times.
func (s *sealer) readToken(payload string, facts bool) (*Token, error) {
	t := &Token{}
	if err := t.readClaims(payload, facts); err != nil {
		return nil, err
	}
	return t, s.checkTimes(t.Expires, string(t.Extra["nbf"]))
}

var errExpired = mistake(because(audit.ReasonExpired, "token has expired"))

// checkTimes checks exp and nbf. The zero time means that the claims never expire. notBefore is the JSON value of nbf,
// or empty.
func (s *sealer) checkTimes(expires time.Time, notBefore string) error {
	now := s.now()
	if !expires.IsZero() && !expires.After(now.Add(-clockSkew)) {
		return errExpired
	}
	if notBefore != "" {
		if n, ok := exactjson.Floor(notBefore); !ok || time.Unix(n, 0).After(now.Add(clockSkew)) {
			return errors.New("token is not valid yet (nbf)")
		}
	}
	return nil
}
