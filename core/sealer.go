package core

import (
	"errors"
	"io"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/jwe"
)

// clockSkew is how far a token's times may be off.
const clockSkew = 15 * time.Second

// sealer seals and opens claims: those of session tokens, and those of the cookies of sign-ins under way.
type sealer struct {
	now  func() time.Time
	rand io.Reader
}

// seal seals claims with iat, exp and a fresh jti (docs/protocol.md §4.3).
func (s *sealer) seal(keys *jwe.Keyring, t *Token, maxAge time.Duration) (string, error) {
	payload, err := s.issued(t, maxAge)
	if err != nil {
		return "", err
	}
	return keys.Seal(s.rand, payload)
}

// sealUnnamed is seal without a name of the key, which is most of a short token.
func (s *sealer) sealUnnamed(keys *jwe.Keyring, t *Token, maxAge time.Duration) (string, error) {
	payload, err := s.issued(t, maxAge)
	if err != nil {
		return "", err
	}
	return keys.SealUnnamed(s.rand, payload)
}

func (s *sealer) issued(t *Token, maxAge time.Duration) ([]byte, error) {
	now := s.now()
	id, err := uuid(s.rand)
	if err != nil {
		return nil, err
	}
	times := Token{IssuedAt: now, Expires: now.Add(maxAge), ID: id}
	payload := t.appendClaims(append(make([]byte, 0, 512), '{'))
	return append(times.appendTimes(payload), '}'), nil
}

// open opens a sealed value and checks its times.
func (s *sealer) open(keys *jwe.Keyring, sealed string) (*Token, error) {
	payload, err := keys.Open(sealed)
	if err != nil {
		return nil, err
	}
	t := &Token{}
	if err := t.UnmarshalJSON(payload); err != nil {
		return nil, err
	}
	return t, s.checkTimes(t)
}

var errExpired = mistake(errors.New("token has expired"))

func (s *sealer) checkTimes(t *Token) error {
	now := s.now()
	if !t.Expires.IsZero() && !t.Expires.After(now.Add(-clockSkew)) {
		return errExpired
	}
	if raw, ok := t.Extra["nbf"]; ok {
		if n, ok := exactjson.Floor(raw); !ok || time.Unix(n, 0).After(now.Add(clockSkew)) {
			return errors.New("token is not valid yet (nbf)")
		}
	}
	return nil
}
