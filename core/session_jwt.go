package core

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/jwe"
)

// jwtSessions makes and reads the tokens of the jwt strategy, where the session is what its cookie holds.
type jwtSessions struct {
	sealer
	session SessionConfig
	config  JWTConfig
	secrets []string
	// callback is Callbacks.JWT.
	callback func(ctx context.Context, p JWTParams) (*Token, error)
	// users is the store, nil for none. proofs reports that a sign-in can verify an address that was not verified before.
	users  Store
	proofs bool
	// keepsUser reports that a plugin verifies addresses (Host.ProvesEmail). Such a verification leaves the address with
	// its user, so every session that the user had before it ends.
	keepsUser bool
	// facts: sessions carry their facts.
	facts bool
	// ended are the sessions that were ended, nil where Session.Revocation is off.
	ended *revocations
}

// emailUnproved is the claim of a session token that was issued before its user verified the email address. Such a
// session may be an attacker's who created a user with the address of another person. After the verification the token
// links no accounts. The session ends as well if the user keeps the address: in a configuration with a plugin that
// verifies addresses always, and otherwise if the value is a number. The value is the start of the session in Unix
// seconds if the application alone identified the user (credentials, NewSession), and true in all other cases.
const emailUnproved = "email_unproved"

var (
	errTooOld  = mistake(because(ReasonExpired, "the sign-in is longer ago than Session.AbsoluteMaxAge"))
	errRevoked = mistake(because(ReasonRevoked, "the token was revoked"))
)

// encode makes the session token for the cookie.
func (j *jwtSessions) encode(ctx context.Context, cookies *cookieSet, t *Token) (string, error) {
	if j.config.Encode == nil {
		value, err := j.seal(cookies.session.keys, t, j.config.MaxAge)
		if errors.Is(err, jwe.ErrTooLong) || len(value) > cookie.MaxChunks*cookie.ChunkSize {
			return "", t.tooLarge()
		}
		return value, err
	}
	return guarded("JWT.Encode", func() (string, error) {
		p := EncodeParams{Token: t.shown(), Secrets: j.secretList(), Salt: cookies.session.name(), MaxAge: j.config.MaxAge}
		return j.config.Encode(ctx, p)
	})
}

// tooLarge is the error for claims that do not fit into the cookies of a session. It names the largest claim.
func (t *Token) tooLarge() error {
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
		"keep less in the token that Callbacks.JWT returns, or use StrategyDatabase",
		len(t.appendClaims(nil)), claim, size, cookie.MaxChunks*cookie.ChunkSize/4*3)
}

// decode reads a session token. An error says why it is none, unless it is a *Error of type ErrSessionToken: then
// that could not be found out.
func (j *jwtSessions) decode(ctx context.Context, cookies *cookieSet, value string) (*Token, error) {
	t, err := j.decodeAs(ctx, cookies, value)
	if err != nil {
		return nil, err
	}
	if j.session.AbsoluteMaxAge > 0 && t.fact(factAuthTime) == "" && t.fact(factStart) == "" && !t.IssuedAt.IsZero() {
		_ = t.Extra.Set(authTime, t.IssuedAt.Unix()) // issued before the limit was set
	}
	if j.facts && (j.config.Decode != nil || t.Extra[authTime] != nil) {
		return t.withFacts(), nil
	}
	return t, nil
}

func (j *jwtSessions) decodeAs(ctx context.Context, cookies *cookieSet, value string) (*Token, error) {
	if j.config.Decode == nil {
		return j.openSession(cookies.session.keys, value, j.facts)
	}
	t, err := guarded("JWT.Decode", func() (*Token, error) {
		return j.config.Decode(ctx, DecodeParams{Token: value, Secrets: j.secretList(), Salt: cookies.session.name()})
	})
	var panicked *panicError
	switch {
	case errors.As(err, &panicked):
		return nil, &Error{Type: ErrSessionToken, Cause: err}
	case err == nil && t == nil:
		err = errors.New("JWT.Decode returned no token")
	}
	return t, err
}

func (j *jwtSessions) secretList() []Secret {
	out := make([]Secret, len(j.secrets))
	for i, s := range j.secrets {
		out[i] = Secret(s)
	}
	return out
}

// check applies to a genuine token what goes beyond its own times: the absolute lifetime and revocation. Its error is a
// *Error of type ErrSessionToken where that could not be found out; any other means that the token is no longer good.
func (j *jwtSessions) check(ctx context.Context, t *Token) error {
	if limit := j.session.AbsoluteMaxAge; limit > 0 {
		at, ok := t.start()
		if !ok || j.now().Sub(time.Unix(at, 0)) >= limit {
			return errTooOld
		}
	}
	if j.ended != nil {
		if err := j.ended.check(ctx, t); err != nil {
			return err
		}
	}
	if j.config.Revoked == nil {
		return nil
	}
	revoked, err := guarded("JWT.Revoked", func() (bool, error) { return j.config.Revoked(ctx, t.shown()) })
	switch {
	case err != nil:
		return errorf(ErrSessionToken, "JWT.Revoked: %w", err)
	case revoked:
		return errRevoked
	}
	return nil
}

