package core

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/store"
)

// listedSession is a session in a list; kept is its token as the store has it, empty under the jwt strategy.
type listedSession struct {
	SessionInfo
	kept string
}

// canEnd reports whether sessions can be listed and ended before they expire.
func (s *sessions) canEnd() bool {
	if s.config.Strategy == StrategyDatabase {
		return s.lister != nil
	}
	return s.ended != nil
}

// list lists the sessions of a user, those used last first. method is the one that the application has called.
func (s *sessions) list(ctx context.Context, method, userID string) ([]listedSession, error) {
	var list []listedSession
	var err error
	switch {
	case s.config.Strategy == StrategyDatabase && s.lister == nil:
		return nil, errorf(ErrMissingStoreMethods, "%s needs a Store that is a store.SessionLister too "+
			"(package core/store)", method)
	case s.config.Strategy == StrategyDatabase:
		list, err = s.listStored(ctx, userID)
	case s.ended == nil:
		return nil, errorf(ErrInvalidConfig, "%s: Session.Strategy keeps sessions in cookies, which can be listed and "+
			"ended where Session.Revocation is on: switch it on, or use StrategyDatabase", method)
	default:
		list, err = s.listJWT(ctx, userID)
	}
	if err != nil {
		return nil, errorf(ErrStore, "%s: %w", method, err)
	}
	slices.SortStableFunc(list, func(a, b listedSession) int {
		return cmp.Or(b.Seen.Compare(a.Seen), b.Expires.Compare(a.Expires))
	})
	return list, nil
}

func (s *sessions) listStored(ctx context.Context, userID string) (list []listedSession, err error) {
	rows, err := guarded("Store.Sessions", func() ([]*store.Session, error) { return s.lister.Sessions(ctx, userID) })
	if err != nil {
		return nil, err
	}
	notes, err := s.records.ofUser(ctx, userID)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Expires.Before(s.now()) {
			continue
		}
		info := SessionInfo{ID: publicID(string(row.Token))}
		if note, there := notes[info.ID]; there {
			info = note.info(info.ID)
		} else {
			_, info.Methods = factsIn(string(row.Token)) // found if the token is stored unhashed
			info.Made = startIn(string(row.Token))
		}
		info.Expires = row.Expires
		list = append(list, listedSession{info, string(row.Token)})
	}
	return list, nil
}

// listJWT lists the sessions of which there is a record. One that has ended is none, though its record may be left.
func (s *sessions) listJWT(ctx context.Context, userID string) (list []listedSession, err error) {
	if err := s.ended.follow(ctx); err != nil {
		return nil, err
	}
	notes, err := s.records.ofUser(ctx, userID)
	for id, note := range notes {
		key, ok := idOf(id)
		info := note.info(id)
		if ok && !info.Expires.Before(s.now()) && !s.ended.hasEnded(userID, key, note.Epoch) {
			list = append(list, listedSession{SessionInfo: info})
		}
	}
	return list, err
}

// endAllStored ends all sessions of a user under the database strategy, one that begins at this moment included.
func (s *sessions) endAllStored(ctx context.Context, userID string) (ended int, err error) {
	s.exchanges.erase("", userID)
	ended, err = guarded("Store.DeleteSessions", func() (int, error) { return s.lister.DeleteSessions(ctx, userID) })
	if err == nil {
		err = s.records.removeAll(ctx, userID, "")
	}
	if err != nil {
		return ended, errorf(ErrStore, "EndSessions: %w", err)
	}
	return ended, nil
}

// endStored ends sessions of the database strategy, and returns those that were still in the store.
func (s *sessions) endStored(ctx context.Context, list []listedSession) (ended []listedSession, err error) {
	for _, session := range list {
		_, err := guarded("Store.DeleteSession", func() (*store.Session, error) {
			return s.rows.store.DeleteSession(ctx, session.kept)
		})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return ended, errorf(ErrStore, "EndSessions: %w", err)
		}
		if err == nil {
			ended = append(ended, session)
		}
		s.records.remove(ctx, session.ID)
	}
	return ended, nil
}

// endOne ends a session of the jwt strategy, and returns whose it was, as far as that is known.
func (s *sessions) endOne(ctx context.Context, id string) (userID string, err error) {
	key, ok := idOf(id)
	if !ok {
		return "", nil
	}
	userID = s.records.remove(ctx, id)
	s.exchanges.erase("", userID)
	return userID, s.ended.endSession(ctx, key)
}

// endUser ends all sessions of a user under the jwt strategy, but for one where except is not empty.
func (s *sessions) endUser(ctx context.Context, userID, except string) error {
	if userID == "" {
		return nil
	}
	s.exchanges.erase("", userID)
	key, _ := idOf(except)
	if err := s.ended.endUser(ctx, userID, key); err != nil {
		return err
	}
	return s.records.removeAll(ctx, userID, except)
}
