package core

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/random"
)

// issue makes the session of a sign-in and its cookies: the only place that does (docs/protocol.md §7.6). Under the
// database strategy linking has made the record. session is its public ID, empty
// where it has none.
func (s *sessions) issue(
	ctx context.Context, p *presented, id *identity, who member,
) (cookies []Cookie, session string, err error) {
	s.exchanges.signedIn(id.exchange, p.at.browser(), who.user.ID)
	defer func() {
		if err == nil {
			p.noteIssued(who)
		}
	}()
	if s.config.Strategy == StrategyDatabase {
		kept := s.rows.atRest(string(who.session.Token))
		session = publicID(kept)
		s.begun.note(id, kept)
		if s.data != nil {
			s.data.forget(who.user.ID)
		}
		if s.facts && !who.keeps {
			s.records.begun(ctx, p.at, id, who, session, sessionNote{Ends: who.session.Expires.Unix()})
		}
		cookies, err = p.set(string(who.session.Token), who.session.Expires)
		return cookies, session, err
	}
	trigger := TriggerSignIn
	if who.created {
		trigger = TriggerSignUp
	}
	begun := s.jwt.begin(who.user)
	if err := s.vouch(ctx, p, begun, id, who); err != nil {
		return nil, "", err
	}
	if err := s.jwt.mark(ctx, p.at, begun, id.account.Type == TypeCredentials, who.user); err != nil {
		return nil, "", err
	}
	token, err := s.jwt.shape(ctx, p.at, JWTParams{
		Token: begun, User: who.user, Account: id.account, Profile: id.profile, Trigger: trigger, NewUser: who.created,
	})
	if err != nil {
		return nil, "", err
	}
	if token == nil {
		return p.clear(), "", nil
	}
	if s.data != nil {
		token = s.data.begin(ctx, p.at, token)
	}
	value, err := s.jwt.encode(ctx, p.at.cookies, token)
	if err != nil {
		return nil, "", err
	}
	session = token.publicID()
	expires := s.now().Add(s.config.MaxAge)
	if s.facts && !who.keeps {
		s.supersede(ctx, p)
		if s.rows.store != nil || s.ended != nil { // it can be ended
			s.begun.note(id, session)
		}
		note := sessionNote{Ends: expires.Unix(), Epoch: token.epoch()}
		s.records.begun(ctx, p.at, id, who, session, note)
	}
	cookies, err = p.set(value, expires)
	return cookies, session, err
}

// noteIssued notes that a new session replaces the one of the request, or that a new token updates it.
func (p *presented) noteIssued(who member) {
	switch {
	case who.session != nil && random.Same(p.value(), who.session.Token):
	case who.keeps:
		p.noteReplaced(tokenUpdated)
	default:
		p.noteReplaced(tokenReplaced)
	}
}

// takeBack removes what is stored of a session that nobody gets, also where the request is over.
func (s *sessions) takeBack(ctx context.Context, v *arrival, who member, session string) {
	ctx = context.WithoutCancel(ctx)
	if who.session == nil {
		s.records.remove(ctx, session)
		return
	}
	_, err := s.rows.delete(ctx, string(who.session.Token))
	if err != nil && !errors.Is(err, ErrNotFound) {
		v.log.failure(ctx, errorf(ErrStore, "remove a session that nobody gets: %w", err), v.attrs()...)
	}
}

// vouch puts the facts of a session into its first token. A session that goes on, because its user linked another
// account, keeps those that it has: linking proves nothing.
func (s *sessions) vouch(ctx context.Context, p *presented, begun *Token, id *identity, who member) error {
	if !s.facts {
		return nil
	}
	if who.keeps {
		if before, err := p.live(ctx); err == nil {
			begun.keepFacts(before)
			return nil
		}
	}
	return s.newFacts(ctx, begun, id.authenticatedAt(s.now(), who.user.ID))
}

// newFacts writes the facts of a session that begins into its token.
func (s *sessions) newFacts(ctx context.Context, t *Token, by authentication) error {
	var epoch int64
	if s.ended != nil {
		var err error
		if epoch, err = s.ended.epochOf(ctx, t.Subject); err != nil {
			return errorf(ErrStore, "look up the epoch of a user (Session.Revocation): %w", err)
		}
	}
	sid, err := uuid(s.jwt.rand)
	if err != nil {
		return err
	}
	return t.setFacts(s.now(), by, sid, epoch)
}

// supersede ends the session of the jwt strategy whose cookie a new one overwrites: a copy of the old cookie is good no
// longer.
func (s *sessions) supersede(ctx context.Context, p *presented) {
	if p.value() == "" {
		return
	}
	if before, err := p.live(ctx); err == nil {
		if err := s.endToken(ctx, before); err != nil {
			p.at.log.failure(ctx, errorf(ErrStore, "end the session that a sign-in replaced: %w", err), p.at.attrs()...)
		}
	}
}

// goesOn has a session of the jwt strategy go on under another ID: a copy of the token of before is good no longer, and
// the list shows one session, which began when it did.
func (s *sessions) goesOn(ctx context.Context, p *presented, old, after *Token, methods []Method, ends time.Time) {
	note := s.records.note(ctx, old.publicID())
	if err := s.endToken(ctx, old); err != nil {
		p.at.log.failure(ctx, errorf(ErrStore, "end the token that Call.Reissue replaced: %w", err), p.at.attrs()...)
	}
	note.Ends, note.Methods, note.Epoch = ends.Unix(), methods, after.epoch()
	s.records.add(ctx, p.at, after.publicID(), after.Subject, note)
	s.begun.move(old.publicID(), after.publicID())
}

// endToken ends the session of a token, where sessions of the jwt strategy can be ended.
func (s *sessions) endToken(ctx context.Context, t *Token) error {
	s.records.remove(ctx, t.publicID())
	if s.ended == nil || s.ended.hasEnded(t.Subject, t.revocable(), t.epoch()) {
		return nil // a copy of the cookie that is sent again and again does not fill the log
	}
	return s.ended.endSession(ctx, t.revocable())
}

// end ends the session that a request presents and tells the application (docs/protocol.md §7.5). In a store every
// session of the request ends: the browser would go on with another that a neighbouring subdomain set, or that it kept.
// userID is whose session it was; empty: nobody's, as far as is known.
func (s *sessions) end(ctx context.Context, p *presented) (userID string, err error) {
	var event SignOutEvent
	var sessionID string
	p.noteReplaced(sessionOver)
	if s.config.Strategy == StrategyJWT {
		token, err := p.token(ctx)
		if err != nil && !errors.Is(err, ErrSessionToken) {
			return "", mistake(err) // nothing was signed out, and the cookie goes all the same
		}
		if err != nil {
			return "", err
		}
		event.Token, userID, sessionID = token, token.Subject, token.publicID()
		if err := s.endToken(ctx, token); err != nil {
			return "", errorf(ErrStore, "%w", err)
		}
	} else {
		for _, value := range p.cookie().LookUps() {
			record, err := s.rows.delete(ctx, value)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return "", err
			}
			if event.Session == nil && record != nil {
				event.Session, sessionID = record, publicID(s.rows.atRest(value))
			}
		}
		if event.Session != nil {
			userID = event.Session.UserID
		}
	}
	s.exchanges.erase(p.at.browser(), userID)
	event.SessionID = sessionID
	if event.Token != nil || event.Session != nil {
		p.at.decidedOf(ctx, AuditSignOut, "", userID, sessionID)
	}
	if s.events.SignOut != nil {
		emit(ctx, p.at, "signOut", func() error { return s.events.SignOut(ctx, event) })
	}
	return userID, nil
}