// ends is when a session that is used now ends.
func (j *jwtSessions) ends(t *Token, now time.Time) time.Time {
	expires := now.Add(j.session.MaxAge)
	if j.session.AbsoluteMaxAge > 0 {
		if at, ok := t.start(); ok {
			if end := time.Unix(at, 0).Add(j.session.AbsoluteMaxAge); end.Before(expires) {
				return end
			}
		}
	}
	return expires
}

// due reports whether a token has aged by UpdateAge, so that its session is renewed. A session that would end before is
// renewed at half of its lifetime.
func (j *jwtSessions) due(t *Token, now time.Time) bool {
	age, lifetime := j.session.UpdateAge, min(j.session.MaxAge, j.config.MaxAge)
	if age >= lifetime {
		age = lifetime / 2
	}
	return t.IssuedAt.IsZero() || age == 0 || t.IssuedAt.After(now) || !now.Before(t.IssuedAt.Add(age))
}

func sameClaims(a, b *Token) bool {
	return a == b || bytes.Equal(a.appendClaims(nil), b.appendClaims(nil))
}

// begin makes the claims of a user who signs in.
func (j *jwtSessions) begin(u *User) *Token {
	t := &Token{Subject: u.ID, Name: u.Name, Email: u.Email, Picture: u.Image, Null: u.Null}
	if j.session.AbsoluteMaxAge > 0 {
		_ = t.Extra.Set(authTime, j.now().Unix())
	}
	return t
}

// shape runs the jwt callback on a copy; without one the token stays as it is. A nil token, which ends the session, is
// logged once, here. The facts of a session, and the mark of a token whose user had not proved their address, survive a
// callback that makes a token of its own.
func (j *jwtSessions) shape(ctx context.Context, v *arrival, p JWTParams) (*Token, error) {
	if j.callback == nil {
		return p.Token, nil
	}
	id, before := p.Token.Subject, p.Token
	mark, marked := p.Token.Extra[emailUnproved]
	p.Token, p.User, p.Account = p.Token.shown(), p.User.Clone(), p.Account.Clone()
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
		token.keepFacts(before)
	}
	if marked && !token.issuedUnproved() {
		return token, token.Extra.Set(emailUnproved, mark)
	}
	return token, nil
}

func (t *Token) issuedUnproved() bool {
	_, there := t.Extra[emailUnproved]
	return there
}

// endsWithProof reports whether a verification of the address may have ended the session of a token. Each read of such
// a session needs a query.
func (j *jwtSessions) endsWithProof(t *Token) bool {
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

// outdated reports whether a token was issued before the address of its user was proved. Only a token that can be costs
// a look-up.
func (j *jwtSessions) outdated(ctx context.Context, t *Token) (bool, error) {
	if !t.issuedUnproved() {
		return false, nil
	}
	user, err := j.user(ctx, t.Subject)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil && t.before(user.EmailVerified), err
}

func (j *jwtSessions) user(ctx context.Context, id string) (*User, error) {
	return guarded("Store.User", func() (*User, error) { return present(j.users.User(ctx, id)) })
}

// before reports whether the token is marked, and older than the proof of its user's address; the zero time: there is
// none.
func (t *Token) before(proof time.Time) bool {
	raw, there := t.Extra[emailUnproved]
	if !there || proof.IsZero() {
		return false
	}
	begun, ok := exactjson.Int64(raw)
	return !ok || proof.Unix() >= begun
}

// mark puts the claim emailUnproved into a new token where it matters: tokens outlive the proof, which a provider
// configured here can bring about. A session that the application's word alone opens is marked even where there is no
// such provider yet: its tokens may live to see one.
func (j *jwtSessions) mark(ctx context.Context, v *arrival, t *Token, applicationSays bool, u *User) error {
	if j.users == nil || !applicationSays && !j.proofs {
		return nil
	}
	if applicationSays && j.proofs { // what the application says of the user need not be what the store knows
		stored, err := j.user(ctx, u.ID)
		switch {
		case errors.Is(err, ErrNotFound): // not a user whose address another visitor could prove
			return nil
		case err != nil: // no reason to refuse a password: the mark asks for another sign-in before a link, at worst
			v.log.failure(ctx, errorf(ErrStore, "look up who signed in: %w", err), v.attrs()...)
			stored = &User{}
		}
		u = stored
	}
	switch {
	case !u.EmailVerified.IsZero():
		return nil
	case applicationSays:
		return t.Extra.Set(emailUnproved, j.now().Unix())
	}
	return t.Extra.Set(emailUnproved, true)
}
