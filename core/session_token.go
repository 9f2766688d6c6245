package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	sessiontoken "github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/revocation"
)

// sessionTokens has the session tokens of StrategyJWT, and Callbacks.JWT.
type sessionTokens struct {
	sessionstate.Tokens
	callback func(ctx context.Context, p JWTParams) (*Token, error)
}

// newSessionTokens returns the session tokens of a configuration. proofs reports whether a sign-in with a configured
// provider can verify an email address.
func newSessionTokens(
	c *Config, seal cookies.Sealer, secrets []string, users Store, proofs, facts bool, revoked *revocation.List,
) sessionTokens {
	j := sessionTokens{callback: c.Callbacks.JWT}
	j.Tokens = sessionstate.Tokens{
		Sealer: seal, Lifetimes: c.Session.lifetimes(), EncodedMaxAge: c.JWT.MaxAge, Users: users, Proofs: proofs,
		Facts: facts, Revocations: revoked,
		Errors: sessionstate.Errors{
			TooOld:  clientError(auditReason(audit.ReasonExpired, "the sign-in is older than Session.AbsoluteMaxAge")),
			Ended:   clientError(errors.New("the session was ended")),
			Revoked: clientError(auditReason(audit.ReasonRevoked, "the token was revoked")),
			Unknown: func(err error) error { return errorf(ErrSessionToken, "%w", err) },
		},
	}
	list := make([]Secret, len(secrets))
	for i, s := range secrets {
		list[i] = Secret(s)
	}
	if encode := c.JWT.Encode; encode != nil {
		j.Encode = func(ctx context.Context, t *Token, salt string, maxAge time.Duration) (string, error) {
			return guarded("JWT.Encode", func() (string, error) {
				return encode(ctx, EncodeParams{Token: t, Secrets: slices.Clone(list), Salt: salt, MaxAge: maxAge})
			})
		}
	}
	if decode := c.JWT.Decode; decode != nil {
		j.Decode = func(ctx context.Context, value, salt string) (*Token, error) {
			return guarded("JWT.Decode", func() (*Token, error) {
				return decode(ctx, DecodeParams{Token: value, Secrets: slices.Clone(list), Salt: salt})
			})
		}
	}
	if revoked := c.JWT.Revoked; revoked != nil {
		j.IsRevoked = func(ctx context.Context, t *Token) (bool, error) {
			return guarded("JWT.Revoked", func() (bool, error) { return revoked(ctx, t) })
		}
	}
	return j
}

// runCallback runs the jwt callback on a copy of the token. Without a callback it returns the token. A callback that
// returns nil ends the session; that is logged here. The session ID, authentication time, methods and the claims
// email_unproved and short_session are copied into the token that the callback returns, even if that is a new one.
func (j *sessionTokens) runCallback(ctx context.Context, v *arrival, p JWTParams) (*Token, error) {
	if j.callback == nil {
		return p.Token, nil
	}
	id, before := p.Token.Subject, p.Token
	mark, marked := p.Token.Extra[sessionstate.EmailUnproved]
	short := sessionstate.IsShort(p.Token)
	p.Token, p.User, p.Account = sessiontoken.ShowFacts(p.Token), p.User.Clone(), p.Account.Clone()
	token, err := guarded("jwt callback", func() (*Token, error) { return j.callback(ctx, p) })
	switch {
	case err != nil:
		return nil, fmt.Errorf("Callbacks.JWT: %w", err)
	case token == nil:
		attrs := append(v.attrs(), slog.String("user_id", id))
		v.log.info(ctx, "the jwt callback ended a session: it returned no token", attrs...)
		return nil, nil
	}
	if j.Facts {
		sessiontoken.CopyFacts(token, before)
	}
	if marked && !sessionstate.IssuedUnproved(token) {
		err = token.Extra.Set(sessionstate.EmailUnproved, mark)
	}
	if short && err == nil {
		err = token.Extra.Set(sessionstate.ShortSession, true)
	}
	return token, err
}
