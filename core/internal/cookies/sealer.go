package cookies

import (
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/jwe"
	"github.com/latchkey-go/latchkey/internal/random"
)

// Sealer encrypts and decrypts claims: those of session tokens, and those in the cookies of pending sign-ins.
type Sealer struct {
	Now  func() time.Time
	Rand io.Reader
	// Expired is the error for claims that have expired.
	Expired error
}

// Seal encrypts claims and adds iat, exp and a new jti (docs/protocol.md §4.3).
func (s *Sealer) Seal(keys *jwe.Keyring, t *token.Token, maxAge time.Duration) (string, error) {
	return s.SealAt(s.Now(), keys.Seal, t, maxAge)
}

// SealAt is Seal with an explicit iat and an explicit method of the Keyring.
func (s *Sealer) SealAt(
	now time.Time, seal func(jwe.IV, []byte) (string, error), t *token.Token, maxAge time.Duration,
) (string, error) {
	var drawn [32]byte // 16 bytes for the ID, 16 for the IV
	if err := random.Fill(s.Rand, drawn[:]); err != nil {
		return "", err
	}
	text := token.AppendClaims(append(make([]byte, 0, 512), '{'), t)
	text = strconv.AppendInt(exactjson.AppendName(text, "iat"), now.Unix(), 10)
	text = strconv.AppendInt(exactjson.AppendName(text, "exp"), now.Add(maxAge).Unix(), 10)
	text = random.AppendUUIDOf(append(exactjson.AppendName(text, "jti"), '"'), [16]byte(drawn[:16]), 4)
	return seal(jwe.IV(drawn[16:]), append(text, `"}`...))
}

// Open decrypts a value and checks its times.
func (s *Sealer) Open(keys *jwe.Keyring, sealed string) (*token.Token, error) {
	payload, err := keys.Open(sealed)
	if err != nil {
		return nil, err
	}
	return s.parse(payload, false)
}

// OpenSession decrypts a session token. The same token is sent with many requests, so it uses the keyring's cache. If
// hideFacts is true, its facts are not in Extra.
func (s *Sealer) OpenSession(keys *jwe.Keyring, sealed string, hideFacts bool) (*token.Token, error) {
	payload, err := keys.OpenAgain(sealed)
	if err != nil {
		return nil, err
	}
	return s.parse(payload, hideFacts)
}

func (s *Sealer) parse(payload string, hideFacts bool) (*token.Token, error) {
	t, err := token.Parse(payload, s.Now(), hideFacts)
	if errors.Is(err, token.ErrExpired) {
		return nil, s.Expired
	}
	return t, err
}
