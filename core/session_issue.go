package core

import (
	"cmp"
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/store"
)

// issue makes the session of a sign-in and its cookies: the only place that does (docs/protocol.md §7.6). Under the
// database strategy linking has made the record.
func (s *sessions) issue(ctx context.Context, p *presented, id *identity, who member) ([]Cookie, error) {
	if s.config.Strategy == StrategyDatabase {
		s.rememberSID(id, who.session)
		return p.set(string(who.session.Token), who.session.Expires)
	}
	trigger := TriggerSignIn
	if who.created {
		trigger = TriggerSignUp
	}
	begun := s.jwt.begin(who.user)
	if err := s.jwt.mark(ctx, p.at, begun, id.account.Type == TypeCredentials, who.user); err != nil {
		return nil, err
	}
	token, err := s.jwt.shape(ctx, p.at, JWTParams{
		Token: begun, User: who.user, Account: id.account, Profile: id.profile, Trigger: trigger, NewUser: who.created,
	})
	if err != nil {
		return nil, err
	}
	if token == nil {
		return p.clear(), nil
	}
	value, err := s.jwt.encode(ctx, p.at.cookies, token)
	if err != nil {
		return nil, err
	}
	return p.set(value, s.now().Add(s.config.MaxAge))
}

// end ends the session that a request presents and tells the application (docs/protocol.md §7.5). In a store every
// session of the request ends: the browser would go on with another that a neighbouring subdomain set, or that it kept.
func (s *sessions) end(ctx context.Context, p *presented) error {
	var event SignOutEvent
	if s.config.Strategy == StrategyJWT {
		token, err := p.token(ctx)
		if err != nil && !errors.Is(err, ErrSessionToken) {
			return mistake(err) // nothing was signed out, and the cookie goes all the same
		}
		if err != nil {
			return err
		}
		event.Token = token
	} else {
		for _, value := range p.cookie().LookUps() {
			record, err := s.rows.delete(ctx, value)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			event.Session = cmp.Or(event.Session, record)
		}
	}
	if s.events.SignOut != nil {
		emit(ctx, p.at, "signOut", func() error { return s.events.SignOut(ctx, event) })
	}
	return nil
}

// rememberSID notes which session at the provider began a stored session.
func (s *sessions) rememberSID(id *identity, session *store.Session) {
	if id.tokens == nil || s.rows.store == nil {
		return
	}
	if sid := id.tokens.Claims.Text("sid"); sid != "" && len(sid) <= 255 {
		s.begun.add(id.account.Provider, sid, s.rows.atRest(string(session.Token)))
	}
}
