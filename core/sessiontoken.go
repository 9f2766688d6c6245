package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/jwe"
)

// clockSkew is how far a token's times may be off (WIRE 4).
const clockSkew = 15 * time.Second

// sealClaims seals claims with iat, exp and a fresh jti.
func (a *Auth) sealClaims(keys *jwe.Keyring, t *Token, maxAge time.Duration) (string, error) {
	payload, err := a.issuedClaims(t, maxAge)
	if err != nil {
		return "", err
	}
	return keys.Seal(a.rand, payload)
}

// sealUnnamed is sealClaims without a name of the key, which is most of a short token.
func (a *Auth) sealUnnamed(keys *jwe.Keyring, t *Token, maxAge time.Duration) (string, error) {
	payload, err := a.issuedClaims(t, maxAge)
	if err != nil {
		return "", err
	}
	return keys.SealUnnamed(a.rand, payload)
}

func (a *Auth) issuedClaims(t *Token, maxAge time.Duration) ([]byte, error) {
	now := a.now()
	id, err := a.uuid()
	if err != nil {
		return nil, err
	}
	issued := Token{IssuedAt: now, Expires: now.Add(maxAge), ID: id}
	payload := t.appendClaims(append(make([]byte, 0, 512), '{'))
	return append(issued.appendTimes(payload), '}'), nil
}

// openClaims opens a sealed value and checks its times.
func (a *Auth) openClaims(keys *jwe.Keyring, sealed string) (*Token, error) {
	payload, err := keys.Open(sealed)
	if err != nil {
		return nil, err
	}
	t := &Token{}
	if err := t.UnmarshalJSON(payload); err != nil {
		return nil, err
	}
	return t, a.checkTimes(t)
}

var errNoSession = errors.New("the session cookie has no value, or its first chunk is missing")

var errExpired = mistake(errors.New("token has expired"))

func (a *Auth) checkTimes(t *Token) error {
	now := a.now()
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

// encodeSession makes the session token for the cookie.
func (x *exchange) encodeSession(ctx context.Context, t *Token) (string, error) {
	if x.jwt.Encode == nil {
		return x.sealClaims(x.cookies.session.keys, t, x.jwt.MaxAge)
	}
	return guarded("JWT.Encode", func() (string, error) {
		return x.jwt.Encode(ctx, EncodeParams{Token: t.clone(), Secrets: x.secretList(), Salt: x.cookies.session.name(), MaxAge: x.jwt.MaxAge})
	})
}

// decodeSession reads a session token. An error says why it is none, unless it is a *Error of type SessionTokenError: then nobody
// knows.
func (x *exchange) decodeSession(ctx context.Context, value string) (*Token, error) {
	if x.jwt.Decode == nil {
		return x.openClaims(x.cookies.session.keys, value)
	}
	t, err := guarded("JWT.Decode", func() (*Token, error) {
		return x.jwt.Decode(ctx, DecodeParams{Token: value, Secrets: x.secretList(), Salt: x.cookies.session.name()})
	})
	var panicked *panicError
	switch {
	case errors.As(err, &panicked):
		return nil, &Error{Type: SessionTokenError, Cause: err}
	case err == nil && t == nil:
		err = errors.New("JWT.Decode returned no token")
	}
	return t, err
}

// presentedToken returns the claims of the first genuine reading of the session cookie.
func (x *exchange) presentedToken(ctx context.Context) (token *Token, err error) {
	if x.sessionCookie().Value() == "" {
		return nil, errNoSession
	}
	for value := range x.sessionCookie().Values() {
		t, openErr := x.decodeSession(ctx, value)
		if openErr == nil {
			return t, nil
		}
		if err == nil || errors.Is(openErr, SessionTokenError) {
			err = openErr
		}
	}
	return nil, err
}

func (a *Auth) secretList() []Secret {
	out := make([]Secret, len(a.secrets))
	for i, s := range a.secrets {
		out[i] = Secret(s)
	}
	return out
}

// EncodeToken makes a session token as the reference does, for tests and tools: salt is the session cookie's name.
func (a *Auth) EncodeToken(t *Token, salt string, maxAge time.Duration) (string, error) {
	keys, err := jwe.NewKeyring(a.secrets, salt)
	if err != nil {
		return "", fmt.Errorf("core: token: %w", err)
	}
	return a.sealClaims(keys, t, maxAge)
}

// DecodeToken reads what EncodeToken makes.
func (a *Auth) DecodeToken(sealed, salt string) (*Token, error) {
	keys, err := jwe.NewKeyring(a.secrets, salt)
	if err != nil {
		return nil, fmt.Errorf("core: token: %w", err)
	}
	return a.openClaims(keys, sealed)
}
