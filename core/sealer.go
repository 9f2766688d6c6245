package core

import (
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/jwe"
	"github.com/latchkey-go/latchkey/core/internal/random"
)

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
	return s.sealWith(keys.Seal, c, maxAge)
}

// sealUnnamed is seal without a name of the key, which is most of a short token.
func (s *sealer) sealUnnamed(keys *jwe.Keyring, c claims, maxAge time.Duration) (string, error) {
	return s.sealWith(keys.SealUnnamed, c, maxAge)
}

// payloads has room for claims on their way into a token or out of it. What is kept of them is copied.
var payloads = sync.Pool{New: func() any { return new([]byte) }}

func (s *sealer) sealWith(
	seal func(io.Reader, []byte) (string, error), c claims, maxAge time.Duration,
) (string, error) {
	room := payloads.Get().(*[]byte)
	defer payloads.Put(room)
	now := s.now()
	text := c.appendClaims(append((*room)[:0], '{'))
	text = strconv.AppendInt(exactjson.AppendName(text, "iat"), now.Unix(), 10)
	text = strconv.AppendInt(exactjson.AppendName(text, "exp"), now.Add(maxAge).Unix(), 10)
	text, err := random.AppendUUID(append(exactjson.AppendName(text, "jti"), '"'), s.rand)
	if err != nil {
		return "", sourceError(err)
	}
	*room = append(text, `"}`...)
	return seal(s.rand, *room)
}

// open opens a sealed value and checks its times.
func (s *sealer) open(keys *jwe.Keyring, sealed string) (*Token, error) {
	return s.openWith(keys, sealed, false)
}

// openWith is open that keeps the claims of facts, where sessions have them, out of Extra.
func (s *sealer) openWith(keys *jwe.Keyring, sealed string, facts bool) (*Token, error) {
	room := payloads.Get().(*[]byte)
	defer payloads.Put(room)
	payload, err := keys.OpenIn(room, sealed)
	if err != nil {
		return nil, err
	}
	t := &Token{}
	if err := t.readClaims(string(payload), facts); err != nil {
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
