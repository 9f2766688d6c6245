package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	sessiontoken "github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/jwe"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/revocation"
)

// sessionTokens encrypts and decrypts the session tokens of StrategyJWT, and checks whether they are valid. The cookie
// contains the whole session.
type sessionTokens struct {
	cookies.Sealer
	session SessionConfig
	config  JWTConfig
	secrets []string
	// callback is Callbacks.JWT.
	callback func(ctx context.Context, p JWTParams) (*Token, error)
	// users is the store. It is nil if there is none. proofs reports whether a sign-in with a configured provider can
	// verify an email address.
	users  Store
	proofs bool
	// keepsUser reports whether a plugin verifies email addresses (PluginHost.VerifiesEmail). After such a verification
	// the user keeps the address, so all sessions that the user had before it end.
	keepsUser bool
	// facts reports whether tokens contain the session ID, authentication time and methods.
	facts bool
	// revoked has the revoked sessions. It is nil if Session.Revocation is off.
	revoked *revocation.List
}

// authTime is the claim with the time when the user authenticated, in Unix seconds (OpenID Connect Core section 2).
const authTime = "auth_time"

// emailUnproved is the claim of a session token that was issued before its user verified the email address. The session
// may belong to an attacker who created a user with the address of another person. After the verification the token
// cannot link accounts. The session also ends if the user keeps the address: always if a plugin verifies addresses, and
// otherwise if the value is a number. The value is the start of the session in Unix seconds if only the application
// identified the user (credentials, NewSession). In all other cases it is true.
const emailUnproved = "email_unproved"

var (
	errTooOld  = clientError(auditReason(audit.ReasonExpired, "the sign-in is older than Session.AbsoluteMaxAge"))
	errEnded   = clientError(errors.New("the session was ended"))
	errRevoked = clientError(auditReason(audit.ReasonRevoked, "the token was revoked"))
)

// encode returns the session token for the cookie.
func (j *sessionTokens) encode(ctx context.Context, set *cookies.Set, t *Token) (string, error) {
	maxAge := j.config.MaxAge
	if isShort(t) {
		maxAge = min(maxAge, j.session.lifetime(true))
	}
	if actorIn(t) != (actor{}) {
		maxAge = min(maxAge, impersonationAge)
	}
	if j.config.Encode == nil {
		value, err := j.Seal(set.Session.Keys, t, maxAge)
		if errors.Is(err, jwe.ErrTooLong) || len(value) > cookie.MaxChunks*cookie.ChunkSize {
			return "", tooLarge(t)
		}
		return value, err
	}
	return guarded("JWT.Encode", func() (string, error) {
		p := EncodeParams{
			Token: sessiontoken.ShowFacts(t), Secrets: j.secretList(), Salt: set.Session.Name(), MaxAge: maxAge,
		}
		return j.config.Encode(ctx, p)
	})
}

// tooLarge returns the error for claims that do not fit into the session's cookies. It names the largest claim.
func tooLarge(t *Token) error {
	claim, size := "", 0
	for name, length := range map[string]int{"name": len(t.Name), "email": len(t.Email), "picture": len(t.Picture)} {
		if length > size {
			claim, size = name, length
		}
	}
	for name, raw := range t.Extra {
		if len(raw) > size {
			claim, size = name, len(raw)
		}
	}
	return fmt.Errorf("the claims of the session token have %d bytes, %q alone %d, and about %d fit into its cookies: "+
		"return a smaller token from Callbacks.JWT, or use StrategyDatabase",
		len(sessiontoken.AppendClaims(nil, t)), claim, size, cookie.MaxChunks*cookie.ChunkSize/4*3)
}

// decode reads a session token. An *Error of type ErrSessionToken means that the result is unknown, because JWT.Decode
// panicked. Any other error says why the token is invalid.
func (j *sessionTokens) decode(ctx context.Context, set *cookies.Set, value string) (*Token, error) {
	t, err := j.decodeAs(ctx, set, value)
	if err != nil {
		return nil, err
	}
	if j.session.AbsoluteMaxAge > 0 && sessiontoken.Claim(t, authTime) == "" &&
		sessiontoken.Claim(t, "started_at") == "" &&
		!t.IssuedAt.IsZero() {
		_ = t.Extra.Set(authTime, t.IssuedAt.Unix()) // the token is older than the setting
	}
	if j.facts && (j.config.Decode != nil || t.Extra[authTime] != nil) {
		return sessiontoken.HideFacts(t), nil
	}
	return t, nil
}

func (j *sessionTokens) decodeAs(ctx context.Context, set *cookies.Set, value string) (*Token, error) {
	if j.config.Decode == nil {
		return j.OpenSession(set.Session.Keys, value, j.facts)
	}
	t, err := guarded("JWT.Decode", func() (*Token, error) {
		return j.config.Decode(ctx, DecodeParams{Token: value, Secrets: j.secretList(), Salt: set.Session.Name()})
	})
	var panicked *panics.Error
	switch {
	case errors.As(err, &panicked):
		return nil, &Error{Type: ErrSessionToken, Cause: err}
	case err == nil && t == nil:
		err = errors.New("JWT.Decode returned no token")
	}
	return t, err
}

