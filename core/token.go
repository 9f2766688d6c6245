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

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/jwe"
	"github.com/latchkey-go/latchkey/core/internal/random"
	"github.com/latchkey-go/latchkey/core/store"
)

// Token holds the claims of a session token under the jwt strategy (docs/protocol.md §4.3). They travel encrypted: the
// browser carries them and cannot read them.
type Token struct {
	// Subject (sub) is the user's id.
	Subject string
	// Name, Email and Picture are the claims of the same names, empty when unknown.
	Name, Email, Picture string
	// Null says which of them are null rather than absent (NullImage: Picture).
	Null store.Nulls
	// ID (jti) is a fresh UUID in each token issued.
	ID string
	// IssuedAt (iat) and Expires (exp) have whole seconds. They are set when a token is issued; changing them has no
	// effect.
	IssuedAt, Expires time.Time
	// Extra are all further claims. [Members.Merge] and [Members.Decode] give them a type of the application's own. In the
	// Token of a [Session] that has facts, auth_time, amr, sid, ep and started_at are not among them: they are fields of
	// the Session.
	Extra Members

	kept tokenFacts // those of the token of such a session
	// session is what revocable returned, once keyed is true.
	session [16]byte
	keyed   bool
}

// LogValue shows whose token it is, by id.
func (t Token) LogValue() slog.Value { return slog.GroupValue(slog.String("sub", t.Subject)) }

// MarshalJSON writes the claims.
func (t Token) MarshalJSON() ([]byte, error) {
	return append(t.appendTimes(t.appendClaims([]byte{'{'})), '}'), nil
}

// appendClaims writes the claims that the application decides, without the braces.
func (t *Token) appendClaims(dst []byte) []byte {
	dst = exactjson.AppendField(dst, "name", t.Name, t.Null&store.NullName != 0)
	dst = exactjson.AppendField(dst, "email", t.Email, t.Null&store.NullEmail != 0)
	dst = exactjson.AppendField(dst, "picture", t.Picture, t.Null&store.NullImage != 0)
	dst = exactjson.AppendField(dst, "sub", t.Subject, false)
	extra := t.Extra
	if t.kept != (tokenFacts{}) {
		if len(extra) == 0 {
			return t.kept.append(dst)
		}
		extra = t.shown().Extra
	}
	return exactjson.AppendMembers(dst, extra, t.writes)
}

// appendTimes writes the claims that issuing decides.
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
		return true // never from outside
	}
	return false
}

// UnmarshalJSON reads claims. Names are matched exactly and may come once; a claim of an unexpected type is kept in
// Extra.
func (t *Token) UnmarshalJSON(data []byte) error {
	return t.readClaims(string(data), false)
}

// readClaims reads claims, whose texts the token shares. With facts, the claims of facts go where core alone reaches
// them.
func (t *Token) readClaims(claims string, facts bool) error {
	*t = Token{}
	var own []byte // a copy of the claims, of which further ones are parts
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
				return fmt.Errorf("jti is no text")
			}
		case "iat":
			return readTime(raw, &t.IssuedAt)
		case "exp":
			return readTime(raw, &t.Expires)
		default:
			ok = facts && t.kept.take(name, raw)
		}
		if !ok { // a further claim, or one of a type of its own
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

// read fills a claim that is text or null; it reports whether the value is either.
func (t *Token) read(raw string, into *string, null store.Nulls) (ok bool) {
	if exactjson.IsNull(raw) {
		t.Null |= null
		return true
	}
	*into, ok = exactjson.TextOf(raw)
	return ok
}

// readTime reads a NumericDate (RFC 7519 section 2) of whole seconds within the years that time.Time can print.
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

// shown is a copy for the application, with the facts among the further claims.
func (t *Token) shown() *Token {
	c := t.clone()
	for i, raw := range c.kept {
		if raw != "" {
			exactjson.KeepText(&c.Extra, factClaims[i], raw)
		}
	}
	c.kept = tokenFacts{}
	return c
}

// clockSkew is how far a token's times may be off.
const clockSkew = 15 * time.Second

// sealer seals and opens claims: those of session tokens, and those of the cookies of sign-ins under way.
type sealer struct {
	now  func() time.Time
	rand io.Reader
}

// claims are what a sealed value says, but for the claims that sealing decides.
type claims interface {
	// appendClaims appends the members of a JSON object, without the braces, to dst that ends with the opening one.
	appendClaims(dst []byte) []byte
}

// seal seals claims with iat, exp and a fresh jti (docs/protocol.md §4.3).
func (s *sealer) seal(keys *jwe.Keyring, c claims, maxAge time.Duration) (string, error) {
	return s.sealAt(s.now(), keys.Seal, c, maxAge)
}

// payloads has room for claims on their way into a token.
var payloads = sync.Pool{New: func() any { return new([]byte) }}

// sealAt is seal with a moment for iat, and one of the ways in which a Keyring seals.
func (s *sealer) sealAt(
	now time.Time, seal func(jwe.IV, []byte) (string, error), c claims, maxAge time.Duration,
) (string, error) {
	var drawn [32]byte // an ID, and then an IV
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

// open opens a sealed value and checks its times.
func (s *sealer) open(keys *jwe.Keyring, sealed string) (*Token, error) {
	payload, err := keys.Open(sealed)
	if err != nil {
		return nil, err
	}
	return s.readToken(payload, false)
}

// openSession opens the token of a session, which comes with request after request. It keeps the claims of facts, where
// sessions have them, out of Extra.
func (s *sealer) openSession(keys *jwe.Keyring, sealed string, facts bool) (*Token, error) {
	payload, err := keys.OpenAgain(sealed)
	if err != nil {
		return nil, err
	}
	return s.readToken(payload, facts)
}

// readToken reads what a sealed value says, and checks its times.
func (s *sealer) readToken(payload string, facts bool) (*Token, error) {
	t := &Token{}
	if err := t.readClaims(payload, facts); err != nil {
		return nil, err
	}
	return t, s.checkTimes(t.Expires, string(t.Extra["nbf"]))
}

var errExpired = mistake(because(ReasonExpired, "token has expired"))

// checkTimes checks when claims end, the zero time for never, and begin: notBefore is the JSON of nbf, empty for none.
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
