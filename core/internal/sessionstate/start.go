package sessionstate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/internal/storedtoken"
)

// Start describes a sign-in that starts a session.
type Start struct {
	User  *store.User
	Facts storedtoken.Facts
	// Short reports that the session is a short one.
	Short bool
	// ByApplication reports that only the application vouches for the user: credentials, or a new session without a
	// sign-in.
	ByApplication bool
	// Continues reports that the sign-in only linked another account to the current user. That is not an authentication,
	// so the session keeps the facts and the length of Before, its token. Before is nil if it cannot be read.
	Continues bool
	Before    *token.Token
	// Failed is called if the store fails without effect on the sign-in.
	Failed func(err error)
}

// First returns the claims for a new session.
func (j *Tokens) First(ctx context.Context, s *Start) (*token.Token, error) {
	u := s.User
	t := &token.Token{Subject: u.ID, Name: u.Name, Email: u.Email, Picture: u.Image, Null: u.Null}
	if j.Absolute > 0 {
		_ = t.Extra.Set(AuthTime, j.Now().Unix())
	}
	switch {
	case j.Facts && s.Continues && s.Before != nil:
		token.CopyFacts(t, s.Before)
	case j.Facts:
		if err := j.SetFacts(ctx, t, s.Facts); err != nil {
			return nil, err
		}
	}
	short := s.Short
	if s.Continues {
		short = s.Before != nil && IsShort(s.Before)
	}
	if short {
		if err := t.Extra.Set(ShortSession, true); err != nil {
			return nil, err
		}
	}
	return t, j.markUnverified(ctx, t, s)
}

// SetFacts replaces the facts of a token: the session has a new ID and starts now.
func (j *Tokens) SetFacts(ctx context.Context, t *token.Token, f storedtoken.Facts) (err error) {
	facts := token.Facts{
		Start: j.Now(), AuthTime: f.AuthTime, Methods: storedtoken.WellFormed(f.Methods), ACR: f.ACR,
		Actor: token.ActorClaim{Subject: f.Actor, SID: f.ActorSession},
	}
	if j.Revocations != nil {
		if facts.Epoch, err = j.Revocations.Epoch(ctx, t.Subject); err != nil {
			return autherr.Errorf(autherr.Store, "read the revocation epoch of a user: %w", err)
		}
	}
	if facts.SID, err = random.UUID(j.Rand); err != nil {
		return err
	}
	return token.SetFacts(t, facts)
}

// markUnverified adds the claim EmailUnproved to a new token, if the user's address is unverified and a configured
// provider can verify it later. A session that only the application vouches for gets the claim even without such a
// provider: its tokens may outlive a change of the configuration.
func (j *Tokens) markUnverified(ctx context.Context, t *token.Token, s *Start) error {
	if j.Users == nil || !s.ByApplication && !j.Proofs {
		return nil
	}
	u := s.User
	if s.ByApplication && j.Proofs { // the application's user may differ from the stored one
		stored, err := j.Users.User(ctx, u.ID)
		switch {
		case errors.Is(err, store.ErrNotFound): // not a user whose address another person could verify
			return nil
		case err != nil: // not a reason to fail the sign-in: at worst, the user signs in again before a link
			s.Failed(fmt.Errorf("look up the user who signed in: %w", err))
			stored = &store.User{}
		}
		u = stored
	}
	switch {
	case !u.EmailVerified.IsZero():
		return nil
	case s.ByApplication:
		return t.Extra.Set(EmailUnproved, j.Now().Unix())
	}
	return t.Extra.Set(EmailUnproved, true)
}

// Protect copies the claims that the application cannot change into the token that its callback has returned: the facts
// and the claims EmailUnproved and ShortSession of the token before.
func (j *Tokens) Protect(before, after *token.Token) (err error) {
	if j.Facts {
		token.CopyFacts(after, before)
	}
	if mark, marked := before.Extra[EmailUnproved]; marked && !IssuedUnproved(after) {
		err = after.Extra.Set(EmailUnproved, mark)
	}
	if IsShort(before) && err == nil {
		err = after.Extra.Set(ShortSession, true)
	}
	return err
}

// Next returns the token that replaces another one of its session. If sessions can be revoked, it has the same
// revocation ID, even if the session began without one. Otherwise a renewal that is in progress while the session ends,
// in this or another process, would produce a token that is not revoked.
func (j *Tokens) Next(before, t *token.Token) *token.Token {
	if j.Revocations == nil || before.ID == "" || token.Claim(t, "sid") != "" {
		return t
	}
	return token.WithSID(t, before.ID)
}

// End revokes the session of a token, if that is possible. Repeated requests with the same token do not grow the log.
func (j *Tokens) End(ctx context.Context, t *token.Token) error {
	if j.Revocations == nil || j.HasEnded(t) {
		return nil
	}
	return j.Revocations.EndSession(ctx, token.SessionKey(t))
}

// Expired returns the claims of a genuine token that may have expired. It returns nil if the token cannot be read, or
// if the application has its own encoding.
func (j *Tokens) Expired(set *cookies.Set, value string) *token.Token {
	if j.Decode != nil {
		return nil
	}
	payload, err := set.Session.Keys.OpenAgain(value)
	if err != nil {
		return nil
	}
	t, err := token.Parse(payload, time.Time{}, true)
	if err != nil {
		return nil
	}
	return t
}

// ExpiredActor returns the actor in the first token that can be read, if its impersonation has lasted Impersonated.
func (j *Tokens) ExpiredActor(set *cookies.Set, values iter.Seq[string]) (by token.ActorClaim) {
	for value := range values {
		if t := j.Expired(set, value); t != nil {
			start, ok := token.Start(t)
			if ok && !j.Now().Before(time.Unix(start, 0).Add(j.Impersonated)) {
				by = token.Actor(t)
			}
			return by
		}
	}
	return by
}
