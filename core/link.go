package core

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/random"
	"github.com/latchkey-go/latchkey/core/store"
)

// linker finds or makes the user that an identity belongs to, by the rules of link_rules.go.
type linker struct {
	store    stores
	sessions *sessions
	events   *Events
	now      func() time.Time
	rand     io.Reader
	// accountsOpen reports that an account, that of a passkey included, can open a user here.
	accountsOpen bool
	// gated: there are gates, and a session begins behind them: see linker.begin.
	gated bool
	// parts records and reports added sign-in methods.
	parts *parts
	// freshLinks is how old the proof of a visitor may be who adds a way in; zero: of any age.
	freshLinks time.Duration
}

// visitor is the user whose session a request presents.
type visitor struct {
	user    *User
	session *store.Session
	token   string // the session token presented, known to the store or not
	// outdated: the token is older than the proof of the user's address (jwt strategy).
	outdated bool
	// proved is when the visitor proved who they are; zero: not known.
	proved time.Time
}

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

// linkAttempts is how often a sign-in is tried while others of the same person get in its way.
const linkAttempts = 5

// linkPause is how long a sign-in waits for an account that is being linked on a store without transactions; twice as
// long the next time, linkPauses times.
const (
	linkPause  = 25 * time.Millisecond
	linkPauses = 6
)

// settled finds or makes the user of an identity. A person who signs in twice at once, in two tabs or on two devices,
// is let in twice: what the other sign-in has written by then, this one looks up in a new transaction.
func (l *linker) settled(ctx context.Context, v *arrival, id *identity, here visitor) (who member, err error) {
	owner := id.account.UserID
	for n := 1; ; n++ {
		w := l.writer(v, owner)
		w.authentication = func(userID string) authentication { return id.authenticatedAt(l.now(), userID) }
		who, err = w.settle(ctx, id, here)
		if err == nil || n == linkAttempts || !w.overtaken(ctx, id, err) {
			return who, err
		}
	}
}

// overtaken reports whether an attempt failed because another sign-in of the same person was faster, so that the next
// attempt finds what that one has written: the store says so, or the rules refused the address and the user who has it
// has the account too by now.
//
// On a store without transactions the user is there before the account is: a user without any account and without a
// proved address may be about to get this one, and is waited for.
func (w *writer) overtaken(ctx context.Context, id *identity, err error) bool {
	switch {
	case errors.Is(err, ErrConflict):
		return true
	case w.refused == nil || id.passkey != nil || w.store.accounts == nil:
		return false
	}
	for n := range linkPauses {
		linked, err := w.store.linked(ctx, w.refused)
		if err != nil || len(linked) > 0 {
			return err == nil && slices.ContainsFunc(linked, id.isAccount)
		}
		if w.store.tx != nil || !w.refused.EmailVerified.IsZero() || !pause(ctx, linkPause<<n) {
			return false
		}
	}
	return false
}

// pause waits, and reports whether the request is still there afterwards.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// writer is the store as one attempt to link sees it: inside a transaction where the engine has them. Events wait for
// the commit.
type writer struct {
	*linker
	at       *arrival
	tx       stores             // the transaction, or the store itself
	sessions store.SessionStore // of tx
	waiting  []func()
	inTx     bool
	// owner is the owner of the account as the flow found it, before a rule gave the account to another user.
	owner string
	// made is the user that this sign-in created, to be removed again when a later step fails without a transaction.
	made *User
	// refused is the user whose address the rules refused to the sign-in, nil where they did not or it was for something
	// else.
	refused *User
	// authentication returns that of the sign-in, for a session of a user.
	authentication func(userID string) authentication
	// proved: this sign-in has written the proof of the address already.
	proved bool
	// unlinked are the sign-in methods that a verification removed.
	unlinked []SignInMethod
	// endsEarlier: the user's earlier sessions in cookies end after the commit.
	endsEarlier bool
}

func (l *linker) writer(v *arrival, owner string) *writer {
	return &writer{linker: l, at: v, tx: l.store, sessions: l.store.sessions, owner: owner}
}

// atomically does work in a transaction. Without transactions, a user that was made for nothing is removed again.
func (w *writer) atomically(ctx context.Context, work func(context.Context) error) error {
	if w.store.tx == nil {
		err := guard("store", func() error { return work(ctx) })
		if err != nil {
			w.undo(ctx)
		}
		return err
	}
	w.inTx = true
	err := guard("store transaction", func() error {
		return w.store.tx.InTransaction(ctx, func(ctx context.Context, tx Store) error {
			// A store may begin once more.
			w.tx, w.waiting, w.made, w.refused = newStores(tx).watchedBy(w.store.watch), nil, nil, nil
			w.sessions = w.tx.sessions
			return work(ctx)
		})
	})
	w.inTx = false
	if err != nil {
		return err
	}
	for _, event := range w.waiting {
		event()
	}
	return nil
}

// undo removes the user of a sign-in that failed: left behind, it would block the next attempt with
// OAuthAccountNotLinked. There may be none: a CreateUser whose answer was lost is undone too.
func (w *writer) undo(ctx context.Context) {
	if w.made == nil || w.store.deleter == nil {
		return
	}
	err := guard("Store.DeleteUser", func() error {
		return w.store.deleter.DeleteUser(context.WithoutCancel(ctx), w.made.ID)
	})
	switch {
	case err == nil:
		w.at.decided(ctx, AuditUserDeleted, ReasonUndone, w.made.ID)
	case !errors.Is(err, ErrNotFound):
		w.at.log.failure(ctx, errorf(ErrStore, "undo of a sign-in that failed: %w", err), w.at.attrs()...)
	}
}

// announce calls the event of a write: of a transaction, when it is committed; without transactions at once, in the
// order of Auth.js. There an event may tell of a user whom undo removes again when a later write fails.
func (w *writer) announce(event func()) {
	if w.inTx {
		w.waiting = append(w.waiting, event)
		return
	}
	event()
}

// createSession stores a session of the database strategy; under the jwt strategy there is nothing to store, and where
// there are gates it is too early.
func (w *writer) createSession(ctx context.Context, u *User) (*store.Session, error) {
	if w.linker.sessions.config.Strategy == StrategyJWT || w.gated {
		return nil, nil
	}
	return w.linker.sessions.rows.create(ctx, w.sessions, u.ID, w.authentication(u.ID))
}
