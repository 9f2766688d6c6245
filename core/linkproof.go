package core

import (
	"context"
	"errors"
)

// prove notes that the address of a user is proved. alone: whoever has been signed in as that user is not any more.
func (w *writer) prove(ctx context.Context, id *identity, now visitor, known *User, alone bool) (*User, error) {
	if id.account.Type == TypeEmail && now.session != nil && now.user.ID != known.ID {
		if _, err := w.sessions.DeleteSession(ctx, w.atRest(now.token)); err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
	}
	known = known.Clone()
	known.EmailVerified = w.now()
	known, err := present(w.store.UpdateUser(ctx, known))
	if err != nil {
		return nil, err
	}
	w.announce(func() { w.updatedUser(ctx, known) })
	if lister, ok := w.store.(SessionLister); ok && alone && w.session.Strategy == StrategyDatabase {
		// After the proof is written: what somebody starts until here ends here.
		_, err = lister.DeleteSessions(ctx, known.ID)
	}
	return known, err
}

// afterProof signs the visitor in who was the first to prove an address. It looks at the accounts once more, now that the proof is
// there for all to see: an account that somebody linked in the meantime is in the list, and one that somebody links from now on is
// taken back by afterLinking. One of the two comes second, whatever the store's transactions can see of each other.
func (w *writer) afterProof(ctx context.Context, id *identity, now visitor, proved *User) (who member, err error) {
	found, err := w.waysInto(ctx, w.exchange.store.Store, proved)
	if err != nil {
		return who, err
	}
	rule := ruleEnter
	if found == otherWays {
		rule = ruleMove
	}
	w.proved = true
	err = w.atomically(ctx, func(ctx context.Context) (err error) {
		who, err = w.apply(ctx, rule, id, now, proved)
		return err
	})
	return who, err
}

// afterLinking takes back an account that was linked to a user whose address somebody proved at the same time. See afterProof.
func (w *writer) afterLinking(ctx context.Context, id *identity, now visitor) error {
	accounts := w.exchange.store.accounts
	if accounts == nil || !now.user.EmailVerified.IsZero() {
		return nil
	}
	user, err := guarded("Store.User", func() (*User, error) { return present(w.exchange.store.User(ctx, now.user.ID)) })
	if err == nil && user.EmailVerified.IsZero() {
		return nil
	}
	_, undo := guarded("Store.UnlinkAccount", func() (struct{}, error) {
		return struct{}{}, accounts.UnlinkAccount(context.WithoutCancel(ctx), id.account.Provider, id.account.ProviderAccountID)
	})
	if err = errors.Join(err, undo); err != nil {
		return err
	}
	return linkFacts{comes: byNewAccount, presence: hereOutdated}.refusal(id)
}
