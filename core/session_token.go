package core

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	sessiontoken "github.com/latchkey-go/latchkey/core/token"
)

// Token contains the claims of a session token under StrategyJWT. See Token in package core/token for its fields. That
// package also has a reader for services without an Auth.
type Token = sessiontoken.Token

var errExpired = errormarks.ByClient(errormarks.Denial(audit.ReasonExpired, "token has expired"))

// sessionTokens has the session tokens of StrategyJWT, and Callbacks.JWT.
type sessionTokens struct {
	sessionstate.Tokens
	callback func(ctx context.Context, p JWTParams) (*Token, error)
}

// runCallback runs the jwt callback on a copy of the token. Without a callback it returns the token. A callback that
// returns nil ends the session; that is logged here. Protect changes the token that the callback returns.
func (j *sessionTokens) runCallback(ctx context.Context, v *arrival, p JWTParams) (*Token, error) {
	if j.callback == nil {
		return p.Token, nil
	}
	before := p.Token
	p.Token, p.User, p.Account = sessiontoken.ShowFacts(p.Token), p.User.Clone(), p.Account.Clone()
	token, err := guarded("jwt callback", func() (*Token, error) { return j.callback(ctx, p) })
	switch {
	case err != nil:
		return nil, fmt.Errorf("Callbacks.JWT: %w", err)
	case token == nil:
		attrs := append(v.attrs(), slog.String("user_id", before.Subject))
		v.log.info(ctx, "the jwt callback ended a session: it returned no token", attrs...)
		return nil, nil
	}
	return token, j.Protect(before, token)
}
