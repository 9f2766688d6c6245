package core

import (
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	sessiontoken "github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/jwe"
	"github.com/latchkey-go/latchkey/internal/random"
)

// Token holds the claims of a session token under StrategyJWT. Package token has a reader for services without an Auth.
type Token = sessiontoken.Token

// sealer encrypts and decrypts claims: those of session tokens, and those in the cookies of pending sign-ins.
type sealer struct {
	now  func() time.Time
	rand io.Reader
}

// seal encrypts claims and adds iat, exp and a new jti (docs/protocol.md §4.3).
func (s *sealer) seal(keys *jwe.Keyring, t *Token, maxAge time.Duration) (string, error) {
	return s.sealAt(s.now(), keys.Seal, t, maxAge)
}

// sealAt is seal with an explicit iat and an explicit method of the Keyring.
func (s *sealer) sealAt(
	now time.Time, seal func(jwe.IV, []byte) (string, error), t *Token, maxAge time.Duration,
) (string, error) {
	var drawn [32]byte // 16 bytes for the ID, 16 for the IV
	if err := fillRandom(s.rand, drawn[:]); err != nil {
		return "", err
	}
	text := sessiontoken.AppendClaims(append(make([]byte, 0, 512), '{'), t)
	text = strconv.AppendInt(exactjson.AppendName(text, "iat"), now.Unix(), 10)
	text = strconv.AppendInt(exactjson.AppendName(text, "exp"), now.Add(maxAge).Unix(), 10)
	text = random.AppendUUIDOf(append(exactjson.AppendName(text, "jti"), '"'), [16]byte(drawn[:16]), 4)
	return seal(jwe.IV(drawn[16:]), append(text, `"}`...))
}

// open decrypts a value and checks its times.
func (s *sealer) open(keys *jwe.Keyring, sealed string) (*Token, error) {
	payload, err := keys.Open(sealed)
	if err != nil {
		return nil, err
	}
	return s.parse(payload, false)
}

// openSession decrypts a session token. The same token is sent with many requests, so it uses the keyring's cache. If
// hideFacts is true, its facts are not in Extra.
func (s *sealer) openSession(keys *jwe.Keyring, sealed string, hideFacts bool) (*Token, error) {
	payload, err := keys.OpenAgain(sealed)
	if err != nil {
		return nil, err
	}
	return s.parse(payload, hideFacts)
}

var errExpired = clientError(auditReason(audit.ReasonExpired, "token has expired"))

func (s *sealer) parse(payload string, hideFacts bool) (*Token, error) {
	t, err := sessiontoken.Parse(payload, s.now(), hideFacts)
	if errors.Is(err, sessiontoken.ErrExpired) {
		return nil, errExpired
	}
	return t, err
}
