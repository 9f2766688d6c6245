package sessionstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/jwe"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/revocation"
)

// The reasons why a token is not a session.
var (
	ErrTooOld = errormarks.ByClient(
		errormarks.Denial(audit.ReasonExpired, "the sign-in is older than Session.AbsoluteMaxAge"))
	ErrEnded   = errormarks.ByClient(errors.New("the session was ended"))
	ErrRevoked = errormarks.ByClient(errormarks.Denial(audit.ReasonRevoked, "the token was revoked"))
)

// unknown returns the error if it is not known whether a token is valid.
func unknown(err error) error { return autherr.New(autherr.SessionToken, err) }

func isUnknown(err error) bool { return errors.Is(err, autherr.SessionToken) }

// Tokens encrypts and decrypts session tokens, and checks whether they are valid. The cookie contains the whole
// session.
type Tokens struct {
	cookies.Sealer
	Lifetimes
	// EncodedMaxAge is the time until the expiry in a token.
	EncodedMaxAge time.Duration
	// Encode and Decode are the application's encoding. They are nil for the format of Auth.js.
	Encode func(ctx context.Context, t *token.Token, salt string, maxAge time.Duration) (string, error)
	Decode func(ctx context.Context, value, salt string) (*token.Token, error)
	// IsRevoked is the application's check. It may be nil.
	IsRevoked func(ctx context.Context, t *token.Token) (bool, error)
	// Users is the store. It is nil if there is none. Proofs reports whether a sign-in with a configured provider can
	// verify an email address.
	Users  store.Store
	Proofs bool
	// KeepsUser reports whether a plugin verifies email addresses. After such a verification the user keeps the address,
	// so all sessions that the user had before it end.
	KeepsUser bool
	// Facts reports whether tokens contain the session ID, authentication time and methods.
	Facts bool
	// Revocations has the revoked sessions. It is nil if sessions cannot be revoked.
	Revocations *revocation.List
}

// AuthTime is the claim with the time when the user authenticated, in Unix seconds (OpenID Connect Core section 2).
const AuthTime = "auth_time"

// EmailUnproved is the claim of a session token that was issued before its user verified the email address. The session
// may belong to an attacker who created a user with the address of another person. After the verification the token
// cannot link accounts. The session also ends if the user keeps the address: always if a plugin verifies addresses, and
// otherwise if the value is a number. The value is the start of the session in Unix seconds if only the application
// identified the user (credentials, a new session without a sign-in). In all other cases it is true.
const EmailUnproved = "email_unproved"

// SealSession returns the session token for the cookie.
func (j *Tokens) SealSession(ctx context.Context, set *cookies.Set, t *token.Token) (string, error) {
	maxAge := j.EncodedMaxAge
	if IsShort(t) {
		maxAge = min(maxAge, j.Of(true))
	}
	if token.Actor(t) != (token.ActorClaim{}) {
		maxAge = min(maxAge, j.Impersonated)
	}
	if j.Encode != nil {
		return panics.Call("JWT.Encode", func() (string, error) {
			return j.Encode(ctx, token.ShowFacts(t), set.Session.Name(), maxAge)
		})
	}
	value, err := j.Seal(set.Session.Keys, t, maxAge)
	if errors.Is(err, jwe.ErrTooLong) || len(value) > cookie.MaxChunks*cookie.ChunkSize {
		return "", tooLarge(t)
	}
	return value, err
}

// tooLarge returns the error for claims that do not fit into the session's cookies. It names the largest claim.
func tooLarge(t *token.Token) error {
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
		len(token.AppendClaims(nil, t)), claim, size, cookie.MaxChunks*cookie.ChunkSize/4*3)
}

// OpenSession reads a session token. An error of type autherr.SessionToken means that the result is unknown. Any other
// error says why the token is invalid.
func (j *Tokens) OpenSession(ctx context.Context, set *cookies.Set, value string) (*token.Token, error) {
	t, err := j.open(ctx, set, value)
	if err != nil {
		return nil, err
	}
	if j.Absolute > 0 && token.Claim(t, AuthTime) == "" && token.Claim(t, "started_at") == "" && !t.IssuedAt.IsZero() {
		_ = t.Extra.Set(AuthTime, t.IssuedAt.Unix()) // the token is older than the setting
	}
	if j.Facts && (j.Decode != nil || t.Extra[AuthTime] != nil) {
		return token.HideFacts(t), nil
	}
	return t, nil
}

func (j *Tokens) open(ctx context.Context, set *cookies.Set, value string) (*token.Token, error) {
	if j.Decode == nil {
		return j.Sealer.OpenSession(set.Session.Keys, value, j.Facts)
	}
	t, err := panics.Call("JWT.Decode", func() (*token.Token, error) { return j.Decode(ctx, value, set.Session.Name()) })
	var panicked *panics.Error
	switch {
	case errors.As(err, &panicked):
		return nil, unknown(err)
	case err == nil && t == nil:
		err = errors.New("JWT.Decode returned no token")
	}
	return t, err
}

// Read returns the claims of the first token that can be decrypted. It may have ended.
func (j *Tokens) Read(ctx context.Context, set *cookies.Set, values iter.Seq[string]) (*token.Token, error) {
	var failed error
	for value := range values {
		t, err := j.OpenSession(ctx, set, value)
		if err == nil {
			return t, nil
		}
		if failed == nil || isUnknown(err) {
			failed = err
		}
	}
	return nil, failed
}

// Choose returns the first valid token. It is nil if there is none. An error of type autherr.SessionToken ends the
// search.
func (j *Tokens) Choose(
	ctx context.Context, set *cookies.Set, values iter.Seq[string],
) (value string, t *token.Token, err error) {
	for value := range values {
		t, err := j.Valid(ctx, set, value)
		if err == nil || isUnknown(err) {
			return value, t, err
		}
	}
	return "", nil, nil
}

