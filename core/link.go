package core

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
)

// sessionUser is the user of the request's session.
type sessionUser struct {
	user    *User
	session *store.Session
	token   string // the session token of the request, valid or not
	// outdated reports that the token was issued before the user's address was verified (jwt strategy).
	outdated bool
	// authTime is when the user authenticated. It is zero if that is unknown.
	authTime time.Time
	methods  []amr.Method
}

// linkAttempts is the maximum number of attempts at a sign-in while concurrent sign-ins of the same user interfere.
const linkAttempts = 5

// On a store without transactions a sign-in may have to wait until a concurrent one has linked its account. It waits
// up to linkPauses times, first for linkPause and then twice as long each time.
const (
	linkPause  = 25 * time.Millisecond
	linkPauses = 6
)

// writer accesses the store for one attempt to link, within a transaction if the store supports them. Events are
// delayed until the commit.
type writer struct {
	*linker
	at       *arrival
	tx       stores             // the transaction, or the store if it has none
	sessions store.SessionStore // of tx
	waiting  []func()
	inTx     bool
	// byApp is identity.byApp: no session is created.
	byApp bool
	// owner is the ID of the account's user as the flow found it, before a rule assigned the account to another user.
	owner string
	// made is the user that this sign-in created. Without a transaction, undo deletes them if a later step fails.
	made *User
	// upgrades is the ID of the provisional user that this sign-in upgrades instead of creating a user, or empty.
	upgrades string
	// refused is the user whose address the rules refused to this sign-in, or nil.
	refused *User
	// authentication returns how the sign-in authenticates a user, for the new session.
	authentication func(who member) authentication
	// verified reports that this sign-in has already marked the address as verified.
	verified bool
	// unlinked lists the sign-in methods that a verification removed.
	unlinked []SignInMethod
	// endsEarlierSessions reports that the user's earlier sessions in cookies must end after the commit.
	endsEarlierSessions bool
}

func (l *linker) writer(v *arrival, owner string) *writer {
	return &writer{linker: l, at: v, tx: l.store, sessions: l.store.sessions, owner: owner}
}

// atomically runs work in a transaction. If the store has none and work fails, a user who was created is deleted again.
func (w *writer) atomically(ctx context.Context, work func(context.Context) error) error {
	if w.store.tx == nil {
		err := work(ctx)
		if err != nil {
			w.undo(ctx)
		}
		return err
	}
	w.inTx = true
	err := w.store.tx.InTransaction(ctx, func(ctx context.Context, tx Store) error {
		// The store may run the transaction again.
		w.tx, w.waiting, w.made, w.refused = newStores(tx, w.store.watch, 0), nil, nil, nil
		w.sessions = w.tx.sessions
		return work(ctx)
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

// undo deletes the user whom a failed sign-in created. Otherwise that user would make the next attempt fail with
// OAuthAccountNotLinked. The user may not exist: undo also runs if CreateUser failed without a definite result.
func (w *writer) undo(ctx context.Context) {
	if w.made == nil || w.store.deleter == nil {
		return
	}
	err := w.store.deleter.DeleteUser(context.WithoutCancel(ctx), w.made.ID)
	switch {
	case err == nil:
		w.at.decided(ctx, audit.UserDeleted, audit.ReasonUndone, w.made.ID)
	case !errors.Is(err, ErrNotFound):
		w.at.log.failure(ctx, errorf(ErrStore, "undo of a sign-in that failed: %w", err), w.at.attrs()...)
	}
}

// announce announces a change of the transaction, or of the store if it has no transactions.
func (w *writer) announce(ctx context.Context, e audit.Event) error {
	switch {
	case !w.inTx:
		return w.at.announce(ctx, nil, e)
	case w.tx.records == nil:
		return nil
	}
	return w.at.announce(ctx, w.tx.records, e)
}

// afterCommit calls event after the transaction is committed. Without transactions it calls event immediately, in the
// order of Auth.js; an event may then report a user whom undo deletes when a later write fails.
func (w *writer) afterCommit(event func()) {
	if w.inTx {
		w.waiting = append(w.waiting, event)
		return
	}
	event()
}

// createSession stores a session under the database strategy. It does nothing under the jwt strategy, or if there are
// gates, which must pass first, and for the sign-in of an app.
func (w *writer) createSession(ctx context.Context, who member) (*store.Session, error) {
	if w.linker.sessions.config.Strategy == StrategyJWT || w.gated || w.byApp {
		return nil, nil
	}
	by := w.authentication(who)
	return w.linker.sessions.rows.Create(ctx, w.sessions, who.user.ID, by.short, by.facts())
}

// mostMethods is the maximum number of accounts, and of passkeys, that a user may have. Stores list them without
// paging, so a user with an unlimited number would slow down every page that shows them. Ordinary users do not reach
// it.
const mostMethods = 100