func (j *sessionTokens) secretList() []Secret {
	out := make([]Secret, len(j.secrets))
	for i, s := range j.secrets {
		out[i] = Secret(s)
	}
	return out
}

// valid returns the claims of a token that is valid and not revoked. An error of type ErrSessionToken means that this
// is unknown.
func (j *sessionTokens) valid(ctx context.Context, set *cookies.Set, value string) (*Token, error) {
	t, err := j.decode(ctx, set, value)
	if err == nil {
		err = j.check(ctx, t)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// check checks the absolute lifetime and the revocation of a genuine token. An *Error of type ErrSessionToken means
// that the result is unknown. Any other error means that the session has ended.
func (j *sessionTokens) check(ctx context.Context, t *Token) error {
	if limit := j.session.AbsoluteMaxAge; limit > 0 {
		at, ok := sessiontoken.Start(t)
		if !ok || j.Now().Sub(time.Unix(at, 0)) >= limit {
			return errTooOld
		}
	}
	if actorIn(t) != (actor{}) && !j.Now().Before(j.ends(t, j.Now())) {
		return errTooOld
	}
	if j.revoked != nil {
		if err := j.revoked.Refresh(ctx); err != nil {
			return errorf(ErrSessionToken, "%w", err)
		}
		if j.hasEnded(t) {
			return errEnded
		}
	}
	if j.config.Revoked == nil {
		return nil
	}
	revoked, err := guarded(
		"JWT.Revoked",
		func() (bool, error) { return j.config.Revoked(ctx, sessiontoken.ShowFacts(t)) },
	)
	switch {
	case err != nil:
		return errorf(ErrSessionToken, "JWT.Revoked: %w", err)
	case revoked:
		return errRevoked
	}
	return nil
}

// hasEnded reports whether this process knows that the session of a token was revoked.
func (j *sessionTokens) hasEnded(t *Token) bool {
	return j.revoked != nil && j.revoked.Has(t.Subject, sessiontoken.SessionKey(t), sessiontoken.Epoch(t))
}

// ends returns the expiry of a session that is used now.
func (j *sessionTokens) ends(t *Token, now time.Time) time.Time {
	expires := now.Add(j.session.lifetime(isShort(t)))
	if j.session.AbsoluteMaxAge > 0 {
		if at, ok := sessiontoken.Start(t); ok {
			expires = earlier(expires, time.Unix(at, 0).Add(j.session.AbsoluteMaxAge))
		}
	}
	if actorIn(t) != (actor{}) {
		at, _ := sessiontoken.Start(t)
		expires = earlier(expires, time.Unix(at, 0).Add(impersonationAge))
	}
	return expires
}

// runCallback runs the jwt callback on a copy of the token. Without a callback it returns the token. A callback that
// returns nil ends the session; that is logged here. The session ID, authentication time, methods and the claims
// emailUnproved and shortSession are copied into the token that the callback returns, even if that is a new one.
func (j *sessionTokens) runCallback(ctx context.Context, v *arrival, p JWTParams) (*Token, error) {
	if j.callback == nil {
		return p.Token, nil
	}
	id, before := p.Token.Subject, p.Token
	mark, marked := p.Token.Extra[emailUnproved]
	short := isShort(p.Token)
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
	if j.facts {
		sessiontoken.CopyFacts(token, before)
	}
	if marked && !issuedUnproved(token) {
		err = token.Extra.Set(emailUnproved, mark)
	}
	if short && err == nil {
		err = token.Extra.Set(shortSession, true)
	}
	return token, err
}

func issuedUnproved(t *Token) bool {
	_, there := t.Extra[emailUnproved]
	return there
}

// canEndOnVerification reports whether an email verification can have ended the session of this token. If it can, each
// read of the session needs a query.
func (j *sessionTokens) canEndOnVerification(t *Token) bool {
	raw, there := t.Extra[emailUnproved]
	if !there || j.users == nil || !j.proofs {
		return false
	}
	if j.keepsUser {
		return true
	}
	_, ok := exactjson.Int64(raw)
	return ok
}

// outdated reports whether a token was issued before its user verified the email address. Only tokens with the claim
// emailUnproved cost a lookup.
func (j *sessionTokens) outdated(ctx context.Context, t *Token) (bool, error) {
	if !issuedUnproved(t) {
		return false, nil
	}
	user, err := j.user(ctx, t.Subject)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil && issuedBefore(t, user.EmailVerified), err
}

func (j *sessionTokens) user(ctx context.Context, id string) (*User, error) {
	return j.users.User(ctx, id)
}

// issuedBefore reports whether the token has the claim emailUnproved and is older than the email verification. proof is
// the time of the verification. It is zero if there was none.
func issuedBefore(t *Token, proof time.Time) bool {
	raw, there := t.Extra[emailUnproved]
	if !there || proof.IsZero() {
		return false
	}
	begun, ok := exactjson.Int64(raw)
	return !ok || proof.Unix() >= begun
}

// shortSession is the claim of the token of a short session.
const shortSession = "short_session"

// isShort reports whether a token is the token of a short session.
func isShort(t *Token) bool { return string(t.Extra[shortSession]) == "true" }