// Valid returns the claims of a token that is valid and not revoked. An error of type autherr.SessionToken means that
// this is unknown.
func (j *Tokens) Valid(ctx context.Context, set *cookies.Set, value string) (*token.Token, error) {
	t, err := j.OpenSession(ctx, set, value)
	if err == nil {
		err = j.Check(ctx, t)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Check checks the absolute lifetime and the revocation of a genuine token. An error of type autherr.SessionToken means
// that the result is unknown. Any other error means that the session has ended.
func (j *Tokens) Check(ctx context.Context, t *token.Token) error {
	if limit := j.Absolute; limit > 0 {
		at, ok := token.Start(t)
		if !ok || j.Now().Sub(time.Unix(at, 0)) >= limit {
			return ErrTooOld
		}
	}
	if token.Actor(t) != (token.ActorClaim{}) && !j.Now().Before(j.Ends(t, j.Now())) {
		return ErrTooOld
	}
	if j.Revocations != nil {
		if err := j.Revocations.Refresh(ctx); err != nil {
			return unknown(err)
		}
		if j.HasEnded(t) {
			return ErrEnded
		}
	}
	if j.IsRevoked == nil {
		return nil
	}
	revoked, err := panics.Call("JWT.Revoked", func() (bool, error) { return j.IsRevoked(ctx, token.ShowFacts(t)) })
	switch {
	case err != nil:
		return unknown(fmt.Errorf("JWT.Revoked: %w", err))
	case revoked:
		return ErrRevoked
	}
	return nil
}

// HasEnded reports whether this process knows that the session of a token was revoked.
func (j *Tokens) HasEnded(t *token.Token) bool {
	return j.Revocations != nil && j.Revocations.Has(t.Subject, token.SessionKey(t), token.Epoch(t))
}

// Ends returns the expiry of a session that is used now.
func (j *Tokens) Ends(t *token.Token, now time.Time) time.Time {
	expires := now.Add(j.Of(IsShort(t)))
	if j.Absolute > 0 {
		if at, ok := token.Start(t); ok {
			expires = Earlier(expires, time.Unix(at, 0).Add(j.Absolute))
		}
	}
	if token.Actor(t) != (token.ActorClaim{}) {
		at, _ := token.Start(t)
		expires = Earlier(expires, time.Unix(at, 0).Add(j.Impersonated))
	}
	return expires
}

// IssuedUnproved reports whether a token has the claim EmailUnproved.
func IssuedUnproved(t *token.Token) bool {
	_, there := t.Extra[EmailUnproved]
	return there
}

// CanEndOnVerification reports whether an email verification can have ended the session of this token. If it can, each
// read of the session needs a query.
func (j *Tokens) CanEndOnVerification(t *token.Token) bool {
	raw, there := t.Extra[EmailUnproved]
	if !there || j.Users == nil || !j.Proofs {
		return false
	}
	if j.KeepsUser {
		return true
	}
	_, ok := exactjson.Int64(raw)
	return ok
}

// Outdated reports whether a token was issued before its user verified the email address. Only tokens with the claim
// EmailUnproved cost a lookup.
func (j *Tokens) Outdated(ctx context.Context, t *token.Token) (bool, error) {
	if !IssuedUnproved(t) {
		return false, nil
	}
	user, err := j.Users.User(ctx, t.Subject)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && IssuedBefore(t, user.EmailVerified), err
}

// EndedByVerification reports whether the session of a token ended when its user's address was verified. While the
// store is unavailable the session continues but links no accounts, and failed gets the error; with Revocations.Strict
// the result is an error of type autherr.SessionToken.
func (j *Tokens) EndedByVerification(ctx context.Context, t *token.Token, failed func(err error)) (bool, error) {
	if !j.CanEndOnVerification(t) {
		return false, nil
	}
	outdated, err := j.Outdated(ctx, t)
	if err == nil {
		return outdated, nil
	}
	err = autherr.New(autherr.Store, fmt.Errorf("look up whether an email verification has ended the session: %w", err))
	if j.Revocations != nil && j.Revocations.Strict {
		return false, unknown(err)
	}
	failed(err)
	return false, nil
}

// IssuedBefore reports whether the token has the claim EmailUnproved and is older than the email verification. proof is
// the time of the verification. It is zero if there was none.
func IssuedBefore(t *token.Token, proof time.Time) bool {
	raw, there := t.Extra[EmailUnproved]
	if !there || proof.IsZero() {
		return false
	}
	begun, ok := exactjson.Int64(raw)
	return !ok || proof.Unix() >= begun
}

// ShortSession is the claim of the token of a short session.
const ShortSession = "short_session"

// IsShort reports whether a token is the token of a short session.
func IsShort(t *token.Token) bool { return string(t.Extra[ShortSession]) == "true" }

// NeedsRenewal reports whether a token is older than UpdateAge, so that it must be renewed. If the session would expire
// before that, it is renewed after half of its lifetime.
func (j *Tokens) NeedsRenewal(t *token.Token, now time.Time) bool {
	age, lifetime := j.Update, min(j.Of(IsShort(t)), j.EncodedMaxAge)
	if age >= lifetime {
		age = lifetime / 2
	}
	return t.IssuedAt.IsZero() || age == 0 || t.IssuedAt.After(now) || !now.Before(t.IssuedAt.Add(age))
}

// SameClaims reports whether two tokens have the same claims.
func SameClaims(a, b *token.Token) bool {
	return a == b || bytes.Equal(token.AppendClaims(nil, a), token.AppendClaims(nil, b))
}
