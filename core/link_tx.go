package core

import (
	"context"
	"errors"
	"time"
)

// writer is the store as one attempt to link sees it: inside a transaction where the engine has them. Events wait for the
// commit.
type writer struct {
	*linker
	at       *arrival
	tx       Store        // the transaction, or the store itself
	sessions SessionStore // of tx
	waiting  []func()
	inTx     bool
	// owner is the owner of the account as the flow found it, before a rule gave the account to another user.
	owner string
	// made is the user that this sign-in created, to be removed again when a later step fails without a transaction.
	made *User
	// contested: another sign-in took the address between the look-up and the new user.
	contested bool
	// proved: this sign-in has written the proof of the address already.
	proved bool
}

func (l *linker) writer(v *arrival, owner string) *writer {
	return &writer{linker: l, at: v, tx: l.store.Store, sessions: l.store.sessions, owner: owner}
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
			w.tx, w.waiting, w.made, w.contested = tx, nil, nil, false // a store may begin once more
			w.sessions, _ = tx.(SessionStore)
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

// undo removes the user of a sign-in that failed: left behind, it would block the next attempt with OAuthAccountNotLinked.
func (w *writer) undo(ctx context.Context) {
	if w.made == nil || w.store.deleter == nil {
		return
	}
	if err := w.store.deleter.DeleteUser(context.WithoutCancel(ctx), w.made.ID); err != nil {
		w.at.log.failure(ctx, errorf(AdapterError, "undo of a sign-in that failed: %w", err), w.at.attrs()...)
	}
}

// announce calls the event of a write once the write is certain.
func (w *writer) announce(event func()) {
	if w.inTx {
		w.waiting = append(w.waiting, event)
		return
	}
	event()
}

// settle finds out whose user the identity is, and writes what follows from it.
func (w *writer) settle(ctx context.Context, id *identity, here visitor) (who member, err error) {
	var rule linkRule
	err = w.atomically(ctx, func(ctx context.Context) error {
		id.account.UserID = w.owner // a store may begin once more, and so may a sign-in
		facts, known, err := w.facts(ctx, id, here)
		if err != nil {
			return err
		}
		if rule = facts.rule(); rule == ruleRefuse {
			return facts.refusal(id)
		}
		who, err = w.apply(ctx, rule, id, here, known)
		if err == nil && id.passkey != nil {
			err = w.attachPasskey(ctx, id, who)
		}
		return err
	})
	switch {
	case err != nil:
		return who, err
	case rule == ruleProve || rule == ruleProveAlone:
		return w.afterProof(ctx, id, here, who.user)
	case rule == ruleLinkHere:
		return who, w.afterLinking(ctx, id, here)
	}
	return who, nil
}

// apply does what a rule other than ruleRefuse says.
func (w *writer) apply(ctx context.Context, rule linkRule, id *identity, here visitor, known *User) (who member, err error) {
	switch rule {
	case ruleGoOn, ruleLetIn:
		if err = w.refreshAccount(ctx, id, known); err != nil {
			return who, err
		}
		if rule == ruleGoOn {
			return member{user: here.user, session: here.session, keeps: true}, nil
		}
		who.user = known
	case ruleLinkHere:
		who = member{user: here.user, session: here.session, keeps: true}
		return who, w.attach(ctx, id, who.user, true)
	case ruleWelcome, ruleMove:
		return w.newcomer(ctx, id, known)
	case ruleProve, ruleProveAlone:
		who.user, err = w.prove(ctx, id, here, known, rule == ruleProveAlone)
		return who, err
	default: // ruleEnter
		if who.user, err = w.enter(ctx, id, here, known); err != nil {
			return who, err
		}
	}
	who.session, err = w.createSession(ctx, who.user)
	return who, err
}

// enter lets the visitor in as the user who has the address.
func (w *writer) enter(ctx context.Context, id *identity, here visitor, known *User) (*User, error) {
	switch {
	case id.account.Type != TypeEmail:
		return known, w.attach(ctx, id, known, false)
	case w.proved:
		return known, nil
	}
	return w.prove(ctx, id, here, known, false)
}

// newcomer makes a new user. Where known is not nil, its address goes to the new user, who has proved it.
func (w *writer) newcomer(ctx context.Context, id *identity, known *User) (who member, err error) {
	if known != nil {
		if err := w.giveUpAddress(ctx, known); err != nil {
			return who, err
		}
	}
	fresh, err := w.fresh(id, known != nil)
	if err != nil {
		return who, err
	}
	if who.user, err = present(w.tx.CreateUser(ctx, fresh)); err != nil {
		w.contested = errors.Is(err, ErrConflict)
		return who, err
	}
	w.made, who.created = who.user, true
	if known != nil && id.account.UserID == known.ID { // callbacks and events hear of the account's owner
		id.account.UserID = who.user.ID
	}
	w.announce(func() { w.events.createdUser(ctx, w.at, who.user) })
	if id.account.Type != TypeEmail {
		if err = w.attach(ctx, id, who.user, false); err != nil {
			return who, err
		}
	}
	who.session, err = w.createSession(ctx, who.user)
	return who, err
}

// fresh is the user to be made for an identity. moved: with the address of another user.
func (w *writer) fresh(id *identity, moved bool) (*User, error) {
	u := id.user.Clone()
	if id.account.Type == TypeEmail { // the flow may have found the old user: only the address goes over
		u = &User{ID: u.ID, Email: u.Email}
	} else {
		u.Stored = id.client != nil
	}
	if moved || id.user.Stored || id.passkey != nil { // the user of that id may be another person by now
		var err error
		if u.ID, err = uuid(w.rand); err != nil {
			return nil, err
		}
	}
	if u.EmailVerified = (time.Time{}); moved || id.account.Type == TypeEmail {
		u.EmailVerified = w.now()
	}
	return u, nil
}

// createSession stores a session of the database strategy; under the jwt strategy there is nothing to store.
func (w *writer) createSession(ctx context.Context, u *User) (*StoredSession, error) {
	if w.linker.sessions.config.Strategy == StrategyJWT {
		return nil, nil
	}
	return w.linker.sessions.rows.create(ctx, w.sessions, u.ID)
}
