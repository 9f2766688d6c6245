package core

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/internal/random"
	"github.com/latchkey-go/latchkey/core/store"
)

// endOldest ends the sessions that a user has beyond Session.MaxPerUser, but for the newest: those that end first. A
// store that fails is logged, and the next sign-in tries again.
func (l *linker) endOldest(ctx context.Context, v *arrival, newest *store.Session) {
	most := l.sessions.config.MaxPerUser
	if most == 0 || l.sessions.config.Strategy == StrategyJWT {
		return
	}
	err := guard("Store.Sessions", func() error {
		list, err := l.store.lister.Sessions(ctx, newest.UserID)
		if err != nil {
			return err
		}
		kept := Secret(l.sessions.rows.atRest(string(newest.Token)))
		list = slices.DeleteFunc(list, func(s *store.Session) bool { return random.Same(s.Token, kept) })
		slices.SortStableFunc(list, func(a, b *store.Session) int { return a.Expires.Compare(b.Expires) })
		for _, s := range list[:max(0, len(list)+1-most)] {
			if _, err := l.store.sessions.DeleteSession(ctx, string(s.Token)); err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			l.sessions.records.remove(ctx, publicID(string(s.Token)))
			v.decidedOf(ctx, AuditSessionEnded, ReasonTooMany, newest.UserID, publicID(string(s.Token)))
		}
		return nil
	})
	if err != nil {
		v.log.failure(ctx, errorf(ErrStore, "end the sessions beyond Session.MaxPerUser: %w", err), v.attrs()...)
	}
}
