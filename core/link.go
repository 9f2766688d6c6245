package core

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/internal/random"
	"github.com/latchkey-go/latchkey/core/store"
)

// link finds or makes the user of an identity, and their session (docs/protocol.md §14).
func (l *linker) link(ctx context.Context, p *presented, id *identity) (member, error) {
	if l.store.Store == nil {
		return member{user: id.user, created: id.made}, nil
	}
	if id.account.Type == TypeCredentials {
		return l.linkCredentials(ctx, p, id)
	}
	here, err := l.visitorOf(ctx, p)
	if err != nil {
		return member{}, errorf(ErrStore, "%w", err)
	}
	if id.started == flowSwitches { // as if no user were signed in; the new session replaces the current one
		here = visitor{token: here.token}
	}
	who, err := l.settled(ctx, p.at, id, here)
	if err != nil {
		return member{}, asError(err, ErrStore)
	}
	if who.session != nil && !who.keeps {
		l.replaceSession(ctx, p.at, here.token, who.session)
		l.endOldest(ctx, p.at, who.session)
	}
	return who, nil
}

// linkCredentials gives a user that the application vouches for a session; under the database strategy that user is in
// the store.
func (l *linker) linkCredentials(ctx context.Context, p *presented, id *identity) (member, error) {
	who := member{user: id.user, created: id.made}
	if l.gated {
		return who, nil
	}
	return who, l.beginStored(ctx, p, id, &who)
}

// begin makes the session of a member whom the gates let pass, under the database strategy. Without gates linking has
// made it, with all else that it writes.
func (l *linker) begin(ctx context.Context, p *presented, id *identity, who *member) error {
	if !l.gated || who.keeps {
		return nil
	}
	return l.beginStored(ctx, p, id, who)
}

// beginStored makes the session of a user outside of a transaction, under the database strategy.
func (l *linker) beginStored(ctx context.Context, p *presented, id *identity, who *member) error {
	if l.sessions.config.Strategy != StrategyDatabase {
		return nil
	}
	if err := l.createStored(ctx, id, who); err != nil {
		return err
	}
	l.replaceSession(ctx, p.at, p.value(), who.session)
	l.endOldest(ctx, p.at, who.session)
	return nil
}

// createStored stores a session of a user, and leaves the one that the request presents.
func (l *linker) createStored(ctx context.Context, id *identity, who *member) error {
	session, err := l.sessions.rows.create(ctx, l.store.sessions, who.user.ID, id.authenticatedAt(l.now(), who.user.ID))
	switch {
	case err != nil && id.account.Type == TypeCredentials:
		err = errorf(ErrStore, "credentials of provider %q: the user that Authorize returns must be in the store: %w",
			id.account.Provider, err)
		return l.withoutUser(ctx, id.user, err)
	case err != nil:
		return errorf(ErrStore, "begin a session: %w", err)
	}
	who.session = session
	return nil
}

// withoutUser explains a session that the store refused because it has no such user as the application named.
func (l *linker) withoutUser(ctx context.Context, user *User, err error) error {
	if errors.Is(err, ErrStoreUnavailable) { // it would let the visitor wait once more
		return err
	}
	_, absent := guarded("Store.User", func() (*User, error) { return present(l.store.User(ctx, user.ID)) })
	if !errors.Is(absent, ErrNotFound) {
		return err
	}
	return errorf(ErrStore, "the store has no user with the ID %q, and sessions live there: return one that it holds, "+
		"which Store.CreateUser makes (core.NewID makes an ID), or set Session.Strategy to StrategyJWT: %w", user.ID, err)
}

// visitorOf looks up the user whose session a request presents. A token that cannot be read names no user; a store that
// fails is an error.
func (l *linker) visitorOf(ctx context.Context, p *presented) (visitor, error) {
	v := visitor{token: p.value()}
	if v.token == "" {
		return v, nil
	}
	p.again()
	var err error
	if l.sessions.config.Strategy == StrategyJWT {
		token, notLive := p.live(ctx)
		if errors.Is(notLive, ErrSessionToken) {
			return v, notLive
		}
		if notLive != nil || token.Subject == "" {
			return v, nil
		}
		v.user, err = guarded("Store.User", func() (*User, error) { return present(l.store.User(ctx, token.Subject)) })
		v.outdated = err == nil && token.before(v.user.EmailVerified)
		v.proved, _ = token.facts()
	} else {
		v.session, v.user, err = p.stored(ctx)
		v.proved, _ = factsIn(v.token)
	}
	if errors.Is(err, ErrNotFound) {
		return visitor{token: v.token}, nil
	}
	return v, err
}

// replaceSession deletes the record of the session cookie that a new session overwrites, so that a copy of the old
// cookie is no longer valid. It reports false only if the store says that the record was already deleted.
func (l *linker) replaceSession(ctx context.Context, v *arrival, token string, by *store.Session) (there bool) {
	if token == "" || l.sessions.config.Strategy == StrategyJWT || random.Same(token, by.Token) {
		return true
	}
	switch ended, err := l.sessions.rows.delete(ctx, token); {
	case err == nil && ended != nil:
		v.decidedOf(ctx, AuditSessionEnded, ReasonReplaced, ended.UserID, publicID(l.sessions.rows.atRest(token)))
	case err != nil && !errors.Is(err, ErrNotFound):
		v.log.failure(ctx, errorf(ErrStore, "remove the session that a sign-in replaced: %w", err), v.attrs()...)
	case err != nil:
		return false
	}
	return true
}
