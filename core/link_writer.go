package core

import (
	"context"
	"errors"
	"io"
	"time"

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
