package core

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// authTime is the claim that keeps when somebody signed in, in Unix seconds (OpenID Connect Core section 2).
const authTime = "auth_time"

var errTooOld = mistake(errors.New("the sign-in is longer ago than Session.AbsoluteMaxAge"))

// liveToken returns the claims of a session token that is genuine and still good.
func (x *exchange) liveToken(ctx context.Context) (*Token, error) {
	t, err := x.presentedToken(ctx)
	if err == nil {
		err = x.checkToken(ctx, t)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// checkToken applies to a genuine token what goes beyond its own times: the absolute lifetime and revocation. Its error is a
// *Error of type SessionTokenError when nobody knows, else the token is no longer good.
func (x *exchange) checkToken(ctx context.Context, t *Token) error {
	if limit := x.session.AbsoluteMaxAge; limit > 0 {
		raw, there := t.Extra[authTime]
		at, ok := exactjson.Floor(raw)
		if !there { // issued before the limit was set
			at, ok = t.IssuedAt.Unix(), !t.IssuedAt.IsZero()
			_ = t.Extra.Set(authTime, at)
		}
		if !ok || x.now().Sub(time.Unix(at, 0)) >= limit {
			return errTooOld
		}
	}
	if x.jwt.Revoked == nil {
		return nil
	}
	revoked, err := guarded("JWT.Revoked", func() (bool, error) { return x.jwt.Revoked(ctx, t.clone()) })
	if err != nil {
		return errorf(SessionTokenError, "JWT.Revoked: %w", err)
	}
	if revoked {
		return mistake(errors.New("the token was revoked"))
	}
	return nil
}

// tokenEnds is when a session of the jwt strategy that is used now ends.
func (x *exchange) tokenEnds(t *Token, now time.Time) time.Time {
	expires := now.Add(x.session.MaxAge)
	if x.session.AbsoluteMaxAge > 0 {
		if at, ok := exactjson.Floor(t.Extra[authTime]); ok {
			if end := time.Unix(at, 0).Add(x.session.AbsoluteMaxAge); end.Before(expires) {
				return end
			}
		}
	}
	return expires
}

// stampToken notes in a new token when its owner signed in, where that matters.
func (a *Auth) stampToken(t *Token) {
	if a.session.AbsoluteMaxAge > 0 {
		_ = t.Extra.Set(authTime, a.now().Unix())
	}
}

// stampSession does the same for a session of the store, in the text of its token: whoever changed it would have another token.
func (a *Auth) stampSession(token string) string {
	if a.session.AbsoluteMaxAge > 0 {
		token += "." + strconv.FormatInt(a.now().Unix(), 36)
	}
	return token
}

// sessionEnds is when a stored session ends at the latest; zero: never.
func (a *Auth) sessionEnds(token string) time.Time {
	if a.session.AbsoluteMaxAge == 0 {
		return time.Time{}
	}
	at, err := strconv.ParseInt(token[strings.LastIndexByte(token, '.')+1:], 36, 64)
	if err != nil { // made before the limit was set
		return time.Time{}
	}
	return time.Unix(at, 0).Add(a.session.AbsoluteMaxAge)
}

// endsAt tells whether a stored session has come to where it cannot be extended.
func (a *Auth) endsAt(token string, expires time.Time) bool {
	end := a.sessionEnds(token)
	return !end.IsZero() && !end.After(expires)
}

// until is when a session that is used now ends.
func (a *Auth) until(token string) time.Time {
	expires := a.now().Add(a.session.MaxAge)
	if end := a.sessionEnds(token); !end.IsZero() && end.Before(expires) {
		return end
	}
	return expires
}

// atRest is a session token as the store has it: with an audience one that no Auth of another audience finds.
func (a *Auth) atRest(token string) string {
	switch {
	case a.audience != "":
		token = "latchkey audience\x00" + a.audience + "\x00" + token
	case !a.session.HashTokens:
		return token
	}
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
