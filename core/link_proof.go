package core

import (
	"context"
	"errors"
	"time"
)

// prove notes that the address of a user is proved. alone: the sessions that the user had until now end.
func (w *writer) prove(ctx context.Context, id *identity, here visitor, known *User, alone bool) (*User, error) {
	if id.account.Type == TypeEmail && here.session != nil && here.user.ID != known.ID {
		if _, err := w.sessions.DeleteSession(ctx, w.linker.sessions.rows.atRest(here.token)); err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
	}
	known = known.Clone()
	known.EmailVerified = w.now()
	known, err := present(w.tx.UpdateUser(ctx, known))
	if err != nil {
		return nil, err
	}
	w.announce(func() { w.events.updatedUser(ctx, w.at, known) })
	if lister, ok := w.tx.(SessionLister); ok && alone && w.linker.sessions.config.Strategy == StrategyDatabase {
		// After the proof is written, so that sessions which begin in between end too.
		_, err = lister.DeleteSessions(ctx, known.ID)
	}
	return known, err
}

// afterProof signs in the visitor who was the first to prove an address. It reads the accounts once more, now that
// other requests can read the proof: an account that another request linked in the meantime is in the list, and one
// that is linked from now on is taken back by afterLinking. One of the two comes second, whatever the store's
// transactions can see of each other.
func (w *writer) afterProof(ctx context.Context, id *identity, here visitor, proved *User) (who member, err error) {
	found, err := w.waysInto(ctx, w.store.Store, proved)
	if err != nil {
		return who, err
	}
	rule := ruleEnter
	if found == otherWays {
		rule = ruleMove
	}
	w.proved = true
	err = w.atomically(ctx, func(ctx context.Context) (err error) {
		who, err = w.apply(ctx, rule, id, here, proved)
		return err
	})
	return who, err
}

// afterLinking takes back an account that was linked to a user while another visitor proved the user's address. See
// afterProof.
func (w *writer) afterLinking(ctx context.Context, id *identity, here visitor) error {
	accounts := w.store.accounts
	if accounts == nil || !here.user.EmailVerified.IsZero() {
		return nil
	}
	user, err := guarded("Store.User", func() (*User, error) { return present(w.store.User(ctx, here.user.ID)) })
	if err == nil && user.EmailVerified.IsZero() {
		return nil
	}
	undo := guard("Store.UnlinkAccount", func() error {
		return accounts.UnlinkAccount(context.WithoutCancel(ctx), id.account.Provider, id.account.ProviderAccountID)
	})
	if err = errors.Join(err, undo); err != nil {
		return err
	}
	return linkFacts{comes: byNewAccount, presence: hereOutdated}.refusal(id)
}

// giveUpAddress takes the address from a user who never proved it.
func (w *writer) giveUpAddress(ctx context.Context, known *User) error {
	left := known.Clone()
	left.Email, left.EmailVerified, left.Null = "", time.Time{}, left.Null|NullEmail
	left, err := present(w.tx.UpdateUser(ctx, left))
	if err != nil {
		return err
	}
	w.announce(func() { w.events.updatedUser(ctx, w.at, left) })
	return nil
}
