package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Reissue gives the visitor another token for their session, now that they have proved again who they are. methods are
// how they proved it; those of the session stay. The session has another ID from then on, and a copy of the old token
// is good no longer: at once where sessions are in the store, under [StrategyJWT] where Session.Revocation is on, in
// other processes within Revocation.Every. Without Revocation a copy is good until it expires.
//
// Without methods nothing was proved: the session stays the same one and as old as it was, and where it is in a cookie
// that shows the address of before [Call.UpdatedUser] its token shows the new one.
//
// If the session has ended since the request arrived, it stays ended, and the error matches [ErrNotFound].
func (c *Call) Reissue(ctx context.Context, methods ...Method) error {
	if c.in.r.Method != "POST" {
		return errGetSignsIn
	}
	session, err := c.Session(ctx)
	if err != nil {
		return err
	}
	if session == nil {
		return errNobody("Reissue")
	}
	if len(methods) == 0 && c.parts.auth.sessions.config.Strategy != StrategyJWT {
		return nil // the store has the address
	}
	all := slices.Clone(session.Methods)
	for _, m := range methods {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	again := &proof{methods: all, proved: len(methods) > 0}
	cookies, err := c.parts.entry.reissue(ctx, &c.in.session, c.part, again, c.moved)
	if errors.Is(err, ErrNotFound) {
		c.read, c.session, c.failed, c.cookies = true, nil, nil, c.in.session.clearEnded()
	}
	if err != nil {
		return err
	}
	c.read, c.session, c.failed, c.cookies = true, nil, errSessionChanged, nil
	for _, cookie := range cookies {
		c.keep(cookie)
	}
	return nil
}

// proof is what a session that goes on under another token was proved by.
type proof struct {
	methods []Method
	proved  bool // just now
}

var errEndedMeanwhile = mistake(
	fmt.Errorf("Call.Reissue: the session has ended since the request arrived: %w", ErrNotFound))

// reissue makes another token of the session that a request presents. It looks the session up again: the request may
// have waited, and the user may have signed out.
func (s *signIns) reissue(
	ctx context.Context, p *presented, by string, again *proof, moved movedAddress,
) ([]Cookie, error) {
	p.again()
	if s.sessions.config.Strategy == StrategyJWT {
		return s.reissueJWT(ctx, p, again, moved)
	}
	_, user, err := p.stored(ctx)
	if errors.Is(err, ErrNotFound) || err == nil && !p.mayRenew(true) {
		return nil, errEndedMeanwhile
	}
	if err != nil {
		return nil, asError(err, ErrSessionToken)
	}
	id := &identity{
		user: user.Clone(), methods: again.methods,
		account: &Account{Type: TypeCredentials, Provider: by, ProviderAccountID: user.ID},
	}
	before := s.sessions.rows.atRest(p.value())
	note := s.sessions.records.note(ctx, publicID(before))
	who := member{user: user.Clone()}
	if err := s.linker.createStored(ctx, id, &who); err != nil {
		return nil, err
	}
	if !s.linker.replaceSession(ctx, p.at, p.value(), who.session) {
		s.sessions.takeBack(ctx, p.at, who, "")
		return nil, errEndedMeanwhile
	}
	s.linker.endOldest(ctx, p.at, who.session)
	who.keeps = true // its record moves along
	cookies, after, err := s.sessions.issue(ctx, p, id, who)
	if err != nil {
		return nil, err
	}
	s.sessions.begun.move(before, s.sessions.rows.atRest(string(who.session.Token)))
	if s.sessions.facts {
		note.Ends, note.Methods = who.session.Expires.Unix(), id.proofs()
		s.sessions.records.add(ctx, p.at, after, user.ID, note)
	}
	return cookies, nil
}

func (s *signIns) reissueJWT(
	ctx context.Context, p *presented, again *proof, moved movedAddress,
) ([]Cookie, error) {
	before, err := s.unended(ctx, p)
	if err != nil {
		return nil, err
	}
	after := before.clone()
	moved.write(after)
	proved := again.proved && s.sessions.facts
	if proved {
		if err := s.sessions.newFacts(ctx, after, authentication{s.sessions.now(), again.methods}); err != nil {
			return nil, err
		}
		p.again() // the session may have ended before newFacts read the epoch
		if _, err := s.unended(ctx, p); err != nil {
			return nil, err
		}
	}
	value, err := s.sessions.jwt.encode(ctx, p.at.cookies, after)
	if err != nil {
		return nil, err
	}
	expires := s.sessions.jwt.ends(after, s.sessions.now())
	if !p.mayRenew(true) || s.sessions.hasEnded(before) {
		return nil, errEndedMeanwhile
	}
	cookies, err := p.set(value, expires)
	if err == nil {
		p.noteReplaced(tokenUpdated)
	}
	if err == nil && proved {
		s.sessions.goesOn(ctx, p, before, after, again.methods, expires)
	}
	return cookies, err
}

// unended returns the session token of a request whose session continues. An error that matches ErrNotFound says that
// it has ended.
func (s *signIns) unended(ctx context.Context, p *presented) (*Token, error) {
	token, err := p.live(ctx)
	if err != nil && !errors.Is(err, ErrSessionToken) {
		return nil, errEndedMeanwhile
	}
	return token, err
}
