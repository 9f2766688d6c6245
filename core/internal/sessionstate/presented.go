package sessionstate

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/internal/sessioncookies"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/storedtoken"
)

// TokenFacts are the content of the session token of a request. They are empty if it cannot be read.
type TokenFacts struct {
	Owner string           // identifies the session, or its user, across token renewals
	Actor token.ActorClaim // who impersonates the user
	Short bool             // the session is a short one
}

// ErrAbsent is the error of a request without a session token.
var ErrAbsent = errors.New("the session cookie has no value, or its first chunk is missing")

// SealedToken is the session token of a request, if it contains the whole session.
type SealedToken struct {
	State *Tokens
	From  *sessioncookies.Carrier

	// claims are those of the token, which may have ended. claims and failed are nil until they are first used.
	claims *token.Token
	failed error
}

// Choose selects the token of a valid session if the request has several. An error of type autherr.SessionToken means
// that it is unknown which one is valid.
func (s *SealedToken) Choose(ctx context.Context) error {
	if !s.From.Tokens.Several() {
		return nil
	}
	value, claims, err := s.State.Choose(ctx, s.From.Cookies, s.From.Tokens.Values())
	if claims != nil {
		s.From.Tokens.Prefer(value)
		s.claims = claims
	}
	return err
}

// Claims returns the claims of the first token that can be decrypted. The session may have ended.
func (s *SealedToken) Claims(ctx context.Context) (*token.Token, error) {
	switch {
	case s.claims != nil || s.failed != nil:
	case s.From.Value() == "":
		s.failed = ErrAbsent
	default:
		s.claims, s.failed = s.State.Read(ctx, s.From.Cookies, s.From.Tokens.Values())
	}
	return s.claims, s.failed
}

// Valid returns the claims if the session is valid and not revoked. An error of type autherr.SessionToken means
// that this is unknown.
func (s *SealedToken) Valid(ctx context.Context) (*token.Token, error) {
	claims, err := s.Claims(ctx)
	if err == nil {
		err = s.State.Check(ctx, claims)
	}
	if err != nil {
		return nil, err
	}
	return claims, nil
}

// Facts returns the content of the token. The token changes with each read, its subject does not.
func (s *SealedToken) Facts(ctx context.Context) TokenFacts {
	claims, err := s.Claims(ctx)
	if err != nil { // a token that cannot be read is no session
		return TokenFacts{}
	}
	return TokenFacts{claims.Subject, token.Actor(claims), IsShort(claims)}
}

// ExpiredActor returns the actor of an impersonation that has expired.
func (s *SealedToken) ExpiredActor() token.ActorClaim {
	return s.State.ExpiredActor(s.From.Cookies, s.From.Tokens.Values())
}

// OldForm reports whether the session cookie must be written again although the session is unchanged. This is so if it
// is encrypted with an older secret, or if its chunks are not the ones that its value needs.
func (s *SealedToken) OldForm() bool {
	oldSecret := s.State.Decode == nil && !s.From.Cookies.Session.Keys.Current(s.From.Value())
	return oldSecret && !s.From.FromHeader || s.From.Outdated()
}

// StoredToken is the session token of a request, if the session is in a store.
type StoredToken struct {
	Rows *Rows
	From *sessioncookies.Carrier

	// found is the session that Choose found, until the first read. It is nil if the request has a single token.
	found *Found
}

// Choose selects the token of a session that exists if the request has several.
func (s *StoredToken) Choose(ctx context.Context) error {
	if !s.From.Tokens.Several() {
		return nil
	}
	candidates := s.From.Tokens.LookUps()
	if len(candidates) == 1 {
		return nil
	}
	value, found, err := s.Rows.Choose(ctx, candidates)
	if s.found = found; found != nil {
		s.From.Tokens.Prefer(value)
	}
	return err
}

// First returns the session that Choose has found. Later calls, and those without a choice, look it up.
func (s *StoredToken) First(ctx context.Context) (*Found, error) {
	if found := s.found; found != nil {
		s.found = nil
		return found, nil
	}
	return s.Rows.Find(ctx, s.From.Value())
}

// Facts returns the content of the token. A stored session keeps its token.
func (s *StoredToken) Facts(context.Context) TokenFacts {
	return TokenFacts{s.From.Value(), s.Impersonator(), storedtoken.IsShort(s.From.Value())}
}

// Impersonator returns who impersonates the user of the session.
func (s *StoredToken) Impersonator() token.ActorClaim {
	userID, sessionID := storedtoken.Actor(s.From.Value())
	return token.ActorClaim{Subject: userID, SID: sessionID}
}

// ExpiredActor returns the actor of an impersonation that has expired.
func (s *StoredToken) ExpiredActor() (by token.ActorClaim) {
	if storedtoken.Start(s.From.Value()).Add(s.Rows.Impersonated).Before(s.Rows.Now()) {
		by = s.Impersonator()
	}
	return by
}
