package core

import (
	"context"
	"slices"
)

// Reissue gives the visitor another token for their session, now that they have proved again who they are: a copy of
// the old one is good no longer where sessions are in the store. methods are how they proved it; those of the session
// stay. Without methods nothing was proved: the session is as old as it was, and where it is in a cookie that shows the
// address of before [Call.UpdatedUser] its token shows the new one.
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

// reissue makes another token of the session that a request presents.
func (s *signIns) reissue(
	ctx context.Context, p *presented, by string, again *proof, moved movedAddress,
) ([]Cookie, error) {
	if s.sessions.config.Strategy == StrategyJWT {
		token, err := p.live(ctx)
		if err != nil {
			return nil, err
		}
		proved := token.clone()
		moved.write(proved)
		if again.proved {
			if err := s.sessions.proveAgain(ctx, proved, again.methods); err != nil {
				return nil, err
			}
		}
		value, err := s.sessions.jwt.encode(ctx, p.at.cookies, proved)
		if err != nil {
			return nil, err
		}
		return p.set(value, s.sessions.jwt.ends(token, s.sessions.now()))
	}
	_, user, err := p.stored(ctx)
	if err != nil {
		return nil, asError(err, ErrSessionToken)
	}
	id := &identity{
		user: user.Clone(), methods: again.methods,
		account: &Account{Type: TypeCredentials, Provider: by, ProviderAccountID: user.ID},
	}
	who := member{user: user.Clone()}
	if err := s.linker.beginStored(ctx, p, id, &who); err != nil {
		return nil, err
	}
	cookies, _, err := s.sessions.issue(ctx, p, id, who)
	return cookies, err
}
