package core

import (
	"context"
	"errors"
	"maps"

	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/exchange"
)

// exchanges makes a repeated callback join the first one, because a code is valid once.
type exchanges = exchange.Exchanges[exchangeResult]

// exchangeResult is what a provider returned for a code. It is shared: callers get copies.
type exchangeResult struct {
	tokens  *TokenSet
	profile Profile
}

// exchangeOnce returns the result of redeem, or of an earlier callback with the same key.
func (c *call) exchangeOnce(
	ctx context.Context, known *exchanges, key exchange.Key, redeem func(context.Context) (*TokenSet, Profile, error),
) (*TokenSet, Profile, error) {
	result, err := known.Do(ctx, key, c.browser(), func(ctx context.Context) (exchangeResult, error) {
		return guarded("exchange", func() (result exchangeResult, err error) {
			result.tokens, result.profile, err = redeem(ctx)
			return result, err
		})
	})
	switch {
	case errors.Is(err, exchange.ErrInProgress):
		err = callbackErrorf(errInvalidCheck, reasonUsed, "%w", err)
	case err != nil && ctx.Err() != nil: // the browser has disconnected
		err = clientError(err)
	}
	if err != nil {
		return nil, nil, asError(err, errCallbackRoute)
	}
	tokens := *result.tokens
	tokens.Claims, tokens.Extra = exactjson.CloneObject(tokens.Claims), maps.Clone(tokens.Extra)
	return &tokens, exactjson.CloneObject(result.profile), nil
}

// browser identifies the browser of a request for [exchanges]: by its CSRF cookie. It is empty without one.
func (v *arrival) browser() string {
	if v.cookies == nil {
		return ""
	}
	value, _ := v.jar.Raw(v.cookies.CSRF.Name())
	return value
}

// exchangeKey identifies this callback. answer is the code, or with OAuth 1.0a token and verifier.
func (c *call) exchangeKey(f *flowstate.Flow, answer string) exchange.Key {
	return exchange.KeyOf(c.providerID+"\x00"+f.Tag, c.browser(), answer)
}
